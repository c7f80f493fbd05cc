"""The measure of the judge: every attack, twin and honest kernel, and PyTorch itself, judged on this machine and written to one table.

    python tests/corpus/corpus.py run --davinci BIN [--target cpu] --out table.json [--fast] [--only GROUP,…] [--match REGEX] [--seeds N] [-j N]
    python tests/corpus/corpus.py compare BEFORE.json AFTER.json

Groups: attacks, controls, twins, honest, self (each task of tasks/ against its own text), relatives (the same in PyTorch's other forms,
relatives.py) and modules (modules.py against themselves and their relatives, --seeds judgements each). A row is what the judge should have
said, what it said, and its numbers. ``run`` keeps what is in --out already, so a run that was ended goes on; it ends with status 1 when a
row is not as it should be. ``compare`` lists what got worse on either side and ends with status 1 when anything did.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPLOITS = ROOT / "tests/exploits"
sys.path[:0] = [str(HERE), str(EXPLOITS)]

import laws  # noqa: E402
import red_team  # noqa: E402
import relatives  # noqa: E402

GROUPS = ("attacks", "controls", "twins", "honest", "self", "relatives", "modules")
# A cross-section of every group, judged by CTest: below a minute on two cores.
FAST = {"attacks": r"^(B01|E03)$", "controls": "", "twins": r"^long_sum/", "honest": r"^small_k$", "self": r"scan/cumprod", "relatives": r"^$",
        "modules": r"^modules/(cumprod_columns|attention_sdpa|conv_depthwise)/(same|order|library)/"}
MUCH_WORSE_ERROR = 4.0  # times as large, and above a quarter of the tolerance: no accident of the seeds


def numbers(document):
    """Of an evaluation, what a row shows of it."""
    checks = document.get("evidence", {}).get("checks", ())
    times = document.get("times", {})
    device = document.get("provenance", {}).get("device") or {}
    latency = times.get("latency") or {}
    candidate = times.get("candidate") or {}
    ratios = [check.get("error_over_tolerance", 0) for check in checks]
    return {"status": document.get("status", "no_verdict"), "labels": document.get("labels", []), "message": " ".join(str(document.get("message", "")).split())[:400],
            "worst_error_over_tolerance": max(ratios, default=None), "candidate_ms": candidate.get("median_ms"),
            "device_ms": device.get("busy_ms"), "latency_ms": (latency.get("candidate") or {}).get("median_ms"),
            "speedup": red_team.speedup(document), "significant": (document.get("speedup") or {}).get("significant")}


class Table:
    """Rows by their key, written after each, renamed into place."""

    def __init__(self, path):
        self._path = pathlib.Path(path)
        self._lock = threading.Lock()
        self.rows = json.loads(self._path.read_text())["rows"] if self._path.exists() else {}

    def add(self, key, row):
        with self._lock:
            self.rows[key] = row
            temporary = self._path.with_suffix(".tmp")
            temporary.write_text(json.dumps({"rows": self.rows}, indent=1, sort_keys=True) + "\n")
            os.replace(temporary, self._path)
            ratio, worst = row["speedup"], row["worst_error_over_tolerance"]
            print(f"{key:52} {row['status']:17} {'' if ratio is None else f'{ratio:.2f}':>7} {'' if worst is None else f'{worst:.2g}':>8} {row['seconds']:6.1f}  "
                  f"{'ok' if not row['objection'] else 'NOT OK ' + row['objection'] + '; ' + row['message'][:300]}", flush=True)


def red_team_work(target, group):
    """(key, case, candidate) of the exploits folder."""
    pattern = "_controls/*/case.toml" if group == "controls" else "[A-F][0-9]*/case.toml"
    seen = set()
    for path in sorted(EXPLOITS.glob(pattern)):
        case, folder = tomllib.loads(path.read_text()), path.parent
        if case["target"] != target:
            continue
        candidate = folder / {"controls": "candidate.py", "attacks": "exploit.py"}.get(group, "")
        if group == "twins":
            candidate = (folder / case.get("honest", "honest.py")).resolve()
            if (candidate, case["task"]) in seen:
                continue
            seen.add((candidate, case["task"]))
        name = case["id"] if group != "twins" else f"{candidate.parent.name}/{candidate.stem}" if candidate.name == "honest.py" else candidate.stem
        yield f"{group}/{name}/{pathlib.Path(case['task']).stem}" if group == "twins" else f"{group}/{name}", case, candidate


def benign_work(target, group, seeds, folder):
    """(key, the task's file, the candidate's) of what must be ok; files that do not exist are written to ``folder``."""
    if group == "honest":
        for row in tomllib.loads((ROOT / "tests/honest/manifest.toml").read_text())["kernel"]:
            if row["target"] == target:
                yield f"honest/{row['name']}", ROOT / "tasks" / (row["task"] + ".py"), ROOT / "tests/honest" / row["file"], row.get("labels_expected", [])
        return
    for name, (text, config, sizes) in laws.cases(target, "", group != "modules", group == "modules").items():
        task = ROOT / "tasks" / (name + ".py")
        if group == "modules":
            module = laws.modules.MODULES[name.removeprefix("modules/")]
            task = folder / (module.name + ".py")
            task.write_text(text)
            task.with_suffix(".toml").write_text(module.sidecar())
        kinds = relatives.kinds(text, target, compiled=target == "cuda")
        for kind in kinds if group == "modules" else ["same"] if group == "self" else kinds[1:]:
            for seed in range(seeds if group == "modules" else 1):
                candidate = folder / f"{name.replace('/', '.')}.{kind}.{seed}.py"
                candidate.write_text(relatives.text_of(text, config, sizes, kind) + f"\n# judgement {seed}\n")
                yield f"{group}/{name.removeprefix('modules/')}" + (f"/{kind}" if group != "self" else "") + (f"/{seed}" if group == "modules" else ""), task, candidate, []


def wanted(key, group, options):
    of_group = re.search(FAST[group], key.removeprefix(group + "/") if group != "modules" else key) if options.fast else True
    return bool(of_group) and re.search(options.match, key)


def run(options):
    if options.fresh:
        pathlib.Path(options.out).unlink(missing_ok=True)
    table, groups, begun = Table(options.out), options.only.split(",") if options.only else GROUPS, time.monotonic()
    for group in groups:
        if group not in GROUPS:
            sys.exit(f"unknown group {group}; known: {', '.join(GROUPS)}")
    keys = []
    with tempfile.TemporaryDirectory() as folder:
        jobs = {}
        for group in groups:
            if group in ("attacks", "controls", "twins"):
                work = [item for item in red_team_work(options.target, group) if wanted(item[0], group, options)]
                keys += [item[0] for item in work]
                work = [item for item in work if item[0] not in table.rows]

                def one(item, honest=group == "twins"):
                    key, case, candidate = item
                    started = time.monotonic()
                    document, why, _ = red_team.judged(options.davinci, case, candidate, options.timeout, honest)
                    table.add(key, {**numbers(document), "objection": why, "seconds": time.monotonic() - started})

                with ThreadPoolExecutor(options.jobs) as pool:  # a process each: one that harms the judge harms one row
                    list(pool.map(one, work))
                continue
            for key, task, candidate, labels in benign_work(options.target, group, 1 if options.fast else options.seeds, pathlib.Path(folder)):
                if not wanted(key, group, options):
                    continue
                keys.append(key)
                if key not in table.rows:
                    jobs[key] = ({"id": key, "reference": str(task), "candidate": str(candidate), "target": options.target, "protocol": options.protocol}, labels)
        judge_batch(options, jobs, table, pathlib.Path(folder))
    missing = [key for key in keys if key not in table.rows]
    bad = [key for key in keys if key in table.rows and table.rows[key]["objection"]]
    print(f"{len(keys)} rows, {len(bad)} not as they should be, {len(missing)} not judged; {time.monotonic() - begun:.0f} s")
    for key in bad:
        print(f"  {key}: {table.rows[key]['objection']}; {table.rows[key]['message'][:300]}")
    return 1 if bad or missing else 0


def judge_batch(options, jobs, table, folder):
    """All in one judge: sessions, sandboxes and compiled kernels serve many."""
    if not jobs:
        return
    lines = folder / "jobs.jsonl"
    lines.write_text("".join(json.dumps(job) + "\n" for job, _ in jobs.values()))
    command = [options.davinci, "judge", "--batch", str(lines), "-j", str(options.jobs), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        watch = threading.Timer(options.budget, process.terminate)
        watch.start()
        try:
            for line in process.stdout:
                document = json.loads(line) if line.startswith("{") else {}
                key = document.get("id") or document.get("job", {}).get("id")
                if key not in jobs or "status" not in document:
                    continue
                why = "expected ok" if document["status"] != "ok" else ""
                missing = [label for label in jobs[key][1] if not any(given.startswith(label) for given in document.get("labels", ()))]
                if not why and missing:
                    why = f"label missing: {', '.join(missing)}"
                table.add(key, {**numbers(document), "objection": why, "seconds": 1e-3 * (document.get("times", {}).get("total_ms") or 0)})
        finally:
            watch.cancel()


def compare(options):
    before, after = (json.loads(pathlib.Path(path).read_text())["rows"] for path in (options.before, options.after))
    worse, better = [], []
    for key in sorted(before.keys() & after.keys()):
        a, b = before[key], after[key]
        if bool(a["objection"]) != bool(b["objection"]):
            (worse if b["objection"] else better).append(f"{key}: {a['status']} -> {b['status']}{'; ' + b['objection'] if b['objection'] else ''}; {b['message'][:200]}")
        elif a["status"] != b["status"]:
            better.append(f"{key}: {a['status']} -> {b['status']}, as right as before")
        old, new = a["worst_error_over_tolerance"], b["worst_error_over_tolerance"]
        if key.split("/")[0] not in ("attacks", "controls") and old is not None and new is not None and new > max(0.25, MUCH_WORSE_ERROR * old):
            worse.append(f"{key}: worst error over tolerance {old:.3g} -> {new:.3g}")
    for title, found in (("got worse", worse), ("got better or changed", better)):
        print(f"{len(found)} {title}")
        for line in found:
            print("  " + line)
    for title, keys in (("only before", before.keys() - after.keys()), ("only after", after.keys() - before.keys())):
        if keys:
            print(f"{len(keys)} {title}")
    for group in GROUPS:
        rows = [[row for key, row in table.items() if key.startswith(group + "/")] for table in (before, after)]
        if rows[0] or rows[1]:
            print(f"{group:10} " + " -> ".join(f"{len(some)} rows, {sum(bool(r['objection']) for r in some)} not as they should be, {sum(r['seconds'] for r in some):.0f} s"
                                             for some in rows))
    return 1 if worse else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    judge = commands.add_parser("run")
    judge.add_argument("--davinci", required=True)
    judge.add_argument("--target", default="cpu", choices=("cpu", "cuda"))
    judge.add_argument("--out", required=True)
    judge.add_argument("--fast", action="store_true", help="a cross-section, below a minute")
    judge.add_argument("--fresh", action="store_true", help="forget what --out holds")
    judge.add_argument("--only", help="groups, by commas")
    judge.add_argument("--match", default="", help="regular expression of rows' keys")
    judge.add_argument("--seeds", type=int, default=1, help="judgements of each module")
    judge.add_argument("--protocol", default="davinci")
    judge.add_argument("--timeout", type=float, default=180)
    judge.add_argument("--budget", type=float, default=1e6, help="seconds for what is judged in a batch; the same command goes on from there")
    judge.add_argument("-j", "--jobs", type=int, default=1)
    other = commands.add_parser("compare")
    other.add_argument("before")
    other.add_argument("after")
    options = parser.parse_args()
    return run(options) if options.command == "run" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
