"""Runs the teacher's candidates against their tasks: Triton in the interpreter, C++ compiled, CUDA C++ as cuda_on_cpu.py does.

    check_candidates.py DEMOS.jsonl [--language LANGUAGE] [--least SHARE] [--nan | --huge] [--only PART] [--operators NAME…] [--seconds N]

Sizes are the task's smallest (a variant, else cpu). Larger work of Triton and CUDA C++ is skipped: the interpreter needs minutes. A
candidate passes when every output has the reference's shape and dtype and agrees within a tolerance far above rounding and far below a
wrong formula. Exit status 1 below the share.
"""
import argparse
import collections
import copy
import json
import os
import pathlib
import sys
import tempfile
import tomllib

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import davinci_runtime  # noqa: E402
import torch  # noqa: E402
import triton.language as tl  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402
from triton.runtime import interpreter  # noqa: E402
from candidates import load, tensors  # noqa: E402

import cuda_on_cpu  # noqa: E402
import quick_interpreter  # noqa: E402

davinci_runtime.cuda_module = cuda_on_cpu.cuda_module


MOST_INPUT_ELEMENTS = 1e6
MOST_OPERATIONS = 2e7  # of products and convolutions


def dot(builder, a, b, d, *options, plain=interpreter.InterpreterBuilder.create_dot):
    """The interpreter keeps bfloat16 as bits, and multiplies these."""
    a, b = (builder.create_fp_ext(x, tl.float32) if x.dtype.scalar == tl.bfloat16 else x for x in (a, b))
    return plain(builder, a, b, d, *options)


interpreter.InterpreterBuilder.create_dot = dot
quick_interpreter.install()


def operations(model, inputs):
    """Additions and multiplications of a call's products and convolutions."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        copy.deepcopy(model)(*copy.deepcopy(inputs))
    return counter.get_total_flops()


def check(row, candidate, folder, nan, huge):
    """Nothing, or why the candidate is wrong."""
    meta = tomllib.loads(row["sidecar"])
    sizes = dict(meta.get("sizes", {}).get("cpu", {}))
    if candidate["language"] != "cpp" and meta.get("variants"):
        sizes.update(meta["variants"][0])
    task = load(row["source"], folder / "task.py", sizes)
    entry = meta.get("entry", "Model")
    torch.manual_seed(0)
    model = getattr(task, entry)(*task.get_init_inputs())
    inputs = task.get_inputs()
    number = sum(tensor.numel() for tensor in tensors(inputs))
    if candidate["language"] != "cpp" and (number > MOST_INPUT_ELEMENTS or operations(model, inputs) > MOST_OPERATIONS):
        return "skipped"
    # The interpreter multiplies the bits of bfloat16 tiles as integers.
    if candidate["language"] == "triton" and "tl.dot(" in candidate["source"] and meta.get("precision") == "bf16":
        return "skipped"
    try:
        made = load(candidate["source"], folder / "made.py", sizes)
        torch.manual_seed(1)
        new = getattr(made, entry + "New")(*task.get_init_inputs())
        new.load_state_dict(model.state_dict())
        if meta.get("mode") == "eval":
            model.eval(), new.eval()
        if nan:  # one element of the first input is not a number
            first = next((x for x in inputs if x.is_floating_point() and x.numel()), None)
            if first is None:
                return "skipped"
            first.view(-1)[first.numel() // 2] = float("nan")
        if huge:  # squares and exponentials overflow, the numbers themselves do not
            inputs = [x * 1e25 if x.is_floating_point() else x for x in inputs]
            for x in inputs:
                if x.is_floating_point():
                    x.view(-1)[-1] = float("inf")
        with torch.no_grad():
            want = tensors(model(*[x.clone() for x in inputs]))
            have = tensors(new(*[x.clone() for x in inputs]))
    except Exception as error:  # noqa: BLE001 - any failure is a result
        return f"{type(error).__name__}: {str(error)[:300]}"
    # Buffers as well: forward moves running statistics.
    want, have = want + list(model.buffers()), have + list(new.buffers())
    if len(want) != len(have):
        return f"{len(have)} outputs for {len(want)}"
    half = meta.get("precision") != "fp32"
    for w, h in zip(want, have):
        if w.shape != h.shape or w.dtype != h.dtype:
            return f"{tuple(h.shape)} {h.dtype} for {tuple(w.shape)} {w.dtype}"
        w, h = w.double(), h.double()
        if nan or huge:
            if not torch.equal(w.isnan(), h.isnan()):
                return f"{int(h.isnan().sum())} NaNs for {int(w.isnan().sum())}"
            if huge and not torch.equal(w.isinf(), h.isinf()):
                return f"{int(h.isinf().sum())} infinities for {int(w.isinf().sum())}"
            continue
        scale = w[w.isfinite()].abs().mean().item() if w.isfinite().any() else 1.0
        if not torch.allclose(h, w, rtol=4e-2 if half else 2e-3, atol=(4e-2 if half else 2e-4) * max(scale, 1e-3), equal_nan=True):
            return f"values differ by {(h - w).abs().max().item():.3g} where they are about {scale:.3g}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demos")
    parser.add_argument("--language")
    parser.add_argument("--least", type=float, default=1.0)
    parser.add_argument("--nan", action="store_true", help="inputs with a NaN: outputs must have theirs at the same places")
    parser.add_argument("--huge", action="store_true", help="inputs times 1e25, the last one infinite: NaNs and infinities must be where the task's are")
    parser.add_argument("--only")
    parser.add_argument("--operators", nargs="+", help="tasks of these operators alone")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--results", help="file for a line per candidate, as davinci synth cards --proofs reads them")
    options = parser.parse_args()
    torch.set_num_threads(1)
    count, failed, skipped = 0, collections.Counter(), 0
    import time
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for line in open(options.demos):
            row = json.loads(line)
            if options.operators and not set(row["synth"]["operators"]) <= set(options.operators):
                continue
            for candidate in row["candidates"]:
                if options.language not in (None, candidate["language"]) or (options.only and options.only not in candidate["id"]):
                    continue
                if not candidate["own_kernels"] or time.monotonic() - begin > options.seconds:
                    continue
                why = check(row, candidate, pathlib.Path(folder), options.nan, options.huge)
                if options.results:
                    verdict = {"id": candidate["id"], "status": "interpreted" if why is None else str(why), "correct": why is None}
                    with open(options.results, "a") as results:
                        results.write(json.dumps(verdict) + "\n")
                if why == "skipped":
                    skipped += 1
                    continue
                count += 1
                if why:
                    failed[candidate["language"]] += 1
                    print(f"{candidate['id']}: {why}", flush=True)
    wrong = sum(failed.values())
    print(f"{count - wrong} of {count} candidates agree with their task ({skipped} skipped)")
    if not count or count - wrong < options.least * count:
        sys.exit(1)


if __name__ == "__main__":
    main()
