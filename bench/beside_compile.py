"""Candidates beside eager PyTorch and torch.compile (default mode) on this machine's CPU, for a busy machine: one process calls all of them by
turns, so that what disturbs one disturbs all.

    davinci coverage tests/import/modules tasks -t cpu -l cpp --out now
    python bench/beside_compile.py now/jobs.jsonl --earlier before/jobs.jsonl --count 60 --seed 1 --out rows.jsonl
    python bench/beside_compile.py --table rows.jsonl

With --threads 1 the clock is the calling thread's CPU time, which does not count the time of other processes; with more it is the wall clock.
A row: median time per call in microseconds, and of each candidate the median over rounds of eager's and compile's time by its own. The order of
the calls turns from round to round. Every call gets the next of four copies of the inputs. The judge alone certifies; this is for comparisons.
"""

import argparse
import collections
import importlib.util
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def loaded(path, sizes, name):
    """A module of the file's text, with the sizes of its sidecar for this target."""
    text = path.read_text()
    for key, value in sizes.items():
        text = re.sub(rf"^{key} *=.*$", f"{key} = {value!r}", text, flags=re.M)
    spec = importlib.util.spec_from_loader(name, loader=None)
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def copied(value):
    import torch

    if isinstance(value, torch.Tensor):
        return value.clone(memory_format=torch.preserve_format)
    if isinstance(value, (list, tuple)):
        items = [copied(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return {key: copied(item) for key, item in value.items()} if isinstance(value, dict) else value


def measured(job, rounds, threads, budget_s):
    import torch

    torch.set_num_threads(threads)
    sys.path.insert(0, str(ROOT / "python"))
    reference = pathlib.Path(job["reference"])
    sidecar = reference.with_suffix(".toml")
    facts = tomllib.loads(sidecar.read_text()) if sidecar.exists() else {}
    sizes = facts.get("sizes", {}).get("cpu", {})
    torch.manual_seed(3)
    module = loaded(reference, sizes, "reference_file")
    arguments = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    # Positional, or [positional, keywords].
    keywords = {}
    if len(arguments) == 2 and isinstance(arguments[0], (list, tuple)) and isinstance(arguments[1], dict):
        arguments, keywords = arguments

    def made(cls):
        model = cls(*copied(arguments), **copied(keywords))
        return model.eval() if facts.get("mode") == "eval" else model

    eager = made(module.Model)
    models = {"eager": eager, "compile": torch.compile(made(module.Model))}
    for name in ("earlier", "candidate"):
        if name in job:
            if name == "earlier" and job.get("earlier_python"):
                sys.path.insert(0, job["earlier_python"])
            models[name] = made(loaded(pathlib.Path(job[name]), sizes, name + "_file").ModelNew)
            if sys.path[0] == job.get("earlier_python"):
                del sys.path[0], sys.modules["davinci_runtime"]
    for model in models.values():
        getattr(model, "_orig_mod", model).load_state_dict(eager.state_dict(), strict=False)
    inputs = [module.get_inputs()]
    inputs += [copied(inputs[0]) for _ in range(3)]
    turn = 0
    clock = time.thread_time if threads == 1 else time.perf_counter

    def call(model):
        nonlocal turn
        turn += 1
        given = inputs[turn % len(inputs)]
        start = clock()
        model(**given) if isinstance(given, dict) else model(*given)
        return clock() - start

    with torch.no_grad():
        for model in models.values():
            for _ in range(8):
                call(model)
        shortest = min(min(call(model) for _ in range(3)) for model in models.values())
        calls = max(1, min(20, int(1e-3 / shortest)))
        names, times = list(models), collections.defaultdict(list)
        end = time.monotonic() + budget_s
        for i in range(rounds):
            order = names[i % len(names):] + names[:i % len(names)]
            for name in order:
                call(models[name])
                times[name].append(statistics.median(call(models[name]) for _ in range(calls)))
            if i >= 10 and time.monotonic() > end:
                break
    row = {"id": job["id"], "family": job["family"], "rounds": len(times["eager"])}
    row |= {name: round(statistics.median(values) * 1e6, 1) for name, values in times.items()}
    for name in ("earlier", "candidate"):
        for base in ("eager", "compile"):
            if name in times:
                row[f"{name}_by_{base}"] = round(statistics.median(b / own for b, own in zip(times[base], times[name])), 3)
    return row


def family(reference):
    known = tomllib.loads((ROOT / "tests/import/families.toml").read_text())["modules"]
    return known.get(reference.stem, "tasks/" if "tasks" in reference.parts else "other")


def read_jobs(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {row["id"]: dict(row, candidate=str(path.parent / row["candidate"])) for row in rows}


def table(rows):
    """The share that is at least as fast as compile, and medians, by family and for all."""
    rows = [row for row in rows if "error" not in row]
    names = [name for name in ("earlier", "candidate") if any(name in row for row in rows)]
    heads = [f"{name}: {what}" for name in names for what in ("at least compile", "at least 0.9 of it", "median by compile", "median by eager")]
    print("| family | modules | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 2))
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["family"]].append(row)
        groups["all"].append(row)
    for name in sorted(groups, key=lambda g: (g == "all", -len(groups[g]), g)):
        cells = []
        for which in names:
            own = [row for row in groups[name] if which in row]
            by = [row[f"{which}_by_compile"] for row in own]
            cells += [sum(b >= 1 for b in by), sum(b >= 0.9 for b in by), f"{statistics.median(by):.2f}",
                      f"{statistics.median(row[f'{which}_by_eager'] for row in own):.2f}"]
        print(f"| {name} | {len(groups[name])} | " + " | ".join(map(str, cells)) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", type=pathlib.Path, nargs="?")
    parser.add_argument("--earlier", type=pathlib.Path)
    parser.add_argument("--earlier-python", help="the folder python/ of the earlier candidates' davinci_runtime")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--skip", type=int, default=0, help="of those drawn, for several runs of one draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="ids, instead of a draw")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--budget-s", type=float, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("beside_compile.jsonl"))
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.table:
        table([json.loads(line) for line in options.table.read_text().splitlines()])
        return
    if options.one:
        print("\n" + json.dumps(measured(json.loads(options.one), options.rounds, options.threads, options.budget_s)))
        return
    jobs = read_jobs(options.jobs)
    earlier = read_jobs(options.earlier) if options.earlier else {}
    drawn = sorted(jobs)
    random.Random(options.seed).shuffle(drawn)
    ids = options.only or drawn[options.skip:options.count]
    done = {json.loads(line)["id"] for line in options.out.read_text().splitlines()} if options.out.exists() else set()
    for name in ids:
        name = name if name in jobs else name + ".cpp.best"
        if name in done:
            continue
        job = {key: jobs[name][key] for key in ("id", "reference", "candidate")}
        job["family"] = family(pathlib.Path(job["reference"]))
        if name in earlier:
            job["earlier"] = earlier[name]["candidate"]
            job["earlier_python"] = options.earlier_python
        command = [sys.executable, __file__, "--one", json.dumps(job), "--rounds", str(options.rounds)]
        command += ["--threads", str(options.threads), "--budget-s", str(options.budget_s)]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=420)
            row = json.loads(ran.stdout.splitlines()[-1]) if ran.returncode == 0 else {"id": name, "error": ran.stderr[-600:]}
        except subprocess.TimeoutExpired:
            row = {"id": name, "error": "more than 420 s"}
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
