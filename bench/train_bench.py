#!/usr/bin/env python3
"""Tokens per second, MFU and peak memory of one SFT step against a PyTorch loop of the same step, in one run.

    train_bench.py --probe build/release/tests/trainer/trainer_probe --device cuda [--shapes 25M,135M,…] [--json FILE]
        [--gradients] [--aten] [--profile] [--levers] [--mixed] [--no-torch] [--budget SECONDS]

One step: forward and backward of the batch below, gradient clipping, AdamW; random weights and tokens, every token
trained. PyTorch: transformers' model where it is installed, else torch_decoder.py; fp32 parameters under bf16 autocast
(on the CPU fp32), SDPA (flash on cuda), each layer compiled, fused AdamW; 2 steps to warm up, 5 timed ones. Both sides
recompute no activations unless the table below says so. Both sides of a shape run one after the other, the fast shapes
first; what torch.compile made is kept for the next run (TORCHINDUCTOR_CACHE_DIR, by default a folder under ~/.cache).
--budget: what is begun while time is left has 150 seconds (LIMIT), so that the run may end that much later.
--json is rewritten after every row; rows that are there already are not measured again.
MFU: 6 x matrices x tokens and causal attention, over the device's dense bf16 peak.

--ranks 2: data parallel instead: the same batch on each of so many devices, one process each as torchrun starts them, and on
one of them alone; tokens/s of all together, and their ratio per device.

--gradients: gradients of small models on the device in fp32 and bf16, with our kernels and with ATen's, against fp64
PyTorch there, and what PyTorch's own fp32 and bf16 differ; two passes with the same bits. --aten: steps without our
kernels, too.

--profile: instead of timing, device time of a step by class of kernel, of both sides, and what the arithmetic and the
bytes of each class cost at the device's peaks. --levers: what each part of ours gains: steps with one of them as it was
without. --mixed: batches of as many tokens in sequences of different lengths (ours alone).
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import torch

from backbone_bench import Probe, config_of

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/trainer"))
from ranks import environments  # noqa: E402

MEMORY_PEAK = 4.8e12  # of an H200
PEAK = {"H200": 989e12, "H100": 989e12, "A100": 312e12}
# sequences, tokens of each, layers recomputed by us and (all or none) by PyTorch
BATCH = {"25M": (16, 2048, 0, False), "135M": (16, 2048, 0, False), "qwen3-1.7B": (4, 4096, 0, False),
         "qwen3-4B": (2, 4096, 0, False)}
CPU_BATCH = {"25M": (2, 256, 0, False)}
# Each without one part of ours, or with more memory for it.
LIMIT = 150  # seconds of one side of one shape, compilation included
THEIR_WARMUP, THEIR_STEPS = 2, 5
LEVERS = {"flash": {"attention": "flash"}, "aten update": {"own_update": False}, "whole head": {"head_rows": 1 << 20},
          "determin.": {"deterministic": True}}


def lengths_of(shape, device, mixed=False):
    sequences, length, _, _ = (CPU_BATCH if device == "cpu" else BATCH)[shape]
    if not mixed:
        return [length] * sequences
    # From an eighth of the length on, evenly; the last one fills up to the same number of tokens.
    lengths, left, turn = [], sequences * length, 0
    while left > 0:
        lengths.append(min(left, length // 8 + (turn * 5 % 8) * length // 8 + turn * 7 % 13))
        left -= lengths[-1]
        turn += 1
    return [max(2, n) for n in lengths]


def budget(config, sequences, tokens):
    """What one step costs at the least: by class of kernels, arithmetic (FLOP) and bytes to and from memory. bf16
    activations; layers keep all; of our own kernels' passes over memory."""
    q, kv = config["num_attention_heads"] * config["head_dim"], config["num_key_value_heads"] * config["head_dim"]
    hidden, wide, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    vocabulary, rows = config["vocab_size"], sequences * tokens
    matrices = layers * hidden * (2 * q + 2 * kv + 3 * wide)
    parameters = matrices + vocabulary * hidden * (1 if config["tie_word_embeddings"] else 2)
    product = 2 * rows * (matrices + vocabulary * hidden)
    # Activations that one product of each layer reads and writes.
    moved = 2 * rows * (layers * (2 * hidden + q + 2 * kv + q + hidden + hidden + 2 * wide + wide + hidden) + hidden
                        + vocabulary)
    attention = 2 * layers * q * tokens * tokens * sequences
    between = 2 * rows * layers * (2 * 2 * hidden + 2 * 3 * hidden + 2 * (q + kv) + 3 * wide)
    between_back = 2 * rows * layers * (2 * 4 * hidden + 2 * (q + 2 * kv) + 5 * wide)
    return {
        "matmul forward": [product, moved + 2 * parameters], "matmul backward, data": [product, moved + 2 * parameters],
        "matmul backward, weight": [product, moved + 2 * parameters],
        "attention forward": [attention, 2 * rows * layers * (2 * q + 2 * kv)],
        "attention backward": [2.5 * attention, 2 * rows * layers * (4 * q + 4 * kv)],
        "elementwise, norm": [0, between + between_back], "head": [0, 3 * 2 * rows * vocabulary],
        "optimiser": [0, parameters * (2 + 2 + 3 * 8 + 2)],
    }


# The first that matches a kernel's name has it. Products are told apart by the layouts in their names (x W^T is TN, dy W
# is NN, dy^T x is NT), as cuBLAS and cutlass write them.
CLASSES = [
    ("attention backward", r"(flash|fmha|sdpa|attention).*(bwd|bprop|backward)|(bwd|bprop).*(flash|fmha|sdpa)|dot_do_o|convert_dq"),
    ("attention forward", r"flash|fmha|sdpa|cudnn.*fprop"),
    ("optimiser", r"multi_tensor_apply|dv_train_(squares|total|adamw)|[Aa]dam|lpnorm"),
    ("head", r"dv_train_score|[Ss]oft[Mm]ax|nll_loss|cross_entropy"),
    ("matmul forward", r"(nvjet|gemm|cutlass|xmma|cublas).*([_A-Z]TN[TN]?(_|$)|_tn[_n]|_tn$)"),
    ("matmul backward, data", r"(nvjet|gemm|cutlass|xmma|cublas).*([_A-Z]NN[TN]?(_|$)|_nn[_n]|_nn$)"),
    ("matmul backward, weight", r"(nvjet|gemm|cutlass|xmma|cublas).*([_A-Z]NT[TN]?(_|$)|_nt[_n]|_nt$)"),
    ("matmul, other", r"nvjet|gemm|gemv|cutlass|xmma|cublas|splitK"),
    ("embedding", r"embedding|[Ss]ort|[Ss]can|krn_|unique|compute_grad_weight|sum_and_scatter|indexSelect|index_"),
    ("copies", r"^mem(cpy|set)"),
    ("elementwise, norm", r""),
]


def by_class(profile, steps):
    """Milliseconds of a step by class, the gaps between kernels, launches, and the names with the most time."""
    classes, launches = {}, 0
    for name, (count, nanoseconds) in profile["kernels"].items():
        found = next(label for label, pattern in CLASSES if re.search(pattern, name))
        classes[found] = classes.get(found, 0) + nanoseconds / steps / 1e6
        launches += count / steps
    most = sorted(profile["kernels"].items(), key=lambda entry: -entry[1][1])[:25]
    return {"ms": {label: classes[label] for label, _ in CLASSES if label in classes},
            "gaps_ms": (profile["span_ns"] - profile["busy_ns"]) / steps / 1e6, "span_ms": profile["span_ns"] / steps / 1e6,
            "launches": launches,
            "kernels": [{"name": name[:160], "calls": count / steps, "ms": ns / steps / 1e6} for name, (count, ns) in most]}


def flops(config, lengths):
    q = config["num_attention_heads"] * config["head_dim"]
    kv = config["num_key_value_heads"] * config["head_dim"]
    matrices = config["num_hidden_layers"] * config["hidden_size"] * (2 * q + 2 * kv + 3 * config["intermediate_size"])
    head = config["vocab_size"] * config["hidden_size"]
    attention = config["num_hidden_layers"] * q
    return sum(6 * (matrices * n + head * (n - 1)) + 6 * attention * n * n for n in lengths)


def shape_config(shape):
    return {**config_of(shape), "max_position_embeddings": 8192}


def torch_model(config):
    try:
        import transformers
    except ImportError:
        from torch_decoder import Decoder
        return Decoder(config), f"torch_decoder.py, torch {torch.__version__}"
    kind = {"llama": transformers.LlamaConfig, "qwen3": transformers.Qwen3Config}[config["model_type"]]
    made = transformers.AutoModelForCausalLM.from_config(
        kind(**{k: v for k, v in config.items() if k not in ("architectures", "model_type", "torch_dtype")}),
        attn_implementation="sdpa")
    return made, f"transformers {transformers.__version__}, torch {torch.__version__}"


def device_profile(step, steps):
    """As the probe's: of `steps` calls of step()."""
    from torch.profiler import ProfilerActivity, profile
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    kernels, spans = {}, []
    for event in recorded.events():
        if event.device_type != torch.autograd.DeviceType.CUDA:
            continue
        begin, end = event.time_range.start * 1000, event.time_range.end * 1000
        row = kernels.setdefault({"Memcpy": "memcpy", "Memset": "memset"}.get(event.name.split()[0], "") + event.name, [0, 0])
        row[0] += 1
        row[1] += end - begin
        spans.append((begin, end))
    busy = last = 0
    spans.sort()
    for begin, end in spans:
        busy += max(0, end - max(begin, last))
        last = max(last, end)
    return {"kernels": kernels, "busy_ns": busy, "span_ns": last - spans[0][0], "dropped": 0}


def theirs(shape, device, steps, profiled=False):
    config = shape_config(shape)
    sequences, length, _, recompute = (CPU_BATCH if device == "cpu" else BATCH)[shape]
    torch.manual_seed(1)
    with torch.device(device):
        model, what = torch_model(config)
    model = model.float()
    if recompute:
        model.gradient_checkpointing_enable()
    layers = model.model.layers
    for layer in layers:
        layer.compile()
    if hasattr(model, "config"):
        model.config.use_cache = False
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.01, fused=True)
    tokens = torch.randint(0, config["vocab_size"], (sequences, length), device=device)
    def wait():
        if device != "cpu":
            torch.cuda.synchronize()
    seconds = []

    def one_step():
        with torch.autocast("cuda", torch.bfloat16, enabled=device != "cpu"):
            logits = model(tokens)
        logits = logits if isinstance(logits, torch.Tensor) else logits.logits
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]).float(),
                                                 tokens[:, 1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    begun = time.perf_counter()
    for _ in range(THEIR_WARMUP):
        one_step()
    wait()
    prepared = time.perf_counter() - begun
    for _ in range(steps):
        wait()
        begun = time.perf_counter()
        loss = one_step()
        wait()
        seconds.append(time.perf_counter() - begun)
    peak = 0 if device == "cpu" else torch.cuda.max_memory_allocated()
    made = {"seconds": seconds, "peak_bytes": peak, "what": what, "loss": loss.item(), "warmup_s": prepared}
    if profiled:
        made["profile"] = device_profile(one_step, steps)
    return made


def ours(probes, shape, device, steps, mixed=False, profiled=False, **options):
    """The same on each probe at once; the slowest of each step. `options`: of the probe's "open"."""
    config = shape_config(shape)
    recomputed = (CPU_BATCH if device == "cpu" else BATCH)[shape][2]

    def ask(op, **fields):
        for probe in probes:
            probe.send(op, **fields)
        return [probe.receive(op) for probe in probes]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/config.json", "w") as file:
            json.dump(config, file)
        opened = ask("open", **{"model": folder, "random": True, "device": device, "recomputed_layers": recomputed,
                                "deterministic": False, **options})
        measured = ask("bench", lengths=lengths_of(shape, device, mixed), passes=1, steps=steps, warmup=3, profile=profiled)
    return {**measured[0], "seconds": [max(times) for times in zip(*(one["seconds"] for one in measured))],
            "peak_bytes": max(one["peak_bytes"] for one in measured),
            "what": f"{opened[0]['kernels']}, attention {opened[0]['attention']}"}


def end(probes):
    for probe in probes:
        probe.process.kill()
        probe.process.wait()


# What --gradients changes in the 25M shape. Odd: a width, a head size and a vocabulary that our kernels leave to ATen.
VARIANTS = {
    "25M": {},
    "qk-norm": {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 128, "num_attention_heads": 6,
                "num_key_value_heads": 2, "tie_word_embeddings": False},
    "qk-norm 48": {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 48, "hidden_size": 576},
    "odd": {"hidden_size": 396, "head_dim": 40, "intermediate_size": 1004, "vocab_size": 8194},
}


def gradients(probe, device, variant):
    from torch_decoder import Decoder, save
    config = {**shape_config("25M"), "num_hidden_layers": 4, **VARIANTS[variant]}
    if config["model_type"] == "qwen3":
        del config["mlp_bias"]
    torch.manual_seed(2)
    torch.backends.cuda.matmul.allow_tf32 = False
    model = Decoder(config)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.normal_(1, 0.1) if "norm" in name else p.normal_(0, 0.04)
    lengths = [37, 512, 300]
    texts = [torch.randint(1, config["vocab_size"], (n,)) for n in lengths]
    coefficient = -1.0 / sum(n - 1 for n in lengths)

    def reference(dtype, autocast):
        import copy
        copied = copy.deepcopy(model).to(device=device, dtype=dtype)
        for text in texts:
            text = text.to(device)[None]
            with torch.autocast("cuda" if device != "cpu" else "cpu", torch.bfloat16, enabled=autocast):
                logits = copied(text)
            wide = logits if dtype == torch.float64 else logits.float()
            picked = torch.log_softmax(wide[0, :-1], -1).gather(1, text[0, 1:, None])
            (coefficient * picked.sum()).backward()
        return {name: p.grad.double().cpu() for name, p in copied.named_parameters()}

    import numpy as np
    exact = reference(torch.float64, False)
    def distance(other):
        rows = {name: ((other[name] - g).norm() / g.norm()).item() for name, g in exact.items()}
        worst = max(rows, key=rows.get)
        return {"worst": rows[worst], "tensor": worst, "median": sorted(rows.values())[len(rows) // 2]}
    report = {"torch_fp32": distance(reference(torch.float32, False)),
              "torch_bf16_autocast": distance(reference(torch.float32, True))}
    with tempfile.TemporaryDirectory() as folder:
        save(model, config, folder)
        bf16 = {"compute": "bf16", "attention": "flash"}
        sides = {"fp32": {"compute": "fp32"}, "bf16": bf16, "bf16_aten": {**bf16, "own_kernels": False},
                 "bf16_cudnn": {"compute": "bf16", "attention": "cudnn", "deterministic": False}}
        for side, options in sides.items():
            if side == "bf16_cudnn" and device == "cpu":
                continue
            asked = {"model": folder, "device": device, "recomputed_layers": 2, **options}
            opened = probe.ask("open", **asked)
            report[f"kernels_{side}"] = opened["kernels"] + ", " + opened["attention"]
            sequences = [{"tokens": t.tolist(), "targets": list(range(1, len(t)))} for t in texts]
            whole = [{"sequences": sequences, "derivatives": [coefficient] * sum(n - 1 for n in lengths)}]

            def accumulated():
                outputs = probe.ask("sft", passes=whole)["outputs"]
                out = f"{folder}/gradients"
                tensors = probe.ask("state", kind="gradients", out=out)["tensors"]
                return outputs, tensors, torch.from_numpy(np.fromfile(out, np.float32))

            outputs, tensors, flat = accumulated()
            got, at = {}, 0
            for tensor in tensors:
                size = int(np.prod(tensor["shape"]))
                got[tensor["name"]] = flat[at:at + size].view(tensor["shape"]).double()
                at += size
            report[f"ours_{side}"] = distance(got)
            if outputs != probe.ask("evaluate", sequences=sequences)["outputs"]:
                raise RuntimeError(f"{variant} {side}: log-probabilities with and without gradients differ")
            probe.ask("open", **asked)
            again, _, flat_again = accumulated()
            same = again == outputs and torch.equal(flat, flat_again)
            if side == "bf16_cudnn":
                report["cudnn_repeats"] = same
            elif not same:
                raise RuntimeError(f"{variant} {side}: a second run has other bits")
    aten = report["ours_bf16_aten"]
    for side in ("bf16", "bf16_cudnn"):
        own = report.get(f"ours_{side}", aten)
        if own["worst"] > 1.4 * aten["worst"] or own["median"] > 1.15 * aten["median"]:
            raise RuntimeError(f"{variant} {side}: our kernels are less exact than ATen's: {report}")
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shapes", default="25M,135M,qwen3-1.7B,qwen3-4B")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--json")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--aten", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--levers", action="store_true")
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--no-torch", action="store_true", help="ours alone")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds; what is not begun by then is left out")
    parser.add_argument("--theirs", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.theirs:
        print(json.dumps(theirs(arguments.theirs, arguments.device, arguments.steps, arguments.profile)))
        return
    begun, result = time.time(), {"device": arguments.device, "torch": torch.__version__, "rows": []}
    if arguments.device != "cpu":
        result["device"] = torch.cuda.get_device_name()
    peak = next((p for name, p in PEAK.items() if name in result["device"]), None)
    arguments.no_torch = arguments.no_torch or arguments.ranks > 1
    # The rows of a run that was cut; failures are tried again.
    if arguments.json and os.path.exists(arguments.json):
        with open(arguments.json) as file:
            earlier = json.load(file)
        if (earlier["device"], earlier["torch"]) == (result["device"], result["torch"]):
            result = {**earlier, "rows": [row for row in earlier["rows"] if "error" not in row]}

    def known(side, shape, ranks=1):
        return next((row for row in result["rows"] if (row["side"], row["shape"], row["ranks"]) == (side, shape, ranks) and
                     ("profile" in row) == arguments.profile), None)

    def late():
        return time.time() - begun > arguments.budget

    def save_result():
        if arguments.json:
            with open(arguments.json, "w") as file:
                json.dump(result, file, indent=1)

    def row(side, shape, measured, ranks=1, mixed=False):
        sequences, length, recomputed, _ = (CPU_BATCH if arguments.device == "cpu" else BATCH)[shape]
        lengths = lengths_of(shape, arguments.device, mixed)
        seconds = sorted(measured["seconds"])
        median = seconds[len(seconds) // 2]
        made = {"side": side, "shape": shape, "batch": lengths if mixed else [sequences, length],
                "recomputed_layers": recomputed, "ranks": ranks, "step_s": median, "spread_s": [seconds[0], seconds[-1]],
                "tokens_per_s": ranks * sum(lengths) / median,
                "tflops": flops(shape_config(shape), lengths) / median / 1e12,
                "peak_gib": measured["peak_bytes"] / 2**30, "loss": measured["loss"], "what": measured.get("what", "")}
        if "warmup_s" in measured:
            made["warmup_s"] = measured["warmup_s"]
        if peak:
            made["mfu"] = made["tflops"] * 1e12 / peak
        result["rows"].append(made)
        if "profile" in measured:
            made["profile"] = by_class(measured["profile"], len(seconds))
            made["dropped"] = measured["profile"]["dropped"]
            print(f"{side} {shape}: " + ", ".join(f"{label} {ms:.2f}" for label, ms in made["profile"]["ms"].items())
                  + f", gaps {made['profile']['gaps_ms']:.2f} ms, {made['profile']['launches']:.0f} launches", flush=True)
        print(f"{side:12} {shape:11} {made['tokens_per_s']:10.0f} tok/s  {made['tflops']:7.1f} TFLOP/s  "
              f"MFU {made.get('mfu', 0):5.1%}  peak {made['peak_gib']:6.1f} GiB  step {median * 1e3:.1f} ms"
              + (f"  {ranks} ranks, MFU of each" if ranks > 1 else ""), flush=True)
        save_result()
        return made

    shapes = arguments.shapes.split(",")
    if arguments.profile:
        result["budget"] = {}
        for shape in shapes:
            sequences, length, _, _ = (CPU_BATCH if arguments.device == "cpu" else BATCH)[shape]
            found = budget(shape_config(shape), sequences, length)
            result["budget"][shape] = {label: {"flop": work, "bytes": moved, "least_ms": 1e3 * max(
                work / (peak or 989e12), moved / MEMORY_PEAK)} for label, (work, moved) in found.items()}
            print(f"budget {shape}: " + ", ".join(f"{label} {entry['least_ms']:.2f}" for label, entry in
                                                  result["budget"][shape].items()) + " ms", flush=True)
    if arguments.gradients:
        result.setdefault("gradients", {})
        for variant in VARIANTS:
            if late() or "error" not in result["gradients"].get(variant, {"error": ""}):
                continue
            probe = Probe(arguments.probe)
            try:
                result["gradients"][variant] = gradients(probe, arguments.device, variant)
            except Exception as error:
                result["gradients"][variant] = {"error": repr(error)}
            print("gradients", variant, json.dumps(result["gradients"][variant]), flush=True)
            save_result()
            end([probe])

    def failed(side, shape, ranks, error, said=""):
        result["rows"].append({"side": side, "shape": shape, "ranks": ranks, "error": repr(error), "stderr": said[-400:]})
        print(f"{side:12}", shape, f"{ranks} rank(s)", repr(error), said[-300:], flush=True)
        save_result()

    def measure(shape, ranks=1, side="ours", mixed=False, **options):
        found = known(side, shape, ranks)
        if found or late():
            return found
        # Processes of their own: memory of their own.
        probes = [Probe(arguments.probe, environment) for environment in (environments(ranks) if ranks > 1 else [None])]
        limit = threading.Timer(LIMIT, end, [probes])
        limit.start()
        try:
            measured = ours(probes, shape, arguments.device, arguments.steps, mixed, arguments.profile, **options)
            return row(side, shape, measured, ranks, mixed)
        except Exception as error:
            failed(side, shape, ranks, error)
        finally:
            limit.cancel()
            end(probes)

    def measure_theirs(shape):
        found = known("torch", shape)
        if found or late():
            return found
        command = [sys.executable, __file__, "--probe", "-", "--theirs", shape, "--device", arguments.device,
                   "--steps", str(min(arguments.steps, THEIR_STEPS)), *(["--profile"] if arguments.profile else [])]
        environment = {"TORCHINDUCTOR_CACHE_DIR": os.path.expanduser("~/.cache/train_bench_inductor"),
                       "TORCHINDUCTOR_FX_GRAPH_CACHE": "1", **os.environ}
        # Files, and a session of its own: torch.compile's workers outlive their parent and keep its pipes open.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, stdout=out, stderr=said, env=environment, start_new_session=True)
            try:
                process.wait(LIMIT)
                out.seek(0)
                return row("torch", shape, json.loads(out.read().strip().splitlines()[-1]))
            except (subprocess.TimeoutExpired, IndexError, ValueError) as error:
                said.seek(0)
                failed("torch", shape, 1, error, said.read())
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()

    for shape in shapes:
        one = measure(shape)
        theirs_row = None if arguments.no_torch else measure_theirs(shape)
        if one and theirs_row:
            one["ratio"] = one["tokens_per_s"] / theirs_row["tokens_per_s"]
            print(f"ratio {shape}: {one['ratio']:.3f}", flush=True)
            save_result()
        if arguments.aten:
            measure(shape, side="aten", own_kernels=False)
        if arguments.levers:
            for side, options in LEVERS.items():
                measure(shape, side=side, **options)
        if arguments.mixed:
            measure(shape, side="mixed", mixed=True)
            measure(shape, side="mixed, flash", mixed=True, attention="flash")
        if arguments.ranks == 1:
            continue
        several = measure(shape, arguments.ranks)
        if one and several:
            several["scaling"] = several["tokens_per_s"] / one["tokens_per_s"]
            print(f"scaling {shape}: {several['scaling']:.3f} with {arguments.ranks} devices", flush=True)
            save_result()
    result["seconds"] = result.get("seconds", 0) + time.time() - begun
    save_result()


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
