"""Decode steps on a GPU with each of davinci's sets of kernels (OwnKernels), ATen's path among them.

    decode_gpu_test.py PROBE [--cases 0,2] [--kernels layers,overlapped] [--batches 1,41]

Log-probabilities of what was sampled, against fp32: the error is at most 1.5 times that of transformers in bf16. In
deterministic mode a request gives the same alone and in a batch, a stop token cuts it, and restrictions to one token give
the greedy one.
"""
import argparse
import random
import sys
import tempfile

from models import Probe, make_config, make_model
import torch

# Heads of 64 and 128, groups of 1 to 5, biases, q/k norms; inner sizes that are no multiple of a block's steps, and one
# (hidden 100) that the products do not take.
CASES = [
    ("llama", dict(num_attention_heads=9, num_key_value_heads=3, head_dim=64, hidden_size=576, intermediate_size=352,
                   attention_bias=True, mlp_bias=True)),
    ("llama", dict(num_attention_heads=4, num_key_value_heads=4, head_dim=128, hidden_size=160, intermediate_size=224,
                   attention_bias=False, mlp_bias=False)),
    ("llama", dict(num_attention_heads=5, num_key_value_heads=1, head_dim=64, hidden_size=100, intermediate_size=96,
                   attention_bias=False, mlp_bias=False)),
    ("qwen2", dict(num_attention_heads=4, num_key_value_heads=2, hidden_size=256, intermediate_size=352)),
    ("qwen3", dict(num_attention_heads=6, num_key_value_heads=2, head_dim=128, hidden_size=96, intermediate_size=416,
                   attention_bias=False)),
]
KERNELS = ["none", "operations", "layers", "overlapped"]


def logprobs_of(model, prompts, answers):
    """Of the answers' tokens, by the model, one after the other."""
    values = []
    with torch.no_grad():
        for prompt, answer in zip(prompts, answers):
            text = torch.tensor([prompt + answer["tokens"]], device="cuda")
            logits = model(text).logits[0, len(prompt) - 1:-1].float()
            values.append(torch.log_softmax(logits, -1).gather(1, text[0, len(prompt):, None])[:, 0].cpu())
    return torch.cat(values)


def main():
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        return 77
    parser = argparse.ArgumentParser()
    parser.add_argument("probe")
    parser.add_argument("--cases", default=",".join(map(str, range(len(CASES)))))
    parser.add_argument("--kernels", default=",".join(KERNELS))
    # Of one row; of several tiles with a remainder, more requests than rows; of cuBLAS's products.
    parser.add_argument("--batches", default="1,41,81")
    args = parser.parse_args()
    probe = Probe(args.probe)
    for number in map(int, args.cases.split(",")):
        family, fixed = CASES[number]
        rng = random.Random(number)
        config = make_config(family, rng, num_hidden_layers=3, vocab_size=331, **fixed)
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            half = make_model(config, folder, number, torch.bfloat16)
            full = make_model(config, other, number)
            full.load_state_dict(half.state_dict())  # the same rounded weights: only the arithmetic differs
            half, full = half.to("cuda"), full.to("cuda")
            requests = [{"prompt": [rng.randrange(331) for _ in range(rng.choice([1, 30, 150]))], "max_tokens": 40,
                         "temperature": 1.0, "seed": seed} for seed in range(70)]
            prompts = [r["prompt"] for r in requests]
            ratios = []
            for name in args.kernels.split(","):
                level = KERNELS.index(name)
                for batch in map(int, args.batches.split(",")):
                    print(f"{family} {number}: opening with {name}, batch {batch}", flush=True)
                    facts = probe.ask("open", model=folder, dtype="bf16", device="cuda", max_batch=batch, own_kernels=level)
                    assert level == 0 or facts["kernels"] == "davinci", facts
                    count = 6 if batch == 1 else 70
                    answers = probe.generate(*requests[:count])
                    truth = logprobs_of(full, prompts[:count], answers)
                    error = (torch.tensor([p for a in answers for p in a["logprobs"]]) - truth).pow(2).mean().sqrt()
                    theirs = (logprobs_of(half, prompts[:count], answers) - truth).pow(2).mean().sqrt()
                    ratios.append((error / theirs).item())
                    assert ratios[-1] <= 1.5, f"{family} {fixed}, {name}, batch {batch}: {ratios[-1]} times transformers' error"
            print(f"{family} {number}: opening deterministic", flush=True)
            probe.ask("open", model=folder, dtype="bf16", device="cuda", max_batch=24, deterministic=1)
            together = probe.generate(*requests[:24])
            for i in (0, 5, 23):
                alone = probe.generate(requests[i])[0]
                assert alone["tokens"] == together[i]["tokens"] and alone["logprobs"] == together[i]["logprobs"], (family, i)
            stopped = probe.generate(*[{**r, "stop": [a["tokens"][7]]} for r, a in zip(requests, together)])
            for answer, whole in zip(stopped, together):
                first = whole["tokens"].index(whole["tokens"][7])
                assert answer["tokens"] == whole["tokens"][:first + 1], "a stop token ends the answer, steps being under way"
            greedy = probe.generate(*[{**r, "temperature": 0.0} for r in requests[:24]])
            limits = [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}]
            limited = probe.generate(*[{**r, **limits[i % 3]} for i, r in enumerate(requests[:24])])
            for answer, likeliest in zip(limited, greedy):
                for token, wanted, logprob in zip(answer["tokens"], likeliest["tokens"], answer["logprobs"]):
                    if logprob < -1e-3:
                        break  # several likeliest tokens: one of them was drawn
                    assert token == wanted, "of restrictions to the likeliest token"
            print(f"{family} {number}: error over transformers' " + ", ".join(f"{ratio:.2f}" for ratio in ratios), flush=True)
    probe.close()
    return 0


sys.exit(main())
