#!/usr/bin/env python3
"""How fast are groups of candidates judged, and do the verdicts of the cheap protocol agree with those of the full one?

    staged_rate.py --davinci build/release/apps/davinci/davinci --target cuda --out FOLDER       256 candidates of 16 tasks on one GPU
    staged_rate.py --davinci build/dev/apps/davinci/davinci --target cpu --tasks 8 --candidates 64 -j 2 --out FOLDER
    staged_rate.py … --target compile-only      Triton without a device: compiled and interpreted

A variant is NAME=PROGRAM:PROTOCOL (--variant, may be repeated); default: "screening" and "staged" of --davinci. Every round judges the same
files once under each variant, in turn, with a build cache that knows none of them. After the rounds a random share of all candidates is
judged under the full protocol, and held against the last verdicts of each variant.

FOLDER/staged_rate.json: per run seconds, candidates a minute, CPU seconds of all processes (control group where one can be made, else
nothing), milliseconds of each stage in the mean, and of a timed candidate's timing, outcomes, seconds for which the device was held, its
idle share by that and by nvidia-smi, how many verdicts were taken over; per variant the agreement. `load` is the machine's load average when a run began.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

import group_candidates

FULL = "davinci"


class Group:
    """A control group whose CPU time is read; None where the machine lets us make none."""

    def __init__(self):
        self.folder = None
        for root, self._usage in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat")):
            folder = pathlib.Path(root) / f"davinci-bench-{os.getpid()}-{time.monotonic_ns()}"
            try:
                folder.mkdir()
            except OSError:
                continue
            if (folder / self._usage).exists() and (folder / "cgroup.procs").exists():
                self.folder = folder
                return
            folder.rmdir()

    def join(self):
        if self.folder is not None:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        """CPU seconds of all that ran in it."""
        if self.folder is None:
            return None
        text = (self.folder / self._usage).read_text()
        seconds = 1e-9 * int(text) if self._usage == "cpuacct.usage" else 1e-6 * int(text.split()[1])
        for _ in range(100):
            try:
                self.folder.rmdir()
                break
            except OSError:  # a process is still ending
                time.sleep(0.05)
        return seconds


class Utilisation:
    """Mean share of samples of nvidia-smi in which the device was idle; None without one."""

    def __init__(self):
        self._busy, self._process = [], None
        if shutil.which("nvidia-smi"):
            self._process = subprocess.Popen(["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100", "-i", "0"],
                                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=lambda: self._busy.extend(int(s) for s in self._process.stdout if s.strip().isdigit()), daemon=True).start()

    def idle(self):
        if self._process is None:
            return None
        self._process.terminate()
        self._process.wait()
        return sum(b < 5 for b in self._busy) / max(len(self._busy), 1)


def judge(program, protocol, rows, options, cache, label):
    """One run of the batch: (its figures, {id: document})."""
    with tempfile.TemporaryDirectory(prefix="staged-rate") as place:
        jobs, out = pathlib.Path(place) / "jobs.jsonl", pathlib.Path(place) / "results.jsonl"
        keys = ("id", "reference", "candidate")
        jobs.write_text("".join(json.dumps({k: row[k] for k in keys}) + "\n" for row in rows))
        target = "cpu" if options.target == "cpu" else "cuda"
        command = [program, "judge", "--batch", str(jobs), "-t", target, "-p", protocol, "-j", str(options.jobs), "-o", str(out)]
        if options.target == "cuda":
            command += ["--devices", "0"]
        environment = {**os.environ, "DAVINCI_CACHE_DIR": str(cache)}
        if options.target == "compile-only":
            environment["CUDA_VISIBLE_DEVICES"] = ""
        group, utilisation, load, started = Group(), Utilisation(), os.getloadavg()[0], time.monotonic()
        done = subprocess.run(command, env=environment, preexec_fn=group.join, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        seconds = time.monotonic() - started
        idle, cpu = utilisation.idle(), group.close()
        documents = {d["id"]: d for d in map(json.loads, out.read_text().splitlines())} if out.exists() else {}
    if len(documents) < len(rows):
        raise SystemExit(f"{label}: {len(documents)} of {len(rows)} were judged:\n{done.stderr[-2000:]}")
    judged = [d for d in documents.values() if "same_as" not in d["job"]]
    times = [d["times"] for d in judged]
    stages = [t.get("stages_ms", {}) for t in times]
    timed = [t for t in times if "spent_ms" in t]
    held = 1e-3 * sum(t.get("held_device_ms", 0) for t in times)
    outcomes = {}
    for d in documents.values():
        outcomes[d["status"]] = outcomes.get(d["status"], 0) + 1
    figures = {
        "label": label, "protocol": protocol, "candidates": len(rows), "seconds": seconds, "per_minute": 60 * len(rows) / seconds,
        "cpu_seconds": cpu, "cpu_seconds_each": None if cpu is None else cpu / len(rows), "load": load, "taken_over": len(rows) - len(judged),
        "outcomes": outcomes, "stages_ms": {name: round(statistics.mean(s.get(name, 0) for s in stages), 1) for name in sorted(set().union(*stages))},
        "oracle_ms": {name: round(statistics.mean(t.get("oracle_ms", {}).get(name, 0) for t in times), 1)
                      for name in sorted(set().union(*(t.get("oracle_ms", {}) for t in times)))},
        "spent_ms": {name: round(statistics.mean(t["spent_ms"].get(name, 0) for t in timed), 1)
                     for name in sorted(set().union(*(t["spent_ms"] for t in timed)))},
        "waited_for_device_ms": round(statistics.mean(t.get("waited_for_device_ms", 0) for t in times), 1),
        "held_device_seconds": held, "idle_by_leases": 1 - held / seconds if options.target == "cuda" else None, "idle_by_nvidia_smi": idle,
        "shared_process": sum(d.get("provenance", {}).get("process", {}).get("served", 0) > 0 for d in judged),
        "judged_again_alone": sum(d.get("provenance", {}).get("process", {}).get("again", "") != "" for d in judged)}
    return figures, documents


def meet(a, b):
    """Do two speedups' 99.9 % intervals meet?"""
    if not a or not b:
        return not a and not b
    infinite = float("inf")
    return a["decided_low"] <= (b["decided_high"] or infinite) and b["decided_low"] <= (a["decided_high"] or infinite)


def agreement(first, second):
    rows = []
    for name, full in second.items():
        cheap = first[name]
        same = cheap["correct"] == full["correct"] and (cheap["status"] == "ok") == (full["status"] == "ok")
        rows.append({"id": name, "status": [cheap["status"], full["status"]], "same_verdict": same,
                     "speedup": [(d.get("speedup") or {}).get("median") for d in (cheap, full)],
                     "intervals_meet": meet(cheap.get("speedup"), full.get("speedup")) if same else None})
    return {"compared": len(rows), "same_verdict": sum(r["same_verdict"] for r in rows),
            "intervals_meet": sum(bool(r["intervals_meet"]) for r in rows), "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--target", default="cuda", choices=("cuda", "cpu", "compile-only"))
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--candidates", type=int, default=256)
    parser.add_argument("-j", "--jobs", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--variant", action="append", default=[])
    parser.add_argument("--share", type=float, default=0.1, help="of the candidates that are judged under the full protocol as well")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    variants = [v.partition("=")[::2] for v in options.variant] or [(p, f"{options.davinci}:{p}") for p in ("screening", "staged")]
    rows = group_candidates.write(out / "candidates", options.tasks, options.candidates, options.target)
    result = {"arguments": vars(options), "cores": os.cpu_count(), "runs": [], "agreement": {}}
    known = {}  # cache after the tasks were seen, by program
    last = {}
    with tempfile.TemporaryDirectory(prefix="staged-cache") as caches:
        caches = pathlib.Path(caches)
        for number in range(options.rounds):
            for name, what in variants:
                program, _, protocol = what.rpartition(":")
                if program not in known:  # what a machine finds out once, with a file that is not one of those that are measured
                    known[program] = caches / f"known-{len(known)}"
                    known[program].mkdir()
                    warm = group_candidates.write(out / "warm", options.tasks, options.tasks, options.target)
                    judge(program, protocol, warm[:2], options, known[program], "warm-up")
                cache = caches / f"{name}-{number}"
                shutil.copytree(known[program], cache, symlinks=True)
                figures, last[name] = judge(program, protocol, rows, options, cache, f"{name}, round {number + 1}")
                shutil.rmtree(cache, ignore_errors=True)
                result["runs"].append({"variant": name, "round": number + 1, **figures})
                (out / "staged_rate.json").write_text(json.dumps(result, indent=1))
                cpu = figures["cpu_seconds_each"]
                print(f"{name:12} round {number + 1}: {figures['seconds']:6.1f} s, {figures['per_minute']:6.1f} a minute, "
                      f"{'' if cpu is None else f'{cpu:.2f} CPU s each, '}{figures['outcomes']}, taken over {figures['taken_over']}, "
                      f"stages {figures['stages_ms']}", flush=True)
        drawn = sorted(random.Random(options.seed).sample(range(len(rows)), max(1, round(options.share * len(rows))))) if options.share > 0 else []
        if drawn:
            program = variants[-1][1].rpartition(":")[0]
            figures, full = judge(program, FULL, [rows[i] for i in drawn], options, known[program], "full protocol")
            result["full"] = figures
            for name, documents in last.items():
                result["agreement"][name] = found = agreement(documents, full)
                print(f"{name:12} agrees with the full protocol in {found['same_verdict']} of {found['compared']} verdicts; of the speedups "
                      f"{found['intervals_meet']} intervals meet")
        (out / "staged_rate.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
