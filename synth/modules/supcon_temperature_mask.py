import torch
import torch.nn as nn


class Model(nn.Module):
    """Supervised contrastive loss on given similarities: positives share the label, self pairs excluded."""

    def __init__(self, temperature=0.1, base_temperature=0.07):
        super().__init__()
        self.t = temperature
        self.ratio = temperature / base_temperature

    def forward(self, sims, labels):
        n = sims.shape[0]
        eye = torch.eye(n, dtype=torch.bool, device=sims.device)
        z = (sims / self.t).masked_fill(eye, -1e9)
        logp = z - torch.logsumexp(z, dim=1, keepdim=True)
        pos = (labels[:, None] == labels[None, :]) & ~eye
        s = torch.where(pos, logp, torch.zeros_like(logp)).sum(1)
        return -self.ratio * s / pos.sum(1).clamp(min=1)


def get_inputs():
    return [torch.rand(760, 760) * 2 - 1, torch.randint(0, 20, (760,))]


def get_init_inputs():
    return []
