import torch
import torch.nn as nn


class Model(nn.Module):
    """GE2E: utterances against speaker centroids; the own centroid leaves the utterance out."""

    def __init__(self, init_w=10.0, init_b=-5.0):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(init_w))
        self.b = nn.Parameter(torch.tensor(init_b))

    def forward(self, dvecs):
        N, M, D = dvecs.shape
        e = dvecs / dvecs.norm(dim=-1, keepdim=True)
        total = e.sum(dim=1)
        cent = total / M
        cent = cent / cent.norm(dim=-1, keepdim=True)
        own = (total.unsqueeze(1) - e) / (M - 1)
        own = own / own.norm(dim=-1, keepdim=True)
        sim = torch.einsum("nmd,kd->nmk", e, cent)
        same = torch.eye(N, dtype=torch.bool, device=e.device).unsqueeze(1)
        sim = torch.where(same, (e * own).sum(-1, keepdim=True), sim)
        sim = sim * self.w.clamp(min=1e-6) + self.b
        return (torch.logsumexp(sim, -1) - sim.masked_fill(~same, 0.0).sum(-1)).mean()


def get_inputs():
    return [torch.randn(64, 10, 256)]


def get_init_inputs():
    return []
