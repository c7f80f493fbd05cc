import torch
import torch.nn as nn


def tower(d):
    return nn.Sequential(nn.Linear(d, 80), nn.ReLU(), nn.Linear(80, 1))


class Model(nn.Module):
    """ESMM: pCTCVR = pCTR * pCVR; both losses over the whole exposure space."""

    def __init__(self, d):
        super().__init__()
        self.towers = nn.ModuleDict({"ctr": tower(d), "cvr": tower(d)})

    def forward(self, x, click, buy):
        p_ctr = torch.sigmoid(self.towers["ctr"](x)).squeeze(-1)
        p_cvr = torch.sigmoid(self.towers["cvr"](x)).squeeze(-1)
        p_ctcvr = p_ctr * p_cvr
        loss = nn.functional.binary_cross_entropy(p_ctr, click) + nn.functional.binary_cross_entropy(p_ctcvr, buy * click)
        return p_ctcvr, loss


def get_inputs():
    return [torch.randn(4096, 160), torch.randint(0, 2, (4096,)).float(), torch.randint(0, 2, (4096,)).float()]


def get_init_inputs():
    return [160]
