import torch
import torch.nn as nn


class Model(nn.Module):
    """Beam candidates: running log probabilities plus a step's log-softmax, finished beams frozen, length-normalised."""

    def __init__(self, vocab: int, eos: int, alpha: float):
        super().__init__()
        onehot = torch.full((vocab,), -1e4)
        onehot[eos] = 0.0
        self.register_buffer("only_eos", onehot)
        self.alpha = alpha

    def forward(self, logits, running, finished, lengths):
        logp = torch.log_softmax(logits, dim=-1)
        logp = torch.where(finished[..., None], self.only_eos, logp)
        total = running[..., None] + logp
        new_len = lengths + (~finished).long()
        norm = ((5.0 + new_len.float()) / 6.0) ** self.alpha
        return total / norm[..., None]


B, K, V = 14, 5, 9100


def get_inputs():
    return [torch.randn(B, K, V), -torch.rand(B, K) * 9, torch.rand(B, K) > 0.7, torch.randint(1, 30, (B, K))]


def get_init_inputs():
    return [V, 2, 0.6]
