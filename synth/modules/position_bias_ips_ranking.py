import torch
import torch.nn as nn


class Model(nn.Module):
    """Unbiased listwise ranking: clicks reweighted by learned inverse propensities of positions."""

    def __init__(self, n_features, n_positions):
        super().__init__()
        self.scorer = nn.Sequential(nn.Linear(n_features, 64), nn.ELU(), nn.Linear(64, 1))
        self.propensity_logit = nn.Parameter(torch.linspace(2.0, -1.0, n_positions))

    def forward(self, docs, clicks, n_docs):
        s = self.scorer(docs)[..., 0]
        real = torch.arange(s.size(1), device=s.device)[None] < n_docs[:, None]
        s = s.masked_fill(~real, -1e8)
        ipw = (1.0 / torch.sigmoid(self.propensity_logit)).clamp(max=10.0)
        w = clicks * ipw * real
        return -(w * torch.log_softmax(s, dim=1)).sum(1) / w.sum(1).clamp(min=1.0)


def get_inputs():
    return [torch.randn(512, 20, 46), (torch.rand(512, 20) < 0.15).float(), torch.randint(5, 21, (512,))]


def get_init_inputs():
    return [46, 20]
