"""The numbers of docs/results/judge.md, one sub-command each. Prints a line for people and writes raw JSON with --out.

    python bench/judge_numbers.py --davinci BIN [--target cuda] [--out raw.json] aa --comparisons 1000
    … repeat --times 50            kernels judged again and again, by turns: coefficient of variation of their speedups, and in how many
                                   pairs of judgements of one kernel the 95 % and 99.9 % intervals exclude each other (--batch JOBS:
                                   candidates as `davinci synth demos` writes them, else --kernel of tests/honest)
    … rate --count 128             small Triton candidates, all different: how many are judged per second
    … step                         twelve candidates of each of six tasks of benchmark size, as a training step has them: per minute
    … single                       a large pointwise kernel in Triton and through load_inline, cold and warm, one at a time
    … throughput --count 64        a batch of mixed candidates, against the straightforward flow on the same files (--mix suite: of the
                                   task suite, in all languages; --mix small: small ones, half Triton and half inline CUDA)
    … profiler                     device times of the judge against torch's profiler and Nsight Compute for the same kernels
"""
import argparse
import csv
import io
import itertools
import json
import math
import os
import pathlib
import platform
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

import small_candidates
import time_agreement

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What a user would do without davinci: a fresh process, torch and the extension built as they come, inputs drawn on the host.
STRAIGHTFORWARD = '''
import sys, time, json, importlib.util, torch
reference, candidate, device = sys.argv[1:4]
started = time.time()
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path); module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module; spec.loader.exec_module(module); return module
task = load(reference, "task")
for key, value in json.loads(sys.argv[4]).items(): setattr(task, key, value)
torch.manual_seed(42); model = task.Model(*task.get_init_inputs()).to(device)
torch.manual_seed(42); new = load(candidate, "candidate").ModelNew(*task.get_init_inputs()).to(device)
new.load_state_dict(model.state_dict(), strict=False)
def inputs(): return [x.to(device) if isinstance(x, torch.Tensor) else x for x in task.get_inputs()]
sync = torch.cuda.synchronize if device == "cuda" else (lambda: None)
correct = True
with torch.no_grad():
    for trial in range(5):
        torch.manual_seed(trial); x = inputs(); a, b = model(*x), new(*x); sync()
        correct = correct and torch.allclose(a, b, atol=1e-2, rtol=1e-2)
    x = inputs()
    for which in (model, new):
        for _ in range(3): which(*x)
        sync(); t = time.perf_counter()
        for _ in range(100): which(*x)
        sync()
print(json.dumps({"correct": correct, "seconds": time.time() - started}))
'''


def batch(davinci, jobs, target, protocol, parallel, folder):
    lines = pathlib.Path(folder) / "jobs.jsonl"
    lines.write_text("".join(json.dumps({"target": target, "protocol": protocol, **job}) + "\n" for job in jobs))
    started = time.monotonic()
    documents = []
    with subprocess.Popen([davinci, "judge", "--batch", str(lines), "-j", str(parallel), "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        lines_out = ({**json.loads(line), "arrived": time.monotonic()} for line in iter(process.stdout.readline, "")
                     if line.startswith("{"))
        try:
            documents.extend(lines_out)
        except KeyboardInterrupt:  # what has been judged counts
            process.send_signal(signal.SIGINT)
            process.communicate()
    return [d for d in documents if "status" in d], time.monotonic() - started


def stages(documents):
    """Mean milliseconds of each stage, and of what timing was: waiting for the device, and having it, and what that went to."""
    spent = [{**d["times"]["stages_ms"], **{k: d["times"][k] for k in ("waited_for_device_ms", "held_device_ms")},
              **{f"timing: {k}": v for k, v in d["times"].get("spent_ms", {}).items()}} for d in documents if d["status"] == "ok"]
    names = sorted({name for stage in spent for name in stage})
    return {name: round(statistics.mean(s.get(name, 0) for s in spent), 1) for name in names}


def precision(documents):
    """Of what was judged: the middle of the 95 % intervals' widths, as a factor, and how many are significant."""
    found = [d["speedup"] for d in documents if d["status"] == "ok" and d.get("speedup") and d["speedup"]["low"]]
    return {"width": round(statistics.median(s["high"] / s["low"] for s in found), 3) if found else None,
            "significant": sum(s["significant"] for s in found),
            "pairs_of_windows": statistics.median(d["evidence"]["windows"]["pairs"] for d in documents if "windows" in d.get("evidence", {}))
            if any("windows" in d.get("evidence", {}) for d in documents) else None}


def statuses(documents):
    return {s: sum(d["status"] == s for d in documents) for s in sorted({d["status"] for d in documents})}


def honest(target):
    rows = tomllib.loads((ROOT / "tests/honest/manifest.toml").read_text())["kernel"]
    return [r for r in rows if r["target"] == target]


def copies(source, count, folder, name="copy"):
    """Texts that differ in a number alone, which is no comment: those that are equal but for comments are judged once under `staged`."""
    text = pathlib.Path(source).read_text()
    paths = []
    for i in range(count):
        path = pathlib.Path(folder) / f"{name}_{i:04}.py"
        path.write_text(text + f"\nNUMBER_OF_COPY = {i}\n")
        paths.append(str(path))
    return paths


def run_aa(options, folder):
    task = ROOT / options.task
    source = task.read_text().replace("class Model(", "class ModelNew(").replace("super(Model,", "super(ModelNew,")
    own = pathlib.Path(folder) / "same.py"
    own.write_text(source)
    jobs = [{"reference": str(task), "candidate": c} for c in copies(own, options.comparisons, folder)]
    documents, seconds = batch(options.davinci, jobs, options.target, options.protocol, options.jobs, folder)
    judged = [d["speedup"] for d in documents if d["status"] == "ok" and d["speedup"]]
    medians = [s["median"] for s in judged if s["median"]]
    wrong = [s for s in judged if s["significant"]]
    return {"comparisons": len(judged), "significant_over_2_percent": len(wrong), "significant": sorted(s["median"] for s in wrong), "seconds": seconds,
            "median_of_medians": statistics.median(medians), "log_sd": statistics.stdev(map(math.log, medians)),
            "other_statuses": sorted({d["status"] + ": " + d["message"][:120] for d in documents if d["status"] != "ok"}),
            "speedups": medians}


def exclude(speedups, low, high):
    """Pairs of which neither interval reaches the other."""
    return sum(a[low] > b[high] or b[low] > a[high] for a, b in itertools.combinations(speedups, 2) if a[high] and b[high])


def run_repeat(options, folder):
    if options.batch:
        listed = pathlib.Path(options.batch)
        jobs = [{key: str(listed.parent / job[key]) for key in ("reference", "candidate")} for job in map(json.loads, listed.read_text().splitlines())]
    else:
        row = next(r for r in honest(options.target) if r["name"] == options.kernel)
        jobs = [{"reference": str(ROOT / "tasks" / (row["task"] + ".py")), "candidate": str(ROOT / "tests/honest" / row["file"])}]
    files = [copies(job["candidate"], options.times, folder, f"kernel_{k}") for k, job in enumerate(jobs)]
    rows = [{"id": f"{k}/{i}", "reference": job["reference"], "candidate": files[k][i]} for i in range(options.times) for k, job in enumerate(jobs)]
    documents, seconds = batch(options.davinci, rows, options.target, options.protocol, options.jobs, folder)
    kernels = []
    for k, job in enumerate(jobs):
        found = [d["speedup"] for d in documents if d["id"].startswith(f"{k}/") and d["status"] == "ok" and d.get("speedup")]
        values = [s["median"] for s in found]
        if len(values) < 2:
            continue
        factors = [math.exp(abs(math.log(a / b))) for a, b in itertools.combinations(values, 2)]
        kernels.append({"reference": job["reference"], "judgements": len(values), "mean": statistics.mean(values),
                        "coefficient_of_variation": statistics.stdev(values) / statistics.mean(values), "pairs": len(factors),
                        "factor_between_two": statistics.median(factors), "exclude_95": exclude(found, "low", "high"),
                        "exclude_99_9": exclude(found, "decided_low", "decided_high"), "speedups": values})
    pairs = sum(k["pairs"] for k in kernels)
    return {"kernels": len(kernels), "judgements": sum(k["judgements"] for k in kernels), "seconds": seconds, "pairs": pairs,
            "coefficient_of_variation": statistics.median(k["coefficient_of_variation"] for k in kernels),
            "factor_between_two": statistics.median(k["factor_between_two"] for k in kernels),
            "exclude_95": sum(k["exclude_95"] for k in kernels), "exclude_99_9": sum(k["exclude_99_9"] for k in kernels),
            "each": kernels, "statuses": statuses(documents), "precision": precision(documents)}


def kind(row):
    """What decides how long the straightforward flow takes: the language, and whether torch's headers are compiled."""
    inline = row["language"] == "cpp" and "load_inline" in (ROOT / "tests/honest" / row["file"]).read_text()
    return "cpp-inline" if inline else row["language"]


def mixed(target, count, folder, mix):
    """Jobs of `count` candidates, each a file of its own, and the name and language of each."""
    if mix == "small":
        written = small_candidates.write(folder, count)
        return ([{"reference": reference, "candidate": candidate} for reference, candidate, _ in written],
                [{"name": pathlib.Path(candidate).stem, "language": language} for _, candidate, language in written])
    rows = [{**row, "language": kind(row)} for row in honest(target)]
    picked = [rows[i % len(rows)] for i in range(count)]
    jobs = []
    for i, row in enumerate(picked):
        path = pathlib.Path(folder) / f"mixed_{i:03}.py"
        path.write_text((ROOT / "tests/honest" / row["file"]).read_text() + f"\n# {i}\n")
        jobs.append({"reference": str(ROOT / "tasks" / (row["task"] + ".py")), "candidate": str(path)})
    return jobs, picked


def run_rate(options, folder):
    written = sorted(small_candidates.write(folder, options.count, ("triton",)))  # one task after another, as training asks
    jobs = [{"reference": reference, "candidate": candidate} for reference, candidate, _ in written]
    documents, seconds = batch(options.davinci, jobs, options.target, options.protocol, options.jobs, folder)
    # From a quarter of them on: processes have started and tasks are known.
    running = [d["arrived"] for d in documents][len(documents) // 4:]
    return {"candidates": len(documents), "statuses": statuses(documents), "stages_ms": stages(documents), "precision": precision(documents),
            "seconds": seconds, "per_second": len(documents) / seconds,
            "per_second_once_running": (len(running) - 1) / (running[-1] - running[0]),
            "median_ms": statistics.median(d["times"]["total_ms"] for d in documents)}


STEP_TASKS = ("chain_512MB", "softmax_16384x4096", "rms_norm_8192x4096", "gelu_256MB", "group_norm_silu", "conv2d_vendor")


def run_step(options, folder):
    """Of bench/time_agreement.py's kernels; candidates of one task differ in a remark, so none is judged by another's verdict."""
    jobs = []
    for name, _, task, candidate in time_agreement.cases():
        if name not in STEP_TASKS:
            continue
        reference, source = pathlib.Path(folder) / f"{name}_task.py", pathlib.Path(folder) / f"{name}.py"
        reference.write_text(task), source.write_text(candidate)
        (pathlib.Path(folder) / name).mkdir()
        jobs += [{"reference": str(reference), "candidate": c} for c in copies(source, options.each, pathlib.Path(folder) / name)]
    documents, seconds = batch(options.davinci, jobs, options.target, options.protocol, options.jobs, folder)
    return {"tasks": len(STEP_TASKS), "candidates": len(documents), "seconds": seconds, "per_minute": 60 * len(documents) / seconds,
            "statuses": statuses(documents), "stages_ms": stages(documents),
            "median_ms": statistics.median(d["times"]["total_ms"] for d in documents)}


def run_single(options, folder):
    """One candidate after another, of one large pointwise task (6 GB in, 6 GB out): each in a process of its own, then others in one
    process, and then again, changed in a comment alone: what they compile is there."""
    result = {}
    for language in ("triton", "cuda-inline"):
        place = pathlib.Path(folder) / language
        place.mkdir()
        # Functions are taken in turn: every so many candidates are of the first.
        every = len(small_candidates.FUNCTIONS)
        written = small_candidates.write(place, 2 * options.times * every, (language,), (4096, 393216))[::every]
        fresh = []
        for reference, candidate, _ in written[:options.times]:
            started = time.monotonic()
            with subprocess.Popen([options.davinci, "judge", "--reference", reference, "--candidate", candidate, "--target", options.target,
                                   "--protocol", options.protocol, "--json"], stdout=subprocess.PIPE, text=True) as process:
                document = ""
                for line in process.stdout:
                    document += line
                    if line == "}\n":  # told; the rest is taking down
                        break
                told = time.monotonic() - started
            verdict = json.loads(document)
            fresh.append({"told_seconds": told, "seconds": time.monotonic() - started, "status": verdict["status"],
                          "times": verdict["times"]})
        jobs = [{"id": f"uncached {k}", "reference": r, "candidate": c} for k, (r, c, _) in enumerate(written[options.times:])]
        for k, job in enumerate(jobs[:]):
            copy = place / f"again_{k}.py"
            copy.write_text(pathlib.Path(job["candidate"]).read_text() + "\n# again\n")
            jobs.append({"id": f"cached {k}", "reference": job["reference"], "candidate": str(copy)})
        documents, _ = batch(options.davinci, jobs, options.target, options.protocol, 1, folder)
        warm = [{"id": d["id"], "status": d["status"], "times": d["times"]} for d in documents]
        result[language] = {"fresh_process": fresh, "warm": warm}
        print(language, "fresh process", [(f["status"], round(f["told_seconds"], 2), round(f["seconds"], 2)) for f in fresh], "one process",
              [(w["id"], w["status"], round(w["times"]["total_ms"] / 1e3, 2)) for w in warm], file=sys.stderr, flush=True)
    return {"each": result}


def run_throughput(options, folder):
    """The straightforward flow is slow, so a few candidates of each language stand for all of it: its time for the whole
    batch is the sum over languages of their number times the mean of those measured."""
    jobs, picked = mixed(options.target, options.count, folder, options.mix)
    documents, seconds = batch(options.davinci, jobs, options.target, options.protocol, options.jobs, folder)
    result = {"candidates": len(documents), "seconds": seconds, "per_minute": 60 * len(documents) / seconds,
              "languages": {k: sum(r["language"] == k for r in picked) for k in sorted({r["language"] for r in picked})},
              "statuses": statuses(documents), "stages_ms": stages(documents)}
    print(result, file=sys.stderr, flush=True)
    script = pathlib.Path(folder) / "straightforward.py"
    script.write_text(STRAIGHTFORWARD)
    spent, failed = {k: [] for k in result["languages"]}, []
    order = list(zip(jobs, picked))
    random.Random(1).shuffle(order)
    started = time.monotonic()
    for n, (job, row) in enumerate(order):
        toml = pathlib.Path(job["reference"]).with_suffix(".toml")
        config = tomllib.loads(toml.read_text()) if toml.exists() else {}
        if "function" in config or "op" in config or len(spent[row["language"]]) >= options.straightforward \
                or time.monotonic() - started > options.straightforward_seconds:
            continue
        one = time.monotonic()
        done = subprocess.run([options.python, str(script), job["reference"], job["candidate"], options.target,
                               json.dumps(config.get("sizes", {}).get(options.target, {}))], capture_output=True, text=True,
                              timeout=600, check=False,
                              env={**os.environ, "TORCH_EXTENSIONS_DIR": f"{folder}/ext{n}", "TRITON_CACHE_DIR": f"{folder}/triton{n}",
                                   "PYTHONPATH": str(ROOT / "python")})
        if done.returncode:
            failed.append({"candidate": row["name"], "said": done.stderr[-200:]})
        else:
            spent[row["language"]].append({"candidate": row["name"], "seconds": time.monotonic() - one})
            print(row["language"], row["name"], round(time.monotonic() - one, 1), "s", file=sys.stderr, flush=True)
    if all(spent.values()):
        means = {k: statistics.mean(s["seconds"] for s in v) for k, v in spent.items()}
        total = sum(result["languages"][k] * means[k] for k in means)
        result["straightforward"] = {"measured": spent, "failed": failed, "mean_seconds": means, "seconds_for_all": total,
                                     "per_minute": 60 * len(jobs) / total}
        result["times_faster"] = result["per_minute"] / result["straightforward"]["per_minute"]
    return result


# The same kernel in the same state as when the judge records it: a device that has been busy, several forwards behind one
# another, the last of them. By torch's profiler, whose records come from CUPTI as well, but not through us.
PROFILED = STRAIGHTFORWARD.split("correct = True")[0] + '''
from torch.profiler import ProfilerActivity, profile
with torch.no_grad():
    x = [t.to("cuda") if isinstance(t, torch.Tensor) else t for t in task.get_inputs()]
    if sys.argv[5] == "ncu":
        for _ in range(6): new(*x)
        torch.cuda.synchronize()
    else:
        for _ in range(3):
            with profile(activities=[ProfilerActivity.CUDA]) as profiler:
                until = time.perf_counter() + 0.05
                while time.perf_counter() < until: new(*x); torch.cuda.synchronize()
                for _ in range(5): new(*x)
                torch.cuda.synchronize()
            found = [e for e in profiler.events() if e.device_type == torch.autograd.DeviceType.CUDA]
            last = {e.name: 1e-3 * e.time_range.elapsed_us() for e in sorted(found, key=lambda e: e.time_range.start)}
            print("kernel", max(last.values()))
'''


def run_profiler(options, folder):
    """Median device time of one kernel: the judge's activity records against those of torch's profiler, which sees the kernel as
    the judge does, and against ncu's gpu__time_duration, which runs each launch alone on a device at rest."""
    compared = []
    script = pathlib.Path(folder) / "run.py"
    script.write_text(PROFILED)
    for name in options.kernels.split(","):
        row = next(r for r in honest("cuda") if r["name"] == name)
        reference, candidate = ROOT / "tasks" / (row["task"] + ".py"), ROOT / "tests/honest" / row["file"]
        sizes = tomllib.loads(reference.with_suffix(".toml").read_text())["sizes"]["cuda"]
        jobs = []
        for k in range(3):  # identical candidates would be judged once
            copy = pathlib.Path(folder) / f"{name}_{k}.py"
            copy.write_text(candidate.read_text() + f"\n# copy {k}\n")
            jobs.append({"id": f"{name}_{k}", "reference": str(reference), "candidate": str(copy)})
        verdicts, _ = batch(options.davinci, jobs, "cuda", "davinci", 1, folder)
        ours = [max(k["ms"] for k in v["evidence"]["profile"]["device"]["list"]) for v in verdicts]

        def run(prefix, tool):
            return subprocess.run([*prefix, options.python, str(script), str(reference), str(candidate), "cuda", json.dumps(sizes), tool],
                                  capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, timeout=300,
                                  check=False)

        done = run([], "torch")
        torchs = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("kernel ")]
        ncu = run(["ncu", "--clock-control", "none", "--cache-control", "all", "--csv", "--metrics", "gpu__time_duration.sum"], "ncu")
        table = [line for line in ncu.stdout.splitlines() if line.startswith('"')]
        times = {}
        for r in csv.DictReader(io.StringIO("\n".join(table))):
            unit = {"ns": 1e-6, "us": 1e-3, "usecond": 1e-3, "nsecond": 1e-6, "msecond": 1.0, "ms": 1.0}.get(r["Metric Unit"], 1e-6)
            times.setdefault(r["Kernel Name"], []).append(unit * float(r["Metric Value"].replace(",", "")))
        longest = max((statistics.median(v) for k, v in times.items() if len(v) >= 6), default=None)
        judge = statistics.median(ours)
        profiled = statistics.median(torchs) if torchs else None
        compared.append({"kernel": name, "judge_ms": judge, "judge_all_ms": ours, "torch_profiler_ms": profiled, "torch_profiler_all_ms": torchs,
                         "ncu_ms": longest, "difference_torch_profiler": judge / profiled - 1 if profiled else None,
                         "difference_ncu": judge / longest - 1 if longest else None,
                         "stderr": "" if longest and torchs else (done.stderr + ncu.stderr)[-600:]})
    return {"kernels": compared}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--target", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--protocol", default="davinci")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--out")
    commands = parser.add_subparsers(dest="command", required=True)
    aa = commands.add_parser("aa")
    aa.add_argument("--comparisons", type=int, default=1000)
    aa.add_argument("--task", default="tasks/softmax/softmax_rows.py")
    repeat = commands.add_parser("repeat")
    repeat.add_argument("--times", type=int, default=50)
    repeat.add_argument("--kernel")
    repeat.add_argument("--batch")
    rate = commands.add_parser("rate")
    rate.add_argument("--count", type=int, default=128)
    step = commands.add_parser("step")
    step.add_argument("--each", type=int, default=12, help="candidates of each task")
    single = commands.add_parser("single")
    single.add_argument("--times", type=int, default=3)
    throughput = commands.add_parser("throughput")
    throughput.add_argument("--mix", default="suite", choices=("suite", "small"))
    throughput.add_argument("--count", type=int, default=64)
    throughput.add_argument("--straightforward", type=int, default=3, help="how many of each language also go the other way")
    throughput.add_argument("--straightforward-seconds", type=float, default=600)
    profiler = commands.add_parser("profiler")
    profiler.add_argument("--kernels", default="softmax_rows_nvrtc,log_softmax_triton,gelu_scale_bias_nvrtc")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        run = {"aa": run_aa, "repeat": run_repeat, "rate": run_rate, "step": run_step, "single": run_single, "throughput": run_throughput,
               "profiler": run_profiler}[options.command]
        result = run(options, folder)
    record = {"command": sys.argv[1:], "date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": platform.machine(),
              "cores": os.cpu_count(), **result}
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(record, indent=1) + "\n")
    print(options.command, {k: v for k, v in record.items() if k not in ("speedups", "each", "command")})


if __name__ == "__main__":
    main()
