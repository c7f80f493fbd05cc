import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Mel bank times power spectrum, decibels, floor below the peak, and first differences in time."""

    def __init__(self, bins, mels, top_db=80.0):
        super().__init__()
        centre = torch.linspace(0, bins - 1, mels + 2)
        f = torch.arange(bins).float()[None]
        lo, mid, hi = centre[:-2, None], centre[1:-1, None], centre[2:, None]
        bank = torch.minimum((f - lo) / (mid - lo), (hi - f) / (hi - mid)).clamp(min=0)
        self.register_buffer("bank", bank)
        self.top_db = top_db

    def forward(self, power):
        mel = torch.matmul(self.bank, power)                 # B, mels, T
        db = 10.0 * torch.log10(mel.clamp(min=1e-8))
        peak = db.amax(dim=(1, 2), keepdim=True)
        db = torch.maximum(db, peak - self.top_db)
        delta = F.pad(db[..., 2:] - db[..., :-2], (1, 1)) * 0.5
        return db, delta


def get_inputs():
    return [torch.rand(8, 257, 340)]


def get_init_inputs():
    return [257, 40]
