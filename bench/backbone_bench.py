#!/usr/bin/env python3
"""Tokens per second and time to first token of the embedded model against transformers.generate, same weights.

    backbone_bench.py --probe build/release/tests/model/model_probe --device cpu|cuda
        [--shapes 25M,135M] [--batches 1,8] [--prompt 128] [--new 64] [--dtypes fp32,bf16] [--no-transformers]
        [--kernels none|operations|layers|overlapped] [--json FILE]

Prompts are random and all different, so that nothing is shared; every answer has exactly --new tokens, greedy. A row:
the whole batch, from the first submission to the last token ("tok/s"), the decode steps alone ("decode": the time that
answers of more tokens take longer, which is steps of the full batch), and of those the share of the floor: bytes of
weights and cache that a step must read, over the memory's measured rate. Without
transformers, and for the shapes above 1B, weights are random, made on the device, and there is no comparison.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile
import time

import torch

KERNELS = ("none", "operations", "layers", "overlapped")  # OwnKernels of src/davinci/model/engine.h
SHAPES = {  # vocab, hidden, intermediate, layers, heads, kv_heads, head_dim, tied, family
    "25M": (8192, 512, 1408, 8, 8, 4, 64, True, "llama"),
    "135M": (49152, 576, 1536, 30, 9, 3, 64, True, "llama"),
    "qwen3-1.7B": (151936, 2048, 6144, 28, 16, 8, 128, True, "qwen3"),
    "qwen3-4B": (151936, 2560, 9728, 36, 32, 8, 128, True, "qwen3"),
    "qwen3-14B": (151936, 5120, 17408, 40, 40, 8, 128, False, "qwen3"),
}


def config_of(shape):
    vocab, hidden, wide, layers, heads, kv, dim, tied, family = SHAPES[shape]
    config = dict(
        architectures=[{"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM"}[family]], model_type=family,
        vocab_size=vocab, hidden_size=hidden, intermediate_size=wide, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv, head_dim=dim, tie_word_embeddings=tied, hidden_act="silu",
        max_position_embeddings=4096, rms_norm_eps=1e-6, rope_theta=10000.0, attention_bias=False, bos_token_id=0,
        eos_token_id=1, torch_dtype="bfloat16")
    if family == "llama":
        config["mlp_bias"] = False
    return config


class Probe:
    def __init__(self, program, environment=None):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, op, **fields):
        self.send(op, **fields)
        return self.receive(op)

    def send(self, op, **fields):
        self.process.stdin.write(json.dumps({"op": op, **fields}) + "\n")
        self.process.stdin.flush()

    def receive(self, op):
        line = self.process.stdout.readline()
        reply = json.loads(line) if line else {"error": f"the probe died: {self.process.wait()}"}
        if "error" in reply:
            raise RuntimeError(f"{op}: {reply}")
        return reply


def memory_rate(device):
    """Bytes read per second by a sum over much memory, best of five."""
    size = (4 << 30) if device == "cuda" else (1 << 29)
    data = torch.ones(size // 4, device=device)
    best = 0.0
    for _ in range(5):
        if device == "cuda":
            torch.cuda.synchronize()
        begun = time.perf_counter()
        data.sum().item()
        best = max(best, size / (time.perf_counter() - begun))
    return best


def floor_bytes(shape, size, batch, context):
    vocab, hidden, wide, layers, heads, kv, dim, _, _ = SHAPES[shape]
    weights = layers * (hidden * dim * (2 * heads + 2 * kv) + 3 * hidden * wide) + vocab * hidden
    return size * (weights + batch * context * layers * 2 * kv * dim)


def ours(probe, folder, shape, dtype, device, batch, prompts, new, more, deterministic, random_weights, kernels, **options):
    facts = probe.ask("open", model=folder, dtype=dtype, device=device, max_batch=batch, max_context=4096,
              cache_tokens=batch * (len(prompts[0]) + new + more + 64), deterministic=deterministic, random=random_weights,
              own_kernels=KERNELS.index(kernels), **options)

    def generate(first, tokens, count):  # `first` instead of each prompt's own first token: none is known already
        return probe.ask("generate", requests=[{"prompt": [first] + p[1:], "max_tokens": tokens} for p in prompts[:count]])
    generate(2, 4, 4)
    generate(3, new, batch)
    walls = [generate(first, new + more, batch)["wall_s"] - generate(first + 1, new, batch)["wall_s"] for first in (4, 6, 8)]
    reply = probe.ask("generate", requests=[{"prompt": p, "max_tokens": new} for p in prompts[:batch]])
    assert all(len(a["tokens"]) == new for a in reply["answers"])
    return (reply["wall_s"], [a["first_token_s"] for a in reply["answers"]], sorted(walls)[1] / more,
            [a["tokens"] for a in reply["answers"]], facts["kernels"])


def theirs(model, device, batch, prompts, new):
    ids = torch.tensor(prompts[:batch], device=device)

    def run(count):
        if device == "cuda":
            torch.cuda.synchronize()
        begun = time.perf_counter()
        with torch.inference_mode():
            out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, min_new_tokens=count,
                                 do_sample=False, pad_token_id=0)
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - begun, out[:, ids.shape[1]:].tolist()
    run(2)
    first, _ = run(1)
    wall, tokens = run(new)
    return wall, first, tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--probe", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--shapes", default="25M,135M")
    parser.add_argument("--batches", default="")
    parser.add_argument("--dtypes", default="")
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--new", type=int, default=64)
    parser.add_argument("--no-transformers", action="store_true")
    parser.add_argument("--kernels", choices=KERNELS, default=KERNELS[-1], help="davinci's own, on cuda (OwnKernels)")
    parser.add_argument("--deterministic", type=int, default=-1)
    parser.add_argument("--json")
    args = parser.parse_args()
    cuda = args.device == "cuda"
    batches = [int(b) for b in (args.batches or ("1,16,64,256" if cuda else "1,8")).split(",")]
    dtypes = (args.dtypes or ("bf16" if cuda else "fp32,bf16")).split(",")
    transformers = None
    if not args.no_transformers:
        try:
            import transformers
            transformers.logging.set_verbosity_error()
            transformers.utils.logging.disable_progress_bar()
        except ImportError as error:
            print(f"no comparison: {error}")
    more = 192 if cuda else args.new  # tokens by which decode steps are timed
    rate = memory_rate(args.device)
    name = torch.cuda.get_device_name() if cuda else f"{os.cpu_count()} cores"
    print(f"{name}, torch {torch.__version__}, memory {rate / 1e9:.1f} GB/s read; prompt {args.prompt}, new {args.new}")
    print(f"{'shape':11} {'dtype':5} {'batch':>5} {'tok/s':>9} {'decode':>9} {'floor':>6} {'first ms':>9} "
          f"{'hf tok/s':>9} {'hf first':>9} {'ratio':>6} {'differ':>7}")
    rows = []
    probe = Probe(args.probe)
    for shape in args.shapes.split(","):
        rng = random.Random(shape)
        prompts = [[rng.randrange(10, SHAPES[shape][0]) for _ in range(args.prompt)] for _ in range(max(batches))]
        for dtype in dtypes:
            with tempfile.TemporaryDirectory() as folder:
                model = None
                with open(os.path.join(folder, "config.json"), "w") as file:
                    json.dump(config_of(shape), file)
                if not shape.startswith("qwen3") and transformers is not None:
                    config = transformers.AutoConfig.from_pretrained(folder)
                    torch.manual_seed(0)
                    kind = torch.float32 if dtype == "fp32" else torch.bfloat16
                    model = transformers.AutoModelForCausalLM.from_config(config).to(kind).eval()
                    model.save_pretrained(folder)
                    model = model.to(args.device)
                for batch in batches:
                    size = 4 if dtype == "fp32" else 2
                    wall, firsts, steps_s, tokens, kernels = ours(probe, folder, shape, dtype, args.device, batch, prompts, args.new, more,
                                                         args.deterministic, model is None, args.kernels)
                    first = max(firsts)
                    floor = floor_bytes(shape, size, batch, args.prompt + args.new + more / 2) / rate
                    row = dict(shape=shape, dtype=dtype, batch=batch, tokens_s=batch * args.new / wall,
                               decode_tokens_s=batch / steps_s, step_ms=steps_s * 1e3, floor_share=floor / steps_s,
                               first_ms=sum(firsts) / len(firsts) * 1e3, last_first_ms=first * 1e3, kernels=kernels)
                    text = (f"{shape:11} {dtype:5} {batch:5} {row['tokens_s']:9.0f} {row['decode_tokens_s']:9.0f} "
                            f"{row['floor_share']:6.1%} {row['first_ms']:9.1f}")
                    if model is not None:
                        hf_wall, hf_first, hf_tokens = theirs(model, args.device, batch, prompts, args.new)
                        pairs = [(a, b) for x, y in zip(tokens, hf_tokens) for a, b in zip(x, y)]
                        row.update(hf_tokens_s=batch * args.new / hf_wall, hf_first_ms=hf_first * 1e3,
                                   ratio=hf_wall / wall, differing=sum(a != b for a, b in pairs) / len(pairs))
                        text += (f" {row['hf_tokens_s']:9.0f} {row['hf_first_ms']:9.1f} {row['ratio']:6.2f} "
                                 f"{row['differing']:7.1%}")
                    rows.append(row)
                    print(text, flush=True)
                del model
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"device": name, "torch": torch.__version__, "memory_bytes_s": rate, "prompt": args.prompt,
                       "new": args.new, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
