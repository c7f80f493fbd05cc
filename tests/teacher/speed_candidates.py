"""Times the teacher's C++ candidates against their eager tasks in one process: for machines too busy for the judge's intervals.

    speed_candidates.py DEMOS.jsonl [--rounds N] [--seconds S] [--only TEXT] [--out FILE]

One thread, cpu sizes. A round times both sides in turn, each the best of several calls; the speedup is the median of the
rounds' ratios. "Faster": a sign test over the rounds gives p < 0.01. Prints a table per family.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time
import tomllib

os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import torch  # noqa: E402
from check_candidates import load  # noqa: E402


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


def measure(row, candidate, folder, options):
    meta = tomllib.loads(row["sidecar"])
    sizes = dict(meta.get("sizes", {}).get("cpu", {}))
    task = load(row["source"], folder / "task.py", sizes)
    made = load(candidate["source"], folder / "made.py", sizes)
    entry = meta.get("entry", "Model")
    model = getattr(task, entry)(*task.get_init_inputs())
    new = getattr(made, entry + "New")(*task.get_init_inputs())
    new.load_state_dict(model.state_dict())
    if meta.get("mode") == "eval":
        model.eval(), new.eval()
    inputs = task.get_inputs()
    ratios = []
    with torch.no_grad():
        for _ in range(options.rounds + 1):
            eager = best_of(lambda: model(*inputs), options.slice)
            own = best_of(lambda: new(*inputs), options.slice)
            ratios.append(eager / own)
    ratios = ratios[1:]
    speedup = statistics.median(ratios)
    sure = sign_test(sum(r > 1 for r in ratios), len(ratios)) < 0.01
    return speedup, sure, eager * 1e6, own * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demos")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--slice", type=float, default=0.004, help="seconds per side and round")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    families, rows, begin = collections.defaultdict(list), [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for line in open(options.demos):
            row = json.loads(line)
            family = row["id"].rsplit("-", 2)[0]
            for candidate in row["candidates"]:
                if candidate["language"] != "cpp" or not candidate["own_kernels"] or options.only not in candidate["id"]:
                    continue
                if time.monotonic() - begin > options.seconds:
                    continue
                try:
                    speedup, sure, eager, own = measure(row, candidate, pathlib.Path(folder), options)
                except Exception as error:  # noqa: BLE001 - any failure is a result
                    print(f"{candidate['id']}: {type(error).__name__}: {str(error)[:200]}")
                    continue
                families[row.get("family") or family].append((speedup, sure))
                rows.append({"id": candidate["id"], "speedup": speedup, "sure": sure, "eager_us": eager, "own_us": own, "rules": candidate["rules"]})
    if options.out:
        pathlib.Path(options.out).write_text("".join(json.dumps(row) + "\n" for row in rows))
    everything = [cell for cells in families.values() for cell in cells]
    print("| family | candidates | faster | slower | p10 | median | p90 |\n|---|---|---|---|---|---|---|")
    for family, cells in [*sorted(families.items()), ("all", everything)]:
        speedups = sorted(speedup for speedup, _ in cells)
        if not speedups:
            continue
        faster = sum(sure and speedup > 1 for speedup, sure in cells)
        slower = sum(sure and speedup < 1 for speedup, sure in cells)
        quantiles = [f"{speedups[int(q * (len(speedups) - 1))]:.2f}" for q in (0.1, 0.5, 0.9)]
        print(f"| {family} | {len(cells)} | {faster} | {slower} | {' | '.join(quantiles)} |")


if __name__ == "__main__":
    main()
