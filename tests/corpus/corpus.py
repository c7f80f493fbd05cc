"""The measure of the judge: every attack, twin and honest kernel, and PyTorch itself, judged on this machine and written to one table.

    python tests/corpus/corpus.py run --davinci BIN [--target cpu] --out table.json [--fast] [--only GROUP,…] [--match REGEX] [--seeds N] [-j N]
    python tests/corpus/corpus.py compare BEFORE.json AFTER.json [--part] [--noisy]
    python tests/corpus/corpus.py golden TABLE.json [TABLE.json…] --out golden_cpu.json

Groups: attacks, controls, twins, honest, self (each task of tasks/ against its own text), relatives (the same in PyTorch's other forms,
relatives.py) and modules (modules.py against themselves and their relatives, --seeds judgements each). A row is what the judge should have
said, what it said, and its numbers. ``run`` keeps what is in --out already, so a run that was ended goes on; it ends with status 1 when a
row is not as it should be. ``--record DIR`` also records every trial (tests/transcripts).

``compare`` ends with status 1 when a row vanished (with --part, AFTER is a cross-section), when status, rule or labels differ, when a speedup's
intervals or the ranges of the calls' times do not meet, or when an honest row's error grew. Labels of the clock count, too, unless the
machine is --noisy. A --noisy machine may also refuse an attack for another reason: which rule sees it first depends on threads and
clocks. ``golden`` keeps of tables what does not depend on a quiet machine: every status, rule and label that was seen.
"""
import argparse
import json
import math
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
# A cross-section of every group, judged by CTest: below a minute on two cores. The attacks are others than those of red_team_cpu.
FAST = {"attacks": r"^(A06|B28|C20|D09|E06|F13)$", "controls": "^$", "twins": r"^long_sum/", "honest": r"^small_k$", "self": r"scan/cumprod",
        "relatives": r"^scan/cumsum_rows/order$", "modules": r"^modules/(cumprod_columns|attention_sdpa|conv_depthwise)/(same|order)/"}
NUMBERS = {"<low>", "<high>", "<ratio>", "<time>", "<median>", "<mean>", "<count>"}  # values of labels (docs/labels.md)
MUCH_WORSE_ERROR = 4.0  # times as large, and above a quarter of the tolerance: no accident of the seeds


def at(document, path):
    """What a document has at "a.b.c", None where it has nothing."""
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document


# Column of a row: where documents have it (docs/evaluation.schema.json). A clock has times of calls and a speedup.
CLOCKS = {"candidate": ("times.candidate", "speedup"), "device": ("device.candidate", "device.speedup"), "latency": ("latency.candidate", "latency.speedup")}
CALLS = ("min_ms", "median_ms", "max_ms")
INTERVAL = ("decided_low", "median", "decided_high")


def numbers(document):
    """Of an evaluation, what a row shows of it."""
    ratios = [check.get("error_over_tolerance", 0) for check in at(document, "evidence.checks") or ()]
    row = {"status": document.get("status", "no_verdict"), "rule": at(document, "evidence.rule"), "labels": document.get("labels", []),
           "message": " ".join(str(document.get("message", "")).split())[:400], "worst_error_over_tolerance": max(ratios, default=None),
           "speedup": red_team.speedup(document), "significant": at(document, "speedup.significant")}
    for clock, (times, speedup) in CLOCKS.items():
        row[clock + "_ms"] = [at(document, f"{times}.{key}") for key in CALLS] if at(document, times) else None
        row[clock + "_speedup"] = [at(document, f"{speedup}.{key}") for key in INTERVAL] if at(document, speedup) else None
    return row


def label_kinds():
    """Of every label of docs/labels.md: its name there, a pattern of what is set, whether that holds numbers, and whether a clock sets it."""
    kinds, text = [], (ROOT / "docs/labels.md").read_text()
    for name, source in re.findall(r"^\| `([^`]+)` \|.*\| ([^|]*) \|$", text.split("\n## ")[0], re.M):
        parts = re.split(r"(<[^>]+>)", name)
        pattern = "".join(r"[-+.e\d]+" if part in NUMBERS else ".+" if part.startswith("<") else re.escape(part) for part in parts)
        kinds.append((name, re.compile(pattern), bool(NUMBERS & set(parts)), source in ("clock", "driver")))
    return kinds


def labels_of(row, kinds, steady_only):
    """Labels of a row, numbers in them left out; without those that depend on how quiet the machine is."""
    found = set()
    for label in row.get("labels", ()):
        known = next((kind for kind in kinds if kind[1].fullmatch(label)), (label, None, False, False))
        if not (steady_only and known[3]):
            found.add(known[0] if known[2] else label)
    return found


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

                def one(item, honest=group == "twins", document=None):
                    key, case, candidate = item
                    started = time.monotonic()
                    document, why, _ = red_team.judged(options.davinci, case, candidate, options.timeout, honest, options.record, document=document)
                    table.add(key, {**numbers(document), "objection": why, "seconds": time.monotonic() - started})

                if options.fast:
                    pairs = [(case, candidate) for _, case, candidate in work]
                    for i, document, _ in red_team.verdicts(options.davinci, pairs, "davinci", options.jobs, options.timeout, options.record):
                        one(work[i], document=document)
                    continue
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
    differ = compare(argparse.Namespace(before=options.golden, after=options.out, part=True, noisy=True)) if options.golden else 0
    return 1 if bad or missing or differ else 0


def judge_batch(options, jobs, table, folder):
    """All in one judge: sessions, sandboxes and compiled kernels serve many."""
    if not jobs:
        return
    lines = folder / "jobs.jsonl"
    lines.write_text("".join(json.dumps(job) + "\n" for job, _ in jobs.values()))
    command = [options.davinci, "judge", "--batch", str(lines), "-j", str(options.jobs), "--json"] + (["--record", options.record] if options.record else [])
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


def as_list(value):
    return value if isinstance(value, list) else [value]


def meet(before, after):
    """Whether two intervals, [low, middle, high], have a point in common; an open end is unbounded."""
    if not before or not after:
        return True
    low, high = (max(x or 0 for x in (before[0], after[0])), min(math.inf if x is None else x for x in (before[2], after[2])))
    return low <= high


def verdict_differences(before, after, kinds, noisy, attack=False):
    """What differs between two rows in status, rule and labels. A golden row has lists of what was seen, and labels that came at times."""
    found = []
    if noisy and attack and after["status"] != "ok" and after["status"] not in as_list(before["status"]):
        return found
    for key in ("status", "rule"):
        if key in before and after.get(key) not in as_list(before[key]):
            found.append(f"{key} {'/'.join(map(str, as_list(before[key])))} -> {after.get(key)}")
    steady_only = noisy or "labels_at_times" in before
    old, new, at_times = labels_of(before, kinds, steady_only), labels_of(after, kinds, steady_only), set(before.get("labels_at_times", ()))
    found += [f"label gone: {label}" for label in sorted(old - new)] + [f"new label: {label}" for label in sorted(new - old - at_times)]
    return found


def time_differences(before, after):
    found = []
    for clock in CLOCKS:
        for what, unit in (("ms", " ms"), ("speedup", "x")):
            old, new = before.get(f"{clock}_{what}"), after.get(f"{clock}_{what}")
            if not meet(old, new):
                found.append(f"{clock} {old[1]:.4g}{unit} [{old[0]:.4g}, {old[2]:.4g}] -> {new[1]:.4g}{unit} [{new[0]:.4g}, {new[2]:.4g}]")
            if old and not new and what == "ms" and clock != "candidate":
                found.append(f"{clock}: no time any more")
    return found


def compare(options):
    before, after = (json.loads(pathlib.Path(path).read_text())["rows"] for path in (options.before, options.after))
    kinds, worse, better = label_kinds(), [], []
    for key in sorted(before.keys() & after.keys()):
        a, b = before[key], after[key]
        objection = b.get("objection", "")
        attack = key.split("/")[0] in ("attacks", "controls")
        differences = verdict_differences(a, b, kinds, options.noisy, attack) + ([] if options.noisy else time_differences(a, b))
        old, new = a.get("worst_error_over_tolerance"), b.get("worst_error_over_tolerance")
        if not attack and old is not None and new is not None and new > max(0.25, MUCH_WORSE_ERROR * old):
            differences.append(f"worst error over tolerance {old:.3g} -> {new:.3g}")
        if a.get("objection") and not objection:
            better.append(f"{key}: {a['objection']}; now {b['status']}")
        elif differences or objection and not a.get("objection"):
            worse.append(f"{key}: {'; '.join(differences + [objection] * bool(objection))}; {b.get('message', '')[:200]}")
    vanished = [] if options.part else sorted(before.keys() - after.keys())
    for title, found in (("differ", worse), ("vanished", vanished), ("got better", better), ("are new", sorted(after.keys() - before.keys()))):
        print(f"{len(found)} {title}")
        for line in found:
            print("  " + line)
    for group in GROUPS:
        rows = [[row for key, row in table.items() if key.startswith(group + "/")] for table in (before, after)]
        if rows[0] or rows[1]:
            print(f"{group:10} " + " -> ".join(
                f"{len(some)} rows, {sum(bool(r.get('objection')) for r in some)} not as they should be, {sum(r.get('seconds', 0) for r in some):.0f} s"
                for some in rows))
    return 1 if worse or vanished else 0


def golden(options):
    """The table of what must stay: rows that were as they should be."""
    tables, kinds, rows = [json.loads(pathlib.Path(path).read_text())["rows"] for path in options.tables], label_kinds(), {}
    for key in sorted(set().union(*tables)):
        seen = [table[key] for table in tables if key in table and not table[key].get("objection")]
        if not seen:
            print(f"left out, not as it should be: {key}")
            continue
        labels = [labels_of(row, kinds, True) for row in seen]
        always = set.intersection(*labels)
        statuses = {row["status"] for row in seen}
        if "nondeterministic" in statuses:  # a mismatch that was another one the next time: which of both is left to chance
            statuses.add("mismatch")
        rows[key] = {"status": sorted(statuses), "rule": sorted({row.get("rule") for row in seen}, key=str),
                     "labels": sorted(always), "labels_at_times": sorted(set.union(*labels) - always)}
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(row)}" for key, row in rows.items())
    pathlib.Path(options.out).write_text('{"rows": {\n' + lines + "\n}}\n")
    print(f"{len(rows)} rows in {options.out}")
    return 0


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
    judge.add_argument("--record", help="folder for a record of each trial")
    judge.add_argument("--golden", help="a golden table to compare with afterwards, of which this run is a part")
    other = commands.add_parser("compare")
    other.add_argument("before")
    other.add_argument("after")
    other.add_argument("--part", action="store_true", help="AFTER is a cross-section: rows may be missing")
    other.add_argument("--noisy", action="store_true",
                       help="another or a busy machine: times, labels of the clock and the reason why an attack is refused may differ")
    keep = commands.add_parser("golden")
    keep.add_argument("tables", nargs="+")
    keep.add_argument("--out", required=True)
    options = parser.parse_args()
    return {"run": run, "compare": compare, "golden": golden}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
