"""Times the teacher's candidates against their eager tasks in one process, and checks that they agree: a quick ranking, no verdicts.

    speed_candidates.py DEMOS.jsonl… [--device cpu|cuda] [--seconds S] [--only TEXT] [--out FILE] [--rounds N] [--profile SPEEDUP] [--compile-threads N]
    speed_candidates.py DEMOS.jsonl… --summary MEASURED.jsonl…   # of --out: the table of goals again, nothing is measured

cpu: C++ candidates, one thread, cpu sizes. A round times both sides in turn, each the best of several calls; the speedup is the
median of the rounds' ratios. "Faster": a sign test over the rounds gives p < 0.01.
cuda: Triton candidates, cuda sizes, each side by triton.testing.do_bench (its quantiles must not overlap to be "faster").
`host` is the share of candidates whose call costs the host more than the device works. Kernels of the next candidates are
compiled by other processes meanwhile, into Triton's cache.
Prints a table per family, one per rule, one of the goals, and the slowest candidates. `kept`: tasks that stay PyTorch calls, not
measured; they are in no other column.
"""
import argparse
import collections
import copy
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

if "cuda" not in sys.argv:
    os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import torch  # noqa: E402
from candidates import load, tensors  # noqa: E402
from goals import GOALS  # noqa: E402


def best_of(call, seconds):
    """Seconds of the fastest call within a time limit, of at least two."""
    fastest, end, calls = math.inf, time.perf_counter() + seconds, 0
    while calls < 2 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        fastest = min(fastest, time.perf_counter() - begin)
        calls += 1
    return fastest


def sign_test(wins, rounds):
    """Two-sided p of so many wins where both sides are equally fast."""
    more = max(wins, rounds - wins)
    return min(1.0, 2 * sum(math.comb(rounds, k) for k in range(more, rounds + 1)) / 2**rounds)


def prepare(row, candidate, folder, device):
    """Reference, candidate with its weights, and inputs."""
    meta = tomllib.loads(row["sidecar"])
    sizes = dict(meta.get("sizes", {}).get(device, {}))
    task = load(row["source"], folder / "task.py", sizes)
    made = load(candidate["source"], folder / "made.py", sizes)
    entry = meta.get("entry", "Model")
    torch.manual_seed(0)
    with torch.device(device):
        model = getattr(task, entry)(*task.get_init_inputs())
        new = getattr(made, entry + "New")(*task.get_init_inputs())
        inputs = [x.to(device) if isinstance(x, torch.Tensor) else x for x in task.get_inputs()]
    model, new = model.to(device), new.to(device)
    new.load_state_dict(model.state_dict())
    if meta.get("mode") == "eval":
        model.eval(), new.eval()
    return model, new, inputs, meta


def measure_cpu(model, new, inputs, options):
    ratios = []
    for _ in range(options.rounds + 1):
        eager = best_of(lambda: model(*inputs), options.slice)
        own = best_of(lambda: new(*inputs), options.slice)
        ratios.append(eager / own)
    ratios = ratios[1:]
    sure = sign_test(sum(r > 1 for r in ratios), len(ratios)) < 0.01
    return {"speedup": statistics.median(ratios), "sure": sure, "eager_us": eager * 1e6, "own_us": own * 1e6}


def is_as_exact(model, inputs, want, have):
    """Whether the candidate's results lie no further from those of an fp64 copy than the task's own do."""
    state = model.state_dict()
    exact = copy.deepcopy(model).double()
    exact.load_state_dict(state)
    truth = tensors(exact(*[x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in inputs]))
    return all((h - t).abs().max() <= 2 * (w - t).abs().max() for t, w, h in zip(truth, want, have))


def disagreement(model, new, inputs, meta):
    """Nothing, or how the results differ, running statistics included."""
    want, have = tensors(model(*[x.clone() for x in inputs])), tensors(new(*[x.clone() for x in inputs]))
    want, have = want + list(model.buffers()), have + list(new.buffers())
    half = meta.get("precision") != "fp32"
    # cuDNN convolves in TF32.
    loose = any(isinstance(module, torch.nn.modules.conv._ConvNd) for module in model.modules()) or "conv" in meta.get("title", "")
    for w, h in zip(want, have, strict=True):
        if w.shape != h.shape or w.dtype != h.dtype:
            return f"{tuple(h.shape)} {h.dtype} for {tuple(w.shape)} {w.dtype}"
        w, h = w.double(), h.double()
        scale = w[w.isfinite()].square().mean().sqrt().item() if w.isfinite().any() else 1.0
        relative = 5e-2 if half else 1e-2 if loose else 1e-4
        bad = ~torch.isclose(h, w, rtol=relative, atol=relative * max(scale, 1e-6), equal_nan=True)
        if bad.sum().item() > 1e-4 * bad.numel() and not (loose or half or is_as_exact(model, inputs, want, have)):
            return f"{bad.sum().item()} of {bad.numel()} values differ by up to {(h - w).abs()[bad].max().item():.3g} where they are about {scale:.3g}"
    return None


def measure_cuda(model, new, inputs, options):
    import triton

    result = {}
    for side, call in (("eager", model), ("own", new)):
        begin = time.perf_counter()
        for _ in range(5):
            call(*inputs)
        result[side + "_host_us"] = (time.perf_counter() - begin) / 5 * 1e6
        torch.cuda.synchronize()
        low, middle, high = triton.testing.do_bench(lambda: call(*inputs), warmup=options.slice * 1e3, rep=4 * options.slice * 1e3, quantiles=[0.2, 0.5, 0.8])
        result[side + "_us"], result[side + "_low"], result[side + "_high"] = middle * 1e3, low * 1e3, high * 1e3
    result["speedup"] = result["eager_us"] / result["own_us"]
    result["sure"] = result["eager_low"] > result["own_high"] or result["own_low"] > result["eager_high"]
    result["host"] = result["own_host_us"] > result["own_us"]
    return result


def kernel_times(call, inputs):
    """Microseconds of the device by kernel, of one warm call, the longest first."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as trace:
        for _ in range(3):
            call(*inputs)
        torch.cuda.synchronize()
    times = collections.Counter()
    for event in trace.key_averages():
        times[event.key[:90]] += event.self_device_time_total / 3
    return times.most_common(12)


def compile_ahead(demos, only, threads):
    """Processes that fill Triton's cache with the kernels that will be launched."""
    script = pathlib.Path(__file__).resolve().parent / "compile_candidates.py"
    return [
        subprocess.Popen([sys.executable, script, path, "--only", only, "--native", "--share", f"{i}/{threads}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in demos
        for i in range(threads)
    ]


def table(title, groups, cuda):
    print(f"| {title} | candidates | faster | slower | share > 1 | p10 | median | p90 |{' host |' if cuda else ''}\n|---|---|---|---|---|---|---|---|{'---|' if cuda else ''}")
    for name, rows in groups:
        speedups = sorted(row["speedup"] for row in rows)
        if not speedups:
            continue
        faster = sum(row["sure"] and row["speedup"] > 1 for row in rows)
        slower = sum(row["sure"] and row["speedup"] < 1 for row in rows)
        above = sum(s > 1 for s in speedups) / len(speedups)
        quantiles = [f"{speedups[int(q * (len(speedups) - 1))]:.2f}" for q in (0.1, 0.5, 0.9)]
        host = f" {sum(row['host'] for row in rows) / len(rows):.0%} |" if cuda else ""
        print(f"| {name} | {len(rows)} | {faster} | {slower} | {above:.0%} | {' | '.join(quantiles)} |{host}")
    print()


def goals(tasks, rows, language):
    """Shares per goal, from the tasks by the ids of their candidates."""
    print("| tasks | goal | measured | faster than eager | surely | surely slower | median | kept |\n|---|---|---|---|---|---|---|---|")
    for name, goal, of_kind in GOALS:
        def holds(task):
            return of_kind(task["family"], len(task["synth"]["operators"]))

        speeds = [row for row in rows if row["id"] in tasks and holds(tasks[row["id"]][0])]
        kept = sum(holds(task) and candidate["language"] == language and not candidate["own_kernels"] for task, candidate in tasks.values())
        if not speeds:
            continue
        above = sum(row["speedup"] > 1 for row in speeds)
        surely = [sum(row["sure"] and (row["speedup"] > 1) == side for row in speeds) for side in (True, False)]
        median = statistics.median(row["speedup"] for row in speeds)
        print(f"| {name} | {f'{goal:.0%}' if goal else ''} | {len(speeds)} | {above} ({above / len(speeds):.0%}) | {surely[0]} | {surely[1]} | {median:.2f} | {kept} |")
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demos", nargs="+")
    parser.add_argument("--summary", nargs="+", metavar="MEASURED")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--slice", type=float, default=0.004, help="seconds per side and round")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    parser.add_argument("--profile", type=float, default=0, metavar="SPEEDUP", help="cuda: the time of each kernel of both sides, below this speedup")
    parser.add_argument("--compile-threads", type=int, default=8)
    options = parser.parse_args()
    lines = [json.loads(line) for path in options.demos for line in open(path)]
    tasks = {candidate["id"]: (row, candidate) for row in lines for candidate in row["candidates"]}
    if options.summary:
        measured = [json.loads(line) for path in options.summary for line in open(path)]
        language = measured[0]["id"].split(".")[1]
        goals(tasks, [row for row in measured if "speedup" in row], language)
        return
    cuda = options.device == "cuda"
    language = "triton" if cuda else "cpp"
    if not cuda:
        torch.set_num_threads(1)
    helpers = compile_ahead(options.demos, options.only, options.compile_threads) if cuda else []
    rows, wrong, begin = [], [], time.monotonic()
    out = open(options.out, "w") if options.out else None
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for row in lines:
            for candidate in row["candidates"]:
                if candidate["language"] != language or not candidate["own_kernels"] or options.only not in candidate["id"]:
                    continue
                if time.monotonic() - begin > options.seconds:
                    continue
                result = {"id": candidate["id"], "family": row.get("family") or row["id"].rsplit("-", 2)[0], "rules": candidate["rules"]}
                try:
                    model, new, inputs, meta = prepare(row, candidate, pathlib.Path(folder), options.device)
                    if cuda:
                        why = disagreement(model, new, inputs, meta)
                        if why:
                            wrong.append(f"{candidate['id']}: {why}")
                            result["wrong"] = why
                    result |= (measure_cuda if cuda else measure_cpu)(model, new, inputs, options)
                    if cuda and result["speedup"] < options.profile:
                        result["kernels"] = {"eager": kernel_times(model, inputs), "own": kernel_times(new, inputs)}
                except Exception as error:  # noqa: BLE001 - any failure is a result
                    wrong.append(f"{candidate['id']}: {type(error).__name__}: {str(error)[:200]}")
                    result["error"] = wrong[-1]
                model = new = inputs = None
                if "speedup" in result:
                    rows.append(result)
                if out:
                    out.write(json.dumps(result) + "\n")
                    out.flush()
                if wrong and wrong[-1].startswith(candidate["id"]):
                    print(wrong[-1], flush=True)
    for helper in helpers:
        helper.terminate()
    families, rules = collections.defaultdict(list), collections.defaultdict(list)
    for row in rows:
        families[row["family"]].append(row)
        for rule in row["rules"] or ["none"]:
            rules[rule].append(row)
    table("family", [*sorted(families.items()), ("all", rows)], cuda)
    table("rule", sorted(rules.items()), cuda)
    goals(tasks, rows, language)
    print("slowest:")
    for row in sorted(rows, key=lambda row: row["speedup"])[:40]:
        if row["speedup"] < 1:
            print(f"  {row['speedup']:.2f} {row['id']}: eager {row['eager_us']:.0f} us, own {row['own_us']:.0f} us{', host' if row.get('host') else ''}; {' '.join(row['rules'])}")
            for side, kernels in row.get("kernels", {}).items():
                print(f"      {side}: " + ", ".join(f"{time:.0f} {name}" for name, time in kernels if time >= 1))
    print(f"{len(rows)} candidates, {len(wrong)} disagree or fail, {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
