"""The worked examples of prompts/example: every one is right by the judge, as far as this machine can tell.

    python tests/prompts/examples_test.py --davinci build/dev/apps/davinci/davinci

With a GPU all of them have to be ok. Without one the CUDA examples have to compile and the Triton example has to give
the right answer in the interpreter; a missing CUDA toolchain is said and skipped.
"""
import argparse
import glob
import json
import pathlib
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "prompts" / "example"
SIZES = "ROWS, COLS = 4096, 1024"
SMALL = "ROWS, COLS = 24, 1000"  # small enough to be interpreted, and no multiple of a block
CHECKED = "compile_only"


def problem(language, document, has_gpu):
    if document["provenance"].get("language") != language:
        return f"it is taken for {document['provenance'].get('language')}"
    if language == "cpp" or has_gpu:
        return "" if document["status"] == "ok" else "expected ok"
    if document["status"] != CHECKED:
        return f"expected {CHECKED}"
    if language == "triton" and document["correct"] is not True:
        return "its answers were not compared"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    davinci = parser.parse_args().davinci
    has_gpu = bool(glob.glob("/dev/nvidia[0-9]*"))
    failed = 0
    text = (EXAMPLES / "reference.py").read_text()
    if SIZES not in text:
        sys.exit(f"{EXAMPLES / 'reference.py'} has no line {SIZES}")
    with tempfile.TemporaryDirectory() as folder:
        reference = pathlib.Path(folder) / "reference.py"
        reference.write_text(text.replace(SIZES, SMALL))
        for language in ("triton", "cuda", "cuda-inline", "cpp"):
            done = subprocess.run(
                [davinci, "judge", "-r", str(reference), "-c", str(EXAMPLES / f"{language}.py"),
                 "-t", "cpu" if language == "cpp" else "cuda", "--protocol", "screening", "--json"],
                capture_output=True, text=True)
            if done.returncode not in (0, 1, 4):
                failed += 1
                print(f"FAILED  {language}: exit {done.returncode}: {done.stderr.strip()}")
                continue
            document = json.loads(done.stdout)
            blocked = document["evidence"].get("compile_only", {}).get("blocked") or {}
            if not has_gpu and blocked.get("reason") == "toolchain":
                print(f"skipped {language}: {blocked.get('detail')}")
                continue
            wrong = problem(language, document, has_gpu)
            failed += bool(wrong)
            print(f"{'FAILED ' if wrong else 'ok     '} {language}: {document['status']}, {document['message']}"
                  + (f": {wrong}" if wrong else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
