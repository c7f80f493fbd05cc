import torch
import torch.nn as nn


class Model(nn.Module):
    """Order-book features: spread, micro price, depth-weighted imbalance of the first levels."""

    def __init__(self, levels, decay):
        super().__init__()
        self.register_buffer("w", decay ** torch.arange(levels).float())

    def forward(self, bid_px, bid_sz, ask_px, ask_sz):
        spread = ask_px[..., 0] - bid_px[..., 0]
        b0, a0 = bid_sz[..., 0], ask_sz[..., 0]
        micro = (ask_px[..., 0] * b0 + bid_px[..., 0] * a0) / (b0 + a0)
        wb = (bid_sz * self.w).sum(-1)
        wa = (ask_sz * self.w).sum(-1)
        imbalance = (wb - wa) / (wb + wa)
        rel = 1e4 * spread / micro
        return torch.stack((rel, micro, imbalance), dim=-1)


def get_inputs():
    s = (16, 3000, 10)
    return [99 + torch.rand(s), torch.rand(s) * 50 + 1, 100 + torch.rand(s), torch.rand(s) * 50 + 1]


def get_init_inputs():
    return [10, 0.8]
