"""Logits of davinci's layers against transformers, for random tiny models of every family.

    parity_test.py PROBE [models per family]

fp32: largest absolute difference 1e-4. bf16: our error against fp32 is at most 1.5 times transformers' own.
"""
import random
import sys
import tempfile

from models import ROPE, Probe, make_config, make_model
import numpy as np
import torch


def logits_of(probe, folder, texts, vocab, dtype):
    probe.ask("open", model=folder, dtype=dtype)
    with tempfile.NamedTemporaryFile() as out:
        probe.ask("logits", tokens=texts, out=out.name)
        flat = np.fromfile(out.name, np.float32)
    cuts = np.cumsum([len(text) * vocab for text in texts])[:-1]
    return [torch.from_numpy(part.copy()).view(-1, vocab) for part in np.split(flat, cuts)]


def reference(model, texts):
    with torch.no_grad():
        return [model(torch.tensor([text])).logits[0].float() for text in texts]


def main():
    probe = Probe(sys.argv[1])
    per_family = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    worst, worst_ratio, seen = 0.0, 0.0, set()
    for family in ("llama", "qwen2", "qwen3"):
        for number in range(per_family):
            rng = random.Random(f"{family} {number}")
            # Every eighth has the sizes that the CPU's tile registers take.
            sizes = dict(hidden_size=96, intermediate_size=160, num_attention_heads=3, num_key_value_heads=1,
                         head_dim=32) if number % 8 == 4 else {}
            config = make_config(family, rng, **sizes)
            texts = [[rng.randrange(config.vocab_size) for _ in range(size)] for size in (1, 2, 65, 200)]
            with tempfile.TemporaryDirectory() as folder:
                model = make_model(config, folder, number)
                exact = reference(model, texts)
                ours = logits_of(probe, folder, texts, config.vocab_size, "fp32")
                difference = max((a - b).abs().max().item() for a, b in zip(exact, ours))
                kind = config.rope_parameters["rope_type"]
                what = (f"{family} {number}: {config.num_attention_heads}/{config.num_key_value_heads} heads, {kind}, "
                        f"tied {config.tie_word_embeddings}")
                assert difference <= 1e-4, f"{what}: {difference}"
                worst = max(worst, difference)
                seen.add((family, kind))
                if number % 4 == 0:
                    # The same rounded weights in all three: only the arithmetic differs.
                    half = make_model(config, folder, number, torch.bfloat16)
                    full = make_model(config, tempfile.mkdtemp(dir=folder), number)
                    full.load_state_dict(half.state_dict())
                    truth = torch.cat(reference(full, texts))
                    theirs = (torch.cat(reference(half, texts)) - truth).pow(2).mean().sqrt().item()
                    ours = torch.cat(logits_of(probe, folder, texts, config.vocab_size, "bf16"))
                    error = (ours - truth).pow(2).mean().sqrt().item()
                    assert error <= 1.5 * theirs, f"{what}: bf16 error {error}, transformers' {theirs}"
                    worst_ratio = max(worst_ratio, error / theirs)
    assert {kind for _, kind in seen} == {"default", *ROPE} - {"none"}, seen
    print(f"{3 * per_family} models: fp32 largest difference {worst:.2e}; bf16 error at most {worst_ratio:.2f} times "
          f"transformers'")
    probe.close()


main()
