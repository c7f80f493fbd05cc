"""Keeps every GPU example and attack of the repository compiling, on machines without a GPU.

    python tests/compile_only/compile_gpu.py --davinci build/dev/apps/davinci/davinci [--jobs 2] [--one-in N] [NAME...]

All tests/honest kernels and tests/exploits cases with target cuda go through ``davinci judge --batch --target cuda``. An
honest kernel must come out as "compile_only" and not as wrong; an attack has to parse, import and compile (or end
as its case.toml expects), and may then be caught. Exit status 1 otherwise; 77 (skipped) where there is a GPU or no Triton, because then other tests do this.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import tomllib
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from judge_build import fingerprint  # noqa: E402
CHECKED = "compile_only"
BROKEN = ("parse_error", "compile_error", "load_error", "launch_error", "judge_error")
# Rows that cannot be as the rule wants, and why.
KNOWN = {}


def collect():
    """[(name, kind, accepted outcomes, task, candidate)] without repetitions."""
    rows, seen = [], set()

    def add(name, kind, task, candidate, accepted=()):
        key = (task.resolve(), candidate.resolve())
        if key not in seen:
            seen.add(key)
            rows.append((name, kind, accepted, *key))

    honest = ROOT / "tests" / "honest"
    for kernel in tomllib.loads((honest / "manifest.toml").read_text())["kernel"]:
        if kernel["target"] == "cuda":
            add(pathlib.Path(kernel["file"]).stem, "honest", ROOT / "tasks" / (kernel["task"] + ".py"), honest / kernel["file"])
    exploits = ROOT / "tests" / "exploits"
    for path in sorted(exploits.glob("*/case.toml")) + sorted(exploits.glob("_controls/*/case.toml")):
        case = tomllib.loads(path.read_text())
        if case["target"] != "cuda":
            continue
        folder, task = path.parent, exploits / case["task"]
        for name in ("exploit.py", "candidate.py"):
            if (folder / name).exists():
                add(folder.name, "attack", task, folder / name, case.get("expect", ()))
        twin = folder / case.get("honest", "honest.py")
        if twin.exists():
            add("twin " + twin.stem, "honest", task, twin)
    return rows


def objection(kind, accepted, document):
    status = document.get("status")
    if kind == "attack":
        return "does not compile" if status in BROKEN and status not in accepted else ""
    if status != CHECKED:
        return "an honest kernel refused"
    return "an honest kernel called wrong" if document.get("correct") is False else ""


def summary(document):
    checked = document.get("evidence", {}).get("compile_only", {})
    blocked = checked.get("blocked") or {}
    if document.get("status") == CHECKED:
        ran = [item for item in checked.get("ran", []) if item not in ("parsed", "imported", "constructed")]
        return "; ".join(ran + ([f"{blocked.get('reason')}: {blocked.get('detail')}"] if blocked else []))
    return document.get("message", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="folder for verdicts: an unchanged judge does not repeat those of unchanged kernels")
    parser.add_argument("--one-in", type=int, default=1, help="a fixed sample, chosen by the hash of the name")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows = [row for row in collect()
            if row[0] in options.names or not options.names and zlib.crc32(row[0].encode()) % options.one_in == 0]
    started = time.monotonic()
    documents = {}
    with tempfile.TemporaryDirectory(prefix="davinci-compile-gpu") as folder:
        jobs, out = pathlib.Path(folder) / "jobs.jsonl", pathlib.Path(folder) / "verdicts.jsonl"
        if options.keep:
            pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
            out = pathlib.Path(options.keep) / f"verdicts-{fingerprint(options.davinci)[:16]}.jsonl"
        jobs.write_text("".join(json.dumps({"id": str(i), "reference": str(task), "candidate": str(candidate)}) + "\n"
                                for i, (*_, task, candidate) in enumerate(rows)))
        done = subprocess.run(
            [options.davinci, "judge", "--batch", str(jobs), "--out", str(out), "-j", str(options.jobs), "--target", "cuda",
             "--protocol", "screening", "--threads", "1", "--compile-timeout", "30"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        if out.exists():
            for line in out.read_text(errors="replace").splitlines():
                document = json.loads(line)
                documents[str(document.get("id", document.get("provenance", {}).get("id")))] = document
    if not documents:
        print(done.stderr[-2000:])
        return 1
    if not any("no_device" in d.get("provenance", {}) for d in documents.values()):
        print("this machine has a GPU; the kernels are judged on it by other tests")
        return 77
    faults = unknown = compared = 0
    print(f"{'kernel':34} {'kind':7} {'outcome':23} {'correct':8} {'':7} what was done, or why not")
    for i, (name, kind, accepted, *_) in enumerate(rows):
        document = documents.get(str(i), {"status": "no verdict", "message": done.stderr[-200:]})
        why = objection(kind, accepted, document)
        if document.get("status") == "no verdict":
            why = "no verdict"
        excuse = KNOWN.get(name) if why else None
        faults += bool(why and not excuse)
        correct = document.get("correct")
        unknown += correct is None
        compared += correct is not None
        text = " ".join(f"{excuse or why}{': ' if why else ''}{summary(document)}".split())
        print(f"{name[:34]:34} {kind:7} {document['status']:23} {'-' if correct is None else str(correct).lower():8} "
              f"{'known' if excuse else 'NOT OK' if why else 'ok':7} {text[:150]}")
    print(f"{len(rows)} kernels in {time.monotonic() - started:.0f} s: {compared} compared, {unknown} compiled or loaded only, "
          f"{faults} not as they should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
