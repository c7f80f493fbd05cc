"""Generation: greedy text as transformers', prefixes, determinism, sampling, cancellation, memory.

    engine_test.py PROBE [requests of the leak test]
"""
import json
import math
import os
import random
import sys
import tempfile
import time

from models import Probe, make_config, make_model, train_counter
import torch
from safetensors.torch import save_file


def greedy_is_transformers(probe, model, folder):
    """200 tokens after each of 20 prompts."""
    probe.ask("open", model=folder, threads=1, dtype="fp32")
    rng = random.Random(1)
    margin = math.inf
    for size in (3, 20):
        prompts = []
        for _ in range(10):
            step, first = rng.randrange(1, 5), rng.randrange(64)
            prompts.append([64 + step] + [(first + step * i) % 64 for i in range(size)])
        answers = probe.generate(*[{"prompt": p, "max_tokens": 200} for p in prompts])
        with torch.no_grad():
            texts = model.generate(torch.tensor(prompts), max_new_tokens=200, do_sample=False, pad_token_id=72,
                                   eos_token_id=None)
            logits = model(texts).logits[:, size:-1]
        best = logits.topk(2).values
        margin = min(margin, (best[..., 0] - best[..., 1]).min().item())
        exact = torch.log_softmax(logits, -1).max(-1).values  # at temperature 0: of the model's own distribution
        for prompt, answer, text, logprobs in zip(prompts, answers, texts.tolist(), exact):
            assert answer["tokens"] == text[size + 1:], (prompt, answer["tokens"])
            assert (torch.tensor(answer["logprobs"]) - logprobs).abs().max() < 1e-3
    return f"20 prompts, 200 tokens each as transformers', smallest margin {margin:.3f}"


def batch_does_not_matter(probe, folder, dtype):
    """A request alone, in a crowd, and late in a crowd gives the same tokens and log-probabilities."""
    rng = random.Random(2)
    probe.ask("open", model=folder, dtype=dtype, max_batch=6)
    def request(number):
        size = rng.choice([1, 7, 63, 64, 65, 130, 200])
        return {"prompt": [rng.randrange(64) for _ in range(size)], "max_tokens": rng.randrange(5, 60),
                "temperature": rng.choice([0.0, 0.7, 1.0, 1.6]), "top_p": rng.choice([1.0, 0.9]),
                "top_k": rng.choice([0, 0, 20]), "min_p": rng.choice([0.0, 0.05]), "seed": number}
    requests = [request(number) for number in range(24)]
    # Prefixes in common make the cache a part of the question.
    for number in range(8, 16):
        requests[number]["prompt"] = requests[7]["prompt"] + requests[number]["prompt"]
    together = probe.generate(*requests)
    late = probe.generate(*[{**r, "delay_ms": 3 * i} for i, r in enumerate(reversed(requests))])[::-1]
    probe.ask("open", model=folder, dtype=dtype, max_batch=1)
    alone = [probe.generate(r)[0] for r in requests]
    for a, b, c in zip(alone, together, late):
        assert a["tokens"] == b["tokens"] == c["tokens"]
        assert a["logprobs"] == b["logprobs"] == c["logprobs"]
    assert any(a["shared"] for a in together)
    return f"{len(requests)} requests ({dtype}): bit by bit the same alone and together"


def wide_model_in_bf16(probe):
    """Sizes that tile registers take: independence of the batch, and the cache's answers against a pass without it."""
    config = make_config("llama", random.Random(6), vocab_size=97, hidden_size=96, intermediate_size=160,
                         num_hidden_layers=2, num_attention_heads=3, num_key_value_heads=1, head_dim=32,
                         tie_word_embeddings=True)
    with tempfile.TemporaryDirectory() as folder:
        make_model(config, folder, 6, torch.bfloat16)
        text = batch_does_not_matter(probe, folder, "bf16")
        prompt = [7 * i % 97 for i in range(150)]
        probe.ask("open", model=folder, dtype="bf16", max_batch=2)
        answer = probe.generate({"prompt": prompt, "max_tokens": 40, "temperature": 1.0, "seed": 3})[0]
        scores = probe.ask("score", tokens=prompt + answer["tokens"])["logprobs"][len(prompt) - 1:]
        largest = max(abs(a - b) for a, b in zip(answer["logprobs"], scores))
        assert len(scores) == 40 and largest < 0.1, largest
        return f"{text}; log-probabilities within {largest:.3f} of those without a cache"


def prefixes_are_shared(probe, folder):
    probe.ask("open", model=folder, threads=1, dtype="fp32", max_batch=8)
    rng = random.Random(3)
    prompt = [rng.randrange(64) for _ in range(400)]
    answers = probe.generate(*[{"prompt": prompt + [n], "max_tokens": 4} for n in range(8)])
    counters = probe.ask("counters")
    # One of eight is computed; of the others the tail behind the last whole chunk of 64.
    assert counters["prompt_tokens"] == 401 + 7 * (401 - 384), counters
    assert sorted(a["shared"] for a in answers) == [0] + 7 * [384], answers
    # Many turns later it is still there; an unrelated prompt shares nothing.
    later, other = probe.generate({"prompt": prompt, "max_tokens": 1}, {"prompt": prompt[1:], "max_tokens": 1})
    assert later["shared"] == 384 and other["shared"] == 0
    return "8 prompts with a common prefix: one prefill"


def draws_follow_the_distribution(probe, model, folder):
    """Frequencies of one drawn token against the restricted distribution; log-probabilities exactly."""
    probe.ask("open", model=folder, threads=1, dtype="fp32", max_batch=8)
    prompt = [65, 5, 8]
    with torch.no_grad():
        logits = model(torch.tensor([prompt])).logits[0, -1]
    for setting in ({"temperature": 1.5}, {"temperature": 2.0, "top_k": 5}, {"temperature": 2.5, "top_p": 0.8},
                    {"temperature": 2.0, "min_p": 0.1}):
        weights = torch.softmax(logits / setting["temperature"], -1)
        order = weights.argsort(descending=True)
        keep = torch.ones(80, dtype=torch.bool)
        if "top_k" in setting:
            keep[order[setting["top_k"]:]] = False
        if "top_p" in setting:
            before = weights[order].cumsum(0) - weights[order]
            keep[order[before >= setting["top_p"]]] = False
        if "min_p" in setting:
            keep &= weights >= setting["min_p"] * weights.max()
        exact = torch.where(keep, weights, 0.0)
        exact = exact / exact.sum()
        counts, number = torch.zeros(80), 600
        for begin in range(0, number, 100):
            for answer in probe.generate(*[{"prompt": prompt, "max_tokens": 1, "seed": begin + i, "alternatives": 3,
                                            **setting} for i in range(100)]):
                token = answer["tokens"][0]
                counts[token] += 1
                assert keep[token], (setting, token)
                assert abs(answer["logprobs"][0] - exact[token].log().item()) < 1e-3, (setting, token)
                best = answer["alternatives"][0]
                assert [t for t, _ in best] == order[:3].tolist()[:len(best)], (best, order[:3])
        expected = exact * number
        seen = expected > 5
        statistic = ((counts - expected)[seen] ** 2 / expected[seen]).sum().item()
        limit = seen.sum().item() + 6 * math.sqrt(2 * seen.sum().item())  # the seeds are fixed: no flake
        assert statistic < limit, (setting, statistic, limit)
    first = probe.generate({"prompt": prompt, "max_tokens": 40, "temperature": 1.5, "seed": 9})
    assert first[0]["tokens"] == probe.generate({"prompt": prompt, "max_tokens": 40, "temperature": 1.5,
                                                 "seed": 9})[0]["tokens"]
    return "draws follow the restricted distribution"


def ends_and_errors(probe, folder):
    probe.ask("open", model=folder, threads=1, dtype="fp32", max_batch=2, max_context=256, cache_tokens=512)
    prompt = [65, 10, 11, 12]
    whole = probe.generate({"prompt": prompt, "max_tokens": 20})[0]
    stop = whole["tokens"][6]
    answer = probe.generate({"prompt": prompt, "max_tokens": 20, "stop": [stop]})[0]
    assert answer["end"] == "stop" and answer["tokens"] == whole["tokens"][:whole["tokens"].index(stop) + 1]
    assert probe.generate({"prompt": prompt, "max_tokens": 20, "end_after": 3})[0]["end"] == "caller"
    assert len(probe.generate({"prompt": [1] * 250, "max_tokens": 50})[0]["tokens"]) == 6  # the context ends
    for request, message in (({"prompt": []}, "empty"), ({"prompt": [80]}, "vocabulary"), ({"prompt": [-1]}, "vocab"),
                             ({"prompt": [1] * 256}, "context"), ({"prompt": [1], "max_tokens": 0}, "max_tokens"),
                             ({"prompt": [1], "temperature": -1}, "temperature"), ({"prompt": [1], "top_p": 0}, "top_p"),
                             ({"prompt": [1], "min_p": 2}, "min_p"), ({"prompt": [1], "top_k": -1}, "top_k")):
        answer = probe.generate(request)[0]
        assert answer["code"] == "invalid argument" and message in answer["error"], answer
    # Cancelled before, while waiting and while being written; the neighbours do not notice.
    requests = [{"prompt": prompt, "max_tokens": 200, "cancel_after": [0, 5, -1, 9][i % 4]} for i in range(16)]
    answers = probe.generate(*requests)
    for request, answer in zip(requests, answers):
        if request["cancel_after"] >= 0:
            assert answer.get("code") == "cancelled", answer
        else:
            assert len(answer["tokens"]) == 200, answer
    counters = probe.ask("counters")
    assert counters["running"] == 0 and counters["waiting"] == 0 and counters["cancelled"] == 12, counters
    return "stop tokens, limits, errors and 12 cancellations"


def memory_stays(probe, folder, number):
    probe.ask("open", model=folder, threads=1, dtype="fp32", max_batch=8, cache_tokens=4096)
    rng = random.Random(4)
    def run(count):
        for _ in range(count // 20):
            probe.generate(*[{"prompt": [rng.randrange(64) for _ in range(rng.randrange(1, 150))],
                              "max_tokens": rng.randrange(1, 12), "temperature": 1.0, "seed": rng.randrange(1 << 40),
                              "cancel_after": 3 if i % 5 == 0 else -1} for i in range(20)])
        return probe.ask("counters")["rss_kib"]
    before = run(max(100, number // 5))
    after = run(number)
    assert after - before < 2048, f"{before} KiB before, {after} KiB after {number} requests"
    return f"{number} requests: {(after - before)} KiB more memory"


def peak_is_weights_and_cache(program, dtype):
    """Peak memory of a process that loads weights and fills its cache, over an empty engine's."""
    peaks = []
    for layers, hidden in ((1, 32), (6, 768)):
        config = make_config("llama", random.Random(0), hidden_size=hidden, num_hidden_layers=layers,
                             num_attention_heads=hidden // 32, num_key_value_heads=hidden // 32, head_dim=32,
                             intermediate_size=hidden * 2, vocab_size=2000, mlp_bias=False, attention_bias=False,
                             max_position_embeddings=2048)
        with tempfile.TemporaryDirectory() as folder:
            make_model(config, folder, 0)
            probe = Probe(program)
            facts = probe.ask("open", model=folder, threads=1, dtype=dtype, max_batch=4)
            # Equal prompts are computed once and copied: all of the cache is touched at the price of one.
            probe.generate(*[{"prompt": [i % 1999 for i in range(2000)], "max_tokens": 40}] * 4)
            peaks.append((probe.ask("counters")["peak_kib"] * 1024, facts["weight_bytes"] + facts["cache_bytes"]))
            probe.close()
    (base, small), (peak, large) = peaks
    ratio = (peak - base + small) / large
    assert ratio <= 1.3, (peaks, ratio)  # a second copy of the weights is 1.5 and more; arenas of threads differ by load
    return f"peak memory {ratio:.2f} times weights and cache ({dtype}, {large / 1e6:.0f} MB)"


def adapters_are_merged(probe):
    """Logits with a PEFT adapter against transformers with the sum of both weights."""
    config = make_config("qwen3", random.Random(5))
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as adapter:
        model = make_model(config, folder, 7)
        tensors, rank, alpha = {}, 3, 6
        for name, module in model.named_modules():
            if name.endswith(("q_proj", "v_proj", "down_proj")):
                a, b = torch.randn(rank, module.in_features) / 5, torch.randn(module.out_features, rank) / 5
                tensors[f"base_model.model.{name}.lora_A.weight"] = a
                tensors[f"base_model.model.{name}.lora_B.weight"] = b
                with torch.no_grad():
                    module.weight += alpha / rank * (b @ a)
        save_file(tensors, os.path.join(adapter, "adapter_model.safetensors"))
        with open(os.path.join(adapter, "adapter_config.json"), "w") as file:
            json.dump({"peft_type": "LORA", "r": rank, "lora_alpha": alpha, "base_model_name_or_path": folder,
                       "target_modules": ["q_proj", "v_proj", "down_proj"], "bias": "none"}, file)
        prompt = [random.Random(6).randrange(config.vocab_size) for _ in range(20)]
        with torch.no_grad():
            wanted = torch.log_softmax(model(torch.tensor([prompt])).logits[0, :-1], -1)
        wanted = [row[token].item() for row, token in zip(wanted, prompt[1:])]
        probe.ask("open", model=folder, threads=1, dtype="fp32")
        plain = probe.ask("score", tokens=prompt)["logprobs"]
        probe.ask("open", model=folder, lora=adapter, threads=1, dtype="fp32")
        merged = probe.ask("score", tokens=prompt)["logprobs"]
        worst = max(abs(x - y) for x, y in zip(merged, wanted))
        assert worst < 1e-4, worst
        assert max(abs(x - y) for x, y in zip(plain, wanted)) > 1e-2, "an adapter that changes nothing"
        try:
            probe.ask("open", model=folder, lora=folder)
            raise AssertionError("a folder without an adapter was taken")
        except RuntimeError as error:
            assert "adapter_config.json" in str(error), error
    return f"an adapter is merged: largest difference {worst:.1e}"


def idle_memory_is_released(probe, folder):
    probe.ask("open", model=folder, threads=1, dtype="fp32", idle_release_s=0.05)
    request = {"prompt": [2, 4, 6], "max_tokens": 8}
    first = probe.generate(request)[0]["tokens"]
    time.sleep(0.4)
    assert probe.generate(request)[0]["tokens"] == first
    return "released when idle and loaded again"


def main():
    program = sys.argv[1]
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 400
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        model, loss = train_counter(folder)
        print(f"trained to a loss of {loss:.4f} in {time.monotonic() - begun:.1f} s")
        probe = Probe(program)
        for test in (lambda: greedy_is_transformers(probe, model, folder),
                     lambda: batch_does_not_matter(probe, folder, "fp32"),
                     lambda: batch_does_not_matter(probe, folder, "bf16"),
                     lambda: wide_model_in_bf16(probe),
                     lambda: prefixes_are_shared(probe, folder),
                     lambda: draws_follow_the_distribution(probe, model, folder),
                     lambda: ends_and_errors(probe, folder),
                     lambda: adapters_are_merged(probe),
                     lambda: idle_memory_is_released(probe, folder),
                     lambda: memory_stays(probe, folder, requests),
                     lambda: peak_is_weights_and_cache(program, "fp32"),
                     lambda: peak_is_weights_and_cache(program, "bf16")):
            begun = time.monotonic()
            print(f"{test()} ({time.monotonic() - begun:.1f} s)", flush=True)
        probe.close()


main()
