#!/usr/bin/env python3
"""Where a decode step of the embedded model spends its time on a GPU, kernel by kernel (CUPTI), with each of davinci's
sets of kernels (OwnKernels of src/davinci/model/engine.h).

    decode_profile.py --probe build/release/tests/model/model_probe [--shapes 25M,135M] [--batches 1,64,256]
        [--kernels operations,layers,overlapped] [--projected-rows 64] [--prompt 512] [--new 64] [--json FILE]

A row: the step's time without the profiler, the profiled step's, what passes between the end of a profiled step and the
begin of the next (draws of restricted rows, copies, the host), and of each kernel its launches a step, its duration, and
what it adds to the step: the time from the end of all kernels before it to its own end ("added"), of which "gap" passes
before it begins. With overlapped kernels durations sum to more than the step; what is added sums to the step. Profiled
steps and those timed without the profiler see contexts of the same mean length. --projected-rows: a list; of layers and
overlapped there is a row for each (EngineOptions::most_projected_rows).
"""
import argparse
import collections
import json
import os
import random
import re
import tempfile

import backbone_bench
import torch


FUSED = ("layers", "overlapped")


def steps_of(activities):
    """Lists of the kernels of one step each, of the graph that was replayed most, without the first and last steps."""
    kernels = [a for a in activities if a["kind"] == "kernel" and a["graph"] != 0]
    most = collections.Counter(a["graph"] for a in kernels if a["name"].startswith("dv_feed")).most_common(1)[0][0]
    kernels.sort(key=lambda a: a["start_ns"])
    steps = []
    for kernel in (k for k in kernels if k["graph"] == most):
        if kernel["name"].startswith("dv_feed"):
            steps.append([])
        if steps:
            steps[-1].append(kernel)
    edge = len(steps) // 4
    return steps[edge:len(steps) - edge] or steps


def between_us(steps):
    """Mean time from the last kernel of a step to the first of the next."""
    gaps = [(b[0]["start_ns"] - max(k["end_ns"] for k in a)) / 1e3 for a, b in zip(steps, steps[1:])]
    return sum(gaps) / len(gaps) if gaps else None


def short(name):
    name = re.sub(r"\(.*", "", name)
    return re.sub(r"<.*", "", name).split("::")[-1].split(" ")[-1][:48] if not name.startswith("nvjet") else name[:32]


def breakdown(steps):
    sums = collections.defaultdict(lambda: dict(launches=0.0, us=0.0, added_us=0.0, gap_us=0.0))
    total = 0.0
    for step in steps:
        ended = step[0]["start_ns"]
        total += max(k["end_ns"] for k in step) - ended
        for kernel in step:
            entry = sums[short(kernel["name"])]
            entry["launches"] += 1 / len(steps)
            entry["us"] += (kernel["end_ns"] - kernel["start_ns"]) / 1e3 / len(steps)
            entry["added_us"] += max(0, kernel["end_ns"] - ended) / 1e3 / len(steps)
            entry["gap_us"] += max(0, kernel["start_ns"] - ended) / 1e3 / len(steps)
            ended = max(ended, kernel["end_ns"])
    for entry in sums.values():
        entry["us_each"] = entry["us"] / entry["launches"]
    order = sorted(sums.items(), key=lambda item: -item[1]["added_us"])
    return total / 1e3 / len(steps), {name: {k: round(v, 3) for k, v in entry.items()} for name, entry in order}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--probe", required=True)
    parser.add_argument("--shapes", default="25M,135M")
    parser.add_argument("--batches", default="1,64,256")
    parser.add_argument("--kernels", default="operations,layers,overlapped")
    parser.add_argument("--projected-rows", default="64")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--new", type=int, default=64)
    parser.add_argument("--json")
    args = parser.parse_args()
    rate = backbone_bench.memory_rate("cuda")
    batches = [int(b) for b in args.batches.split(",")]
    more = 192
    # The profiled steps are the middle half of --new: with so long a prompt their mean context is that of the timed ones.
    profiled_prompt = args.prompt + args.new // 2 + more // 2
    rows = []
    probe = backbone_bench.Probe(args.probe)
    for shape in args.shapes.split(","):
        rng = random.Random(shape)
        vocab = backbone_bench.SHAPES[shape][0]
        texts = [[rng.randrange(10, vocab) for _ in range(profiled_prompt)] for _ in range(max(batches))]
        prompts = [text[:args.prompt] for text in texts]
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "config.json"), "w") as file:
                json.dump(backbone_bench.config_of(shape), file)
            for batch in batches:
                limits = [int(n) for n in args.projected_rows.split(",")]
                # Limits on the same side of the batch are the same kernels.
                limits = list({n >= batch: n for n in reversed(limits)}.values())
                for kernels, limit in ((k, n) for k in args.kernels.split(",") for n in (limits if k in FUSED else limits[:1])):
                    label = f"{shape} batch {batch} {kernels}" + (f", projected rows {limit}" if kernels in FUSED else "")
                    print(label, flush=True)
                    _, _, step_s, _, facts = backbone_bench.ours(probe, folder, shape, "bf16", "cuda", batch, prompts, args.new,
                                                                 more, -1, True, kernels, projected_rows=limit)
                    trace = os.path.join(folder, "trace.json")
                    probe.ask("profile", out=trace, requests=[{"prompt": [9] + p[1:], "max_tokens": args.new}
                                                              for p in texts[:batch]])
                    with open(trace) as file:
                        recorded = json.load(file)
                    steps = steps_of(recorded["activities"])
                    profiled_us, parts = breakdown(steps)
                    floor_s = backbone_bench.floor_bytes(shape, 2, batch, args.prompt + args.new + more / 2) / rate
                    row = dict(shape=shape, batch=batch, kernels=kernels, projected_rows=limit, available=facts, step_us=step_s * 1e6,
                               floor_share=floor_s / step_s, profiled_step_us=profiled_us, between_us=between_us(steps),
                               dropped=recorded["dropped"], parts=parts)
                    rows.append(row)
                    print(f"{label}: step {step_s * 1e6:.0f} us ({floor_s / step_s:.1%} of the floor), "
                          f"profiled {profiled_us:.0f} us and {row['between_us'] or 0:.0f} between, "
                          f"{sum(p['launches'] for p in parts.values()):.0f} launches", flush=True)
                    for name, part in parts.items():
                        print(f"  {name:50} {part['launches']:6.1f} x {part['us_each']:7.2f} us, added {part['added_us']:8.1f} "
                              f"(gaps {part['gap_us']:7.1f})", flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "memory_bytes_s": rate,
                       "prompt": args.prompt, "new": args.new, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
