"""Tables of docs/results/synth.md from folders of `davinci synth demos` whose jobs `davinci judge --batch` has judged.

    pairs_table.py DIR… [--out ROWS.jsonl]      demos.jsonl and results.jsonl of each folder
    pairs_table.py --rows ROWS.jsonl            the same tables from such rows

Per language and level; per goal and per family by the best kernel of each task: that of the highest speedup among its judged
candidates of the levels better and best. A task whose best candidates are PyTorch's own calls counts as not faster. Then every
candidate that is wrong.
"""
import argparse
import collections
import json
import pathlib
import statistics

from goals import GOALS


def read(folder):
    results = {r["id"]: r for r in map(json.loads, (folder / "results.jsonl").open())}
    for line in (folder / "demos.jsonl").open():
        task = json.loads(line)
        for candidate in task["candidates"]:
            found = results.get(candidate["id"])
            if not found:
                continue
            times = found["times"]
            yield {"id": candidate["id"], "task": task["id"], "family": task["family"], "size": candidate["size"],
                   "operators": len(task["synth"]["operators"]), "language": candidate["language"], "level": candidate["level"],
                   "own": candidate["own_kernels"] > 0, "rules": candidate["rules"], "status": found["status"], "correct": found["correct"],
                   "message": found["message"] if found["status"] != "ok" else "", "same_as": found["job"].get("same_as"),
                   "speedup": {k: found["speedup"][k] for k in ("median", "low", "high", "significant")} if found["speedup"] else None,
                   "ms": {side: (times.get(side) or {}).get("median_ms") for side in ("baseline", "candidate")}}


def columns(rows):
    speeds = sorted(r["speedup"]["median"] for r in rows if r["speedup"] and r["speedup"]["median"])
    sure = [sum(bool(r["speedup"]) and r["speedup"]["significant"] and (r["speedup"]["median"] > 1) == side for r in rows) for side in (True, False)]
    above = sum(s > 1 for s in speeds)
    quantiles = [f"{speeds[int(q * (len(speeds) - 1))]:.2f}" if speeds else "" for q in (0.1, 0.5, 0.9)]
    return f"{above} ({above / max(len(speeds), 1):.0%}) | {sure[0]} | {sure[1]} | {' | '.join(quantiles)}"


def best_of(rows):
    """Of each task the fastest judged candidate of the levels better and best."""
    tasks = collections.defaultdict(list)
    for r in rows:
        if r["level"] != "naive" and r["status"] == "ok" and r["speedup"] and r["speedup"]["median"]:
            tasks[r["task"]].append(r)
    return [max(found, key=lambda r: (r["own"], r["speedup"]["median"])) for found in tasks.values()]


def goals(what, best):
    print(f"\n| tasks, {what} | goal | tasks | faster in the middle | of all | significantly faster | slower | p10 | median | p90 | PyTorch's own calls |\n|---|---|---|---|---|---|---|---|---|---|---|")
    for name, goal, holds in GOALS:
        chosen = [r for r in best if holds(r["family"], r["operators"])]
        own = [r for r in chosen if r["own"]]
        if chosen:
            share = sum(r["speedup"]["median"] > 1 for r in own) / len(chosen)
            faster, rest = columns(own).split(" | ", 1)
            print(f"| {name} | {f'{goal:.0%}' if goal else ''} | {len(chosen)} | {faster} | {share:.0%} | {rest} | {len(chosen) - len(own)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    rows = list(map(json.loads, options.rows.open())) if options.rows else [r for folder in options.folders for r in read(folder)]
    if options.out:
        options.out.write_text("".join(json.dumps(r) + "\n" for r in rows))
    distinct = [r for r in rows if not r["same_as"]]
    right = sum(r["correct"] is True and r["status"] == "ok" for r in distinct)
    print(f"{len(rows)} candidates of {len({r['task'] for r in rows})} tasks, {len(distinct)} different texts: {right} correct ({right / len(distinct):.2%})\n")
    print("| language, level | candidates | correct | faster in the middle | significantly faster | slower | p10 | median | p90 |\n|---|---|---|---|---|---|---|---|---|")
    for language in sorted({r["language"] for r in rows}):
        for level in ("naive", "better", "best"):
            chosen = [r for r in rows if r["language"] == language and r["level"] == level and r["own"]]
            if chosen:
                print(f"| {language}, {level} | {len(chosen)} | {sum(r['status'] == 'ok' for r in chosen)} | {columns(chosen)} |")
    kept = [r for r in distinct if not r["own"] and r["speedup"]]
    if kept:
        covers = sum(r["speedup"]["low"] <= 1 <= (r["speedup"]["high"] or 1e9) for r in kept)
        print(f"| PyTorch's own calls | {len(kept)} | {sum(r['status'] == 'ok' for r in kept)} | {columns(kept)} |\n\nof the last, {covers} intervals hold 1")
    best = best_of(rows)
    for what in ("best kernel", *sorted({r["language"] for r in rows})):
        goals(what, best if what == "best kernel" else best_of([r for r in rows if r["language"] == what]))
    print("\n| family | size | tasks | faster in the middle | significantly faster | slower | p10 | median | p90 | PyTorch's own calls |\n|---|---|---|---|---|---|---|---|---|---|")
    cells = collections.defaultdict(list)
    for r in best:
        cells[r["family"], r["size"]].append(r)
    for (family, size), chosen in sorted(cells.items()):
        own = [r for r in chosen if r["own"]]
        print(f"| {family} | {size} | {len(chosen)} | {columns(own)} | {len(chosen) - len(own)} |")
    print()
    for r in distinct:
        if r["status"] != "ok":
            print(f"{r['id']}: {r['status']}: {r['message'][:200]}")
    ratios = [r["speedup"]["high"] / r["speedup"]["low"] for r in distinct if r["speedup"] and r["speedup"]["low"] and r["speedup"]["high"]]
    print(f"width of the 95 % intervals in the middle: a factor of {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
