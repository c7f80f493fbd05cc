import torch
import torch.nn as nn


class Model(nn.Module):
    """Rejection step of speculative decoding, uniform draws given.

    draft_probs, target_probs: [batch, k, vocab]; draft_ids, uniform: [batch, k]
    """

    def forward(self, target_probs, draft_probs, draft_ids, uniform):
        idx = draft_ids.unsqueeze(-1)
        p = target_probs.gather(-1, idx).squeeze(-1)
        q = draft_probs.gather(-1, idx).squeeze(-1)
        accepted = uniform < torch.clamp(p / q, max=1.0)
        n_accepted = accepted.long().cumprod(dim=-1).sum(-1)

        residual = (target_probs - draft_probs).clamp_min(0)
        residual = residual / residual.sum(-1, keepdim=True).clamp_min(torch.finfo(residual.dtype).tiny)
        return n_accepted, residual


def get_inputs():
    t = torch.softmax(torch.randn(16, 5, 8000), -1)
    d = torch.softmax(torch.randn(16, 5, 8000), -1)
    return [t, d, torch.randint(0, 8000, (16, 5)), torch.rand(16, 5)]


def get_init_inputs():
    return []
