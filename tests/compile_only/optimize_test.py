"""``davinci optimize --target cuda`` on a machine without a GPU: nothing is certified, nothing is exported. The recorded example.

    python tests/compile_only/optimize_test.py --davinci build/dev/apps/davinci/davinci

Exit status 77 (skipped) where there is a GPU.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    options = parser.parse_args()
    if list(pathlib.Path("/dev").glob("nvidia[0-9]*")):
        print("skipped: this machine has a GPU")
        return 77
    examples = ROOT / "examples"
    with tempfile.TemporaryDirectory(prefix="davinci-compile-only") as folder:
        done = subprocess.run(
            [str(pathlib.Path(options.davinci).resolve()), "optimize", str(examples / "gated_gelu.py"), "-t", "cuda", "--recipe", str(examples / "recorded.toml"),
             "--llm", f"recorded:{examples / 'replies_cuda.jsonl'}", "--json"], cwd=folder, capture_output=True, text=True, errors="replace")
        exported = [str(path) for path in pathlib.Path(folder).rglob("*.py")]
    try:
        task = json.loads(done.stdout)["tasks"][0]
    except (ValueError, KeyError, IndexError):
        print(f"no result: {done.stderr[-2000:]}")
        return 1
    problems = [text for text, wrong in (
        (f"exit status {done.returncode}, expected 1", done.returncode != 1), (f"exported: {exported}", exported),
        (f"a winner: {task['winner']}", task["winner"]),
        (f"the remark does not say why: {task['remark']}", "nothing can be certified or exported here" not in task["remark"])) if wrong]
    print("\n".join(problems) or "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
