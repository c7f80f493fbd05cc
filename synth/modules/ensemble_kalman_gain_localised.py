import torch
import torch.nn as nn


class Model(nn.Module):
    """Serial ensemble filter update for one observed variable with distance localisation."""

    def __init__(self, n_state, observed, obs_var, radius):
        super().__init__()
        self.observed = observed
        self.obs_var = obs_var
        d = (torch.arange(n_state) - observed).abs().float()
        self.register_buffer("taper", torch.exp(-0.5 * (d / radius) ** 2))

    def forward(self, ens, obs):
        # ens (batch, members, n_state), obs (batch,)
        m = ens.shape[1]
        anomalies = ens - ens.mean(dim=1, keepdim=True)
        hx = anomalies[:, :, self.observed]
        cov = torch.einsum("bmn,bm->bn", anomalies, hx) / (m - 1)
        var = hx.pow(2).sum(1) / (m - 1)
        gain = self.taper * cov / (var + self.obs_var).unsqueeze(1)
        innovation = obs.unsqueeze(1) - ens[:, :, self.observed]
        return ens + innovation.unsqueeze(2) * gain.unsqueeze(1)


def get_inputs():
    return [torch.randn(100, 30, 400), torch.randn(100)]


def get_init_inputs():
    return [400, 200, 0.5, 25.0]
