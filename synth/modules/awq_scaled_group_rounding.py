import torch
import torch.nn as nn


def pseudo_quantize_tensor(w, n_bit=4, q_group_size=64):
    org_shape = w.shape
    w = w.reshape(-1, q_group_size)
    max_val = w.amax(dim=1, keepdim=True)
    min_val = w.amin(dim=1, keepdim=True)
    max_int = 2**n_bit - 1
    scales = (max_val - min_val).clamp(min=1e-5) / max_int
    zeros = (-torch.round(min_val / scales)).clamp(0, max_int)
    w = (torch.clamp(torch.round(w / scales) + zeros, 0, max_int) - zeros) * scales
    return w.reshape(org_shape)


class Model(nn.Module):
    """AWQ search step: error of the layer output for one candidate ratio of activation-aware scales."""

    def __init__(self, cin, cout):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(cout, cin) * 0.05)

    def forward(self, x, ratio: float = 0.5):
        x_max = x.abs().mean(0)
        scales = x_max.pow(ratio).clamp(min=1e-4)
        scales = scales / (scales.max() * scales.min()).sqrt()
        w_q = pseudo_quantize_tensor(self.weight * scales) / scales
        err = (x @ (self.weight - w_q).t()).pow(2).mean()
        return err, scales


def get_inputs():
    return [torch.randn(500, 512) * torch.rand(512), 0.4]


def get_init_inputs():
    return [512, 512]
