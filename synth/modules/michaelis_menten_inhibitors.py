import torch
import torch.nn as nn


class Model(nn.Module):
    """Reaction rates with competitive and uncompetitive inhibition; parameters per enzyme kept in log space."""

    def __init__(self, enzymes):
        super().__init__()
        for name in ("vmax", "km", "kic", "kiu"):
            setattr(self, "log_" + name, nn.Parameter(torch.randn(enzymes) * 0.3))

    def forward(self, substrate, inhibitor):
        vmax, km = self.log_vmax.exp(), self.log_km.exp()
        comp = 1 + inhibitor / self.log_kic.exp()
        unc = 1 + inhibitor / self.log_kiu.exp()
        rate = vmax * substrate / (km * comp + substrate * unc)
        return rate, rate.sum(-1)


def get_inputs():
    return [torch.rand(5000, 83) * 4, torch.rand(5000, 83)]


def get_init_inputs():
    return [83]
