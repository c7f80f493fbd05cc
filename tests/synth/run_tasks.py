"""Runs generated tasks at their cpu sizes: two forward calls with different inputs.

    run_tasks.py TASKS.jsonl [--least SHARE] [--report FILE]

A task passes when both calls return finite tensors and the outputs of the two calls differ. Exit status 1 below the
share. Every failure is printed with its task, so that the grammar can be mended.
"""
import argparse
import collections
import json
import sys
import tomllib

import torch


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for part in value for tensor in tensors(part)]


def run(row):
    """Nothing, or why the task failed."""
    meta = tomllib.loads(row["sidecar"])
    space = {"__name__": "task"}
    exec(compile(row["source"], row["id"], "exec"), space)  # noqa: S102 - text that this project generated
    for name, value in meta.get("sizes", {}).get("cpu", {}).items():
        if name not in space:
            return f"the sidecar sets {name}, which is no global of the task"
        space[name] = value
    torch.manual_seed(0)
    model = space[meta.get("entry", "Model")](*space["get_init_inputs"]())
    if meta.get("mode") == "eval":
        model.eval()
    with torch.no_grad():
        first = tensors(model(*space["get_inputs"]()))
        second = tensors(model(*space["get_inputs"]()))
    if not first:
        return "no output"
    for tensor in first + second:
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            return "not finite"
    if all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(first, second)):
        return "output does not depend on the inputs"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tasks")
    parser.add_argument("--least", type=float, default=1.0)
    parser.add_argument("--report")
    options = parser.parse_args()
    torch.set_num_threads(1)
    failed = collections.Counter()
    count = 0
    for line in open(options.tasks):
        row = json.loads(line)
        count += 1
        try:
            why = run(row)
        except Exception as error:  # noqa: BLE001 - any failure of a task is what is counted
            why = f"{type(error).__name__}: {error}".split("\n")[0][:160]
        if why:
            failed[why[:60]] += 1
            print(f"{row['id']} [{', '.join(row['synth']['operators'])}]: {why}", flush=True)
            if options.report:
                with open(options.report, "a") as out:
                    out.write(f"#### {row['id']}: {why}\n{row['source']}\n")
    passed = count - sum(failed.values())
    print(f"{passed} of {count} tasks run ({100 * passed / max(count, 1):.2f} %)")
    return 0 if count and passed >= options.least * count else 1


if __name__ == "__main__":
    sys.exit(main())
