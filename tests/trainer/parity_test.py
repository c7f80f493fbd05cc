"""Gradients and updates of the trainer against PyTorch, for random tiny models.

    parity_test.py PROBE [DEVICE]

Golden: transformers in fp64, autograd, one sequence at a time without packing. Per tensor the norm of our difference is
at most 1e-5 of the gradient's norm, or twice what fp32 PyTorch differs. Cases: SFT, clipped policy gradient with three
agents (every branch of the clip is in force somewhere), critic, LoRA; recomputed and kept activations, chunks of the
vocabulary that do not divide the rows, several passes; one AdamW update.
"""
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../model"))
from models import Probe, make_config, make_model  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

LOW, HIGH, DUAL, VALUE_CLIP = 0.2, 0.28, 3.0, 0.2


def state(probe, kind):
    with tempfile.NamedTemporaryFile() as out:
        tensors = probe.ask("state", kind=kind, out=out.name)["tensors"]
        flat = torch.from_numpy(np.fromfile(out.name, np.float32).copy())
    result, at = {}, 0
    for tensor in tensors:
        size = int(np.prod(tensor["shape"]))
        result[tensor["name"]] = flat[at:at + size].view(tensor["shape"])
        at += size
    assert at == flat.numel()
    return result


def log_probs(model, sequence):
    logits = model(torch.tensor([sequence["tokens"]])).logits[0]
    at = torch.tensor(sequence["targets"])
    return torch.log_softmax(logits, -1)[at - 1, torch.tensor(sequence["tokens"])[at]]


def sft_loss(model, sequences, extra):
    return sum((torch.tensor(d, dtype=model.dtype) * log_probs(model, s)).sum() for s, d in zip(sequences, extra))


def policy_loss(model, sequences, extra):
    total = 0
    for sequence, targets in zip(sequences, extra):
        column = {key: torch.tensor([t[key] for t in targets], dtype=model.dtype)
                  for key in ("advantage", "old", "weight")}
        ratio = (log_probs(model, sequence) - column["old"]).exp()
        a = column["advantage"]
        loss = torch.maximum(-a * ratio, -a * ratio.clamp(1 - LOW, 1 + HIGH))
        loss = torch.where(a < 0, torch.minimum(loss, -a * DUAL), loss)
        total = total + (loss * column["weight"]).sum()
    return total


def critic_loss(model, sequences, extra):
    total = 0
    for sequence, targets in zip(sequences, extra):
        hidden = model.model(torch.tensor([sequence["tokens"]])).last_hidden_state[0]
        value = (hidden @ model.value_weight.t() + model.value_bias)[torch.tensor(sequence["targets"]) - 1, 0]
        column = {key: torch.tensor([t[key] for t in targets], dtype=model.dtype)
                  for key in ("old", "target", "weight")}
        held = column["old"] + (value - column["old"]).clamp(-VALUE_CLIP, VALUE_CLIP)
        loss = 0.5 * torch.maximum((value - column["target"]) ** 2, (held - column["target"]) ** 2)
        total = total + (loss * column["weight"]).sum()
    return total


LOSS = {"sft": sft_loss, "policy": policy_loss, "critic": critic_loss}


def add_lora(model, factors, scale):
    """Replaces the modules that have factors by the sum; returns the factors as leaves."""
    leaves = {}
    for name, module in model.named_modules():
        if name + ".lora_A" not in factors:
            continue
        a, b = (torch.nn.Parameter(factors[name + end].to(model.dtype)) for end in (".lora_A", ".lora_B"))
        leaves[name + ".lora_A"], leaves[name + ".lora_B"] = a, b
        module.forward = lambda x, m=module, a=a, b=b: torch.nn.functional.linear(x, m.weight, m.bias) + \
            scale * (x @ a.t()) @ b.t()
    return leaves


def golden(model, kind, sequences, extra, dtype, factors=None, scale=1.0):
    import copy
    model = copy.deepcopy(model).to(dtype)
    if kind == "critic":
        model.value_weight = torch.nn.Parameter(torch.zeros(1, model.config.hidden_size, dtype=dtype))
        model.value_bias = torch.nn.Parameter(torch.zeros(1, dtype=dtype))
    leaves = add_lora(model, factors, scale) if factors else None
    loss = LOSS[kind](model, sequences, extra)
    loss.backward()
    rename = {"value_weight": "value_head.weight", "value_bias": "value_head.bias"}
    named = leaves or {rename.get(name, name): p for name, p in model.named_parameters()}
    return loss.item(), {name: p.grad.double() for name, p in named.items() if p.grad is not None}, model, named


def compare(ours, exact, single, what):
    assert set(ours) == set(exact), (what, set(ours) ^ set(exact))
    worst = 0.0
    for name, gradient in exact.items():
        norm = gradient.norm().item()
        difference = (ours[name].double() - gradient).norm().item()
        theirs = (single[name] - gradient).norm().item()
        assert difference <= max(1e-5 * norm, 2 * theirs), f"{what} {name}: {difference / norm:.2e}, fp32 PyTorch {theirs / norm:.2e}"
        worst = max(worst, difference / max(norm, 1e-30))
    return worst


def make_batch(rng, model, kind, count):
    vocab = model.config.vocab_size
    sequences, extra = [], []
    for _ in range(count):
        size = rng.randrange(2, 70)
        tokens = [rng.randrange(1, vocab) for _ in range(size)]  # 0 pads: transformers gives it no gradient
        targets = sorted(rng.sample(range(1, size), rng.randrange(1, size)))
        sequences.append({"tokens": tokens, "targets": targets})
        with torch.no_grad():
            now = log_probs(model, sequences[-1])
        if kind == "sft":
            extra.append([-rng.choice([0.0, 0.3, 1.0]) / 50 for _ in targets])
        elif kind == "policy":
            # Away from the edges of the clip, where the derivative jumps.
            shifts = [-1.5, -0.6, -0.1, 0.0, 0.15, 0.5, 1.4]
            extra.append([{"advantage": rng.choice([-1.7, -0.2, 0.4, 2.0]), "old": now[i].item() + rng.choice(shifts),
                           "weight": rng.choice([0.0, 0.01, 0.02]), "agent": rng.randrange(3)}
                          for i in range(len(targets))])
        else:
            extra.append([{"old": rng.choice([-0.7, -0.1, 0.1, 0.7]), "target": rng.uniform(-1, 1), "weight": 0.02}
                          for _ in targets])
    return sequences, extra


def passes_of(kind, sequences, extra, per_pass):
    key = "derivatives" if kind == "sft" else "targets"
    return [{"sequences": sequences[i:i + per_pass], key: sum(extra[i:i + per_pass], [])}
            for i in range(0, len(sequences), per_pass)]


def main():
    probe = Probe(sys.argv[1])
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    report = []
    for number, (family, kind, lora) in enumerate([
            ("qwen3", "sft", 0), ("llama", "sft", 0), ("qwen2", "policy", 0), ("qwen3", "policy", 0),
            ("llama", "critic", 0), ("qwen3", "sft", 4), ("qwen2", "policy", 3)]):
        rng = random.Random(f"{family} {kind} {lora}")
        with tempfile.TemporaryDirectory() as folder:
            model = make_model(make_config(family, rng), folder, number)
            sequences, extra = make_batch(rng, model, kind, 5)
            worst = 0.0
            for recomputed, head_rows, per_pass in ((-1, 0, 5), (0, 7, 2), (1, 16, 5)):
                what = f"{family} {kind} lora {lora} recomputed {recomputed}"
                probe.ask("open", model=folder, device=device, compute="fp32", recomputed_layers=recomputed,
                          head_rows=head_rows, value_head=kind == "critic", lora_rank=lora, weight_decay=0.1,
                          lora_targets=["q_proj", "v_proj", "o_proj", "up_proj", "down_proj"])
                factors, scale = None, 1.0
                if lora:
                    # B is 0 at first; one update away from it both factors have a gradient.
                    probe.ask(kind, passes=passes_of(kind, sequences, extra, 5))
                    probe.ask("step", lr=0.05)
                    factors, scale = state(probe, "weights"), 32 / lora
                    assert any(f.endswith("v_proj.lora_B") for f in factors) and not any("k_proj" in f for f in factors)
                loss64, exact, _, _ = golden(model, kind, sequences, extra, torch.float64, factors, scale)
                _, single, model32, named32 = golden(model, kind, sequences, extra, torch.float32, factors, scale)
                reply = probe.ask(kind, passes=passes_of(kind, sequences, extra, per_pass), clip=VALUE_CLIP)
                if kind != "sft":
                    assert abs(reply["loss"] - loss64) < 1e-4 * max(1, abs(loss64)), (what, reply["loss"], loss64)
                worst = max(worst, compare(state(probe, "gradients"), exact, single, what))
                if lora:
                    continue
                # One AdamW update with clipping: what PyTorch makes of its own fp32 gradients.
                matrices = [p for p in named32.values() if p.dim() >= 2]
                vectors = [p for p in named32.values() if p.dim() < 2]
                optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                               {"params": vectors, "weight_decay": 0.0}], lr=1e-3, betas=(0.9, 0.95))
                before = state(probe, "weights")
                norm = torch.nn.utils.clip_grad_norm_([p for p in named32.values() if p.grad is not None], 1.0).item()
                optimizer.step()
                outcome = probe.ask("step", lr=1e-3)
                assert outcome["applied"] and abs(outcome["norm"] - norm) < 1e-4 * norm, (what, outcome, norm)
                after = state(probe, "weights")
                for name, p in named32.items():
                    if p.grad is None:
                        continue
                    # A gradient element near 0 moves by lr whichever sign rounding gave it: weigh by magnitude.
                    heavy = p.grad.abs() > 1e-3 * p.grad.abs().max()
                    off = ((after[name] - p.detach()).abs() * heavy).max().item()
                    assert off < 2e-5, f"{what} {name}: update off by {off}"
                    if heavy.any():
                        assert (after[name] - before[name]).abs().max() > 5e-4, f"{what} {name} did not move"
            report.append(f"{family} {kind}{' lora' if lora else ''} {worst:.1e}")
    report.append(f"muon {muon(probe, device):.1e}")
    # A non-finite gradient is skipped and nothing moves.
    probe.ask("open", model=write_tiny(tempfile.mkdtemp()), device=device, compute="fp32")
    before = state(probe, "weights")
    broken = [{"sequences": [{"tokens": [1, 2, 3], "targets": [1, 2]}], "derivatives": [1e38, -1e38]}]
    for _ in range(3):
        probe.ask("sft", passes=broken)
    outcome = probe.ask("step", lr=1e-3)
    assert not outcome["applied"], outcome
    assert all(torch.equal(before[k], v) for k, v in state(probe, "weights").items())
    probe.ask("sft", passes=[{**broken[0], "derivatives": [-1.0, -1.0]}])
    assert probe.ask("step", lr=1e-3)["applied"]
    # Log-probabilities without gradients are those of the pass with them, bit for bit.
    fine = probe.ask("sft", passes=[{**broken[0], "derivatives": [-1.0, -1.0]}])["outputs"]
    assert fine == probe.ask("evaluate", sequences=broken[0]["sequences"])["outputs"]
    for bad, word in (({"tokens": [1, 9999], "targets": [1]}, "vocabulary"), ({"tokens": [1, 2], "targets": [2]}, "target")):
        try:
            probe.ask("evaluate", sequences=[bad])
            raise AssertionError("accepted")
        except RuntimeError as error:
            assert word in str(error), error
    probe.close()
    print("largest difference from fp64, of the norm: " + "; ".join(report))


def orthogonalised(matrix):
    """Five Newton-Schulz iterations as torch.optim.Muon makes them, in the matrix's own type."""
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


def muon(probe, device):
    """Updates of Muon against its formula in fp64, three in a row since momentum counts from the second on; the formula against
    torch.optim.Muon, whose iterations in bf16 differ by a sixth of an update."""
    decay, rate, beta, worst = 0.1, 2e-3, 0.95, 0.0
    rng = random.Random("muon")
    with tempfile.TemporaryDirectory() as folder:
        model = make_model(make_config("qwen3", rng), folder, 11)
        sequences, extra = make_batch(rng, model, "sft", 5)
        probe.ask("open", model=folder, device=device, compute="fp32", weight_decay=decay, muon=True)
        momenta = {}
        for step in range(3):
            probe.ask("sft", passes=passes_of("sft", sequences, extra, 5))
            before, gradients = state(probe, "weights"), state(probe, "gradients")
            outcome = probe.ask("step", lr=rate)
            scale = min(1.0, 1.0 / (outcome["norm"] + 1e-6))
            after, first, second = (state(probe, kind) for kind in ("weights", "first", "second"))
            matrices = [n for n, w in before.items() if ".layers." in n and w.dim() == 2]
            assert len(matrices) % 7 == 0 and len(matrices) < len(before)
            for name in matrices:
                gradient = gradients[name].double() * scale
                momenta[name] = momenta.get(name, torch.zeros_like(gradient)).lerp(gradient, 1 - beta)
                direction = orthogonalised(gradient.lerp(momenta[name], beta))
                wanted = before[name].double() * (1 - rate * decay) - rate * 0.2 * max(direction.shape) ** 0.5 * direction
                moved = (wanted - before[name]).norm().item()
                off = (after[name] - wanted).norm().item() / moved
                assert off < 1e-3, f"muon {name}, step {step}: off by {off:.1e} of the update"
                assert (first[name] - momenta[name]).norm() <= 1e-5 * momenta[name].norm() and not second[name].any(), name
                worst = max(worst, off)
                if hasattr(torch.optim, "Muon") and step == 0:
                    parameter = torch.nn.Parameter(before[name].clone())
                    parameter.grad = (gradients[name] * scale).clone()
                    torch.optim.Muon([parameter], lr=rate, weight_decay=decay, momentum=beta, adjust_lr_fn="match_rms_adamw").step()
                    theirs = (parameter.detach() - wanted).norm().item() / moved
                    assert theirs < 0.3, f"muon {name}: torch.optim.Muon differs by {theirs:.1e} of the update"
            others = set(before) - set(matrices)
            assert all(second[name].any() for name in others if gradients[name].any())
    return worst


def write_tiny(folder):
    make_model(make_config("qwen3", random.Random(3)), folder, 3)
    return folder


main()
