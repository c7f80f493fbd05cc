"""Candidates that share a process (protocol "staged") on a machine without a GPU: what one leaves behind changes no verdict of the next.

    python tests/compile_only/shared_test.py --davinci build/dev/apps/davinci/davinci

Exit status 77 (skipped) where there is a GPU or no Triton.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RIGHT = (HERE / "candidates" / "triton_right.py").read_text()
CALL = "        return out"


def variant(number, body=CALL, top=""):
    """The right kernel with another line behind its call, or at its end. Numbered names keep texts apart."""
    assert RIGHT.count(CALL) == 1
    return RIGHT.replace(CALL, body) + f"\n\nNUMBER = {number}\n{top}"


# In this order, one after the other: name, text, correct, does it come to a process that has served others?
CASES = [
    ("first", variant(1), True, False),
    ("second", variant(2), True, True),
    ("unwritten", variant(3, "        return torch.empty_like(x)"), False, True),
    ("wrong", variant(4, "        return out + 1"), False, True),
    ("after_wrong", variant(5), True, True),
    # Passes the look at the text, not the look at the process.
    ("replaces", variant(6, top="for torch.relu in [torch.abs]:\n    pass\n"), True, False),
    ("after_replaces", variant(7), True, False),
    ("raises", variant(8, "        raise ValueError('no')"), None, False),
    ("after_raises", variant(9), True, False),
    ("reaches_out", variant(10, top="import os\n"), True, None),
    ("after_reaches_out", variant(11), True, True),
    ("repeats", variant(11) + "# another comment\n", True, True),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="davinci-shared") as folder:
        folder = pathlib.Path(folder)
        jobs, out = folder / "jobs.jsonl", folder / "out.jsonl"
        for name, text, *_ in CASES:
            (folder / f"{name}.py").write_text(text)
        jobs.write_text("".join(json.dumps({"id": name, "reference": str(HERE / "task.py"), "candidate": str(folder / f"{name}.py")}) + "\n"
                                for name, *_ in CASES))
        done = subprocess.run([options.davinci, "judge", "--batch", str(jobs), "--out", str(out), "-t", "cuda", "-p", "staged", "-j", "1"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        documents = {d["id"]: d for d in map(json.loads, out.read_text().splitlines())} if out.exists() else {}
    if documents and not any("no_device" in d["provenance"] for d in documents.values()):
        print("skipped: this machine has a GPU")
        return 77
    if not documents:
        print("no verdict: " + done.stderr[-500:])
        return 1
    if "triton" not in str(documents["first"]["provenance"].get("language")) or documents["first"]["provenance"].get("triton") is None:
        print("skipped: no Triton")
        return 77
    faults = 0
    for name, _, correct, served in CASES:
        document = documents[name]
        process, why = document["provenance"].get("process"), ""
        if document["correct"] is not correct:
            why = f"correct is {document['correct']}, expected {correct}: {document['message'][:200]}"
        elif (process is None) != (served is None):
            why = f"provenance.process is {process}"
        elif process is not None and "again" not in process and (process["served"] > 0) != served:
            why = f"its process had served {process['served']}"
        faults += bool(why)
        print(f"{'NOT OK' if why else 'ok':7} {name}: {document['status']} {process} {why}")
    repeated = documents["repeats"]["job"].get("same_as")
    if repeated != "after_reaches_out":
        faults += 1
        print(f"NOT OK  repeats: judged by itself ({repeated}), though only a comment differs")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
