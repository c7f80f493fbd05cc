import torch
import torch.nn as nn


class Model(nn.Module):
    """Cepstral mean/variance normalisation over the valid frames, then given time and band masks."""

    def forward(self, feats, lengths, t0, t_len, f0, f_len):
        b, t, f = feats.shape
        ti = torch.arange(t, device=feats.device).view(1, t)
        fi = torch.arange(f, device=feats.device).view(1, f)
        valid = (ti < lengths[:, None]).unsqueeze(-1).to(feats.dtype)
        count = valid.sum(1, keepdim=True)
        mean = (feats * valid).sum(1, keepdim=True) / count
        var = ((feats - mean).pow(2) * valid).sum(1, keepdim=True) / count
        x = (feats - mean) / torch.sqrt(var + 1e-5)
        drop_t = (ti >= t0[:, None]) & (ti < (t0 + t_len)[:, None])
        drop_f = (fi >= f0[:, None]) & (fi < (f0 + f_len)[:, None])
        dropped = drop_t.unsqueeze(2) | drop_f.unsqueeze(1)
        return x.masked_fill(dropped, 0.0) * valid


def get_inputs():
    b = 15
    ints = lambda lo, hi: torch.randint(lo, hi, (b,))
    return [torch.randn(b, 430, 80), ints(200, 431), ints(0, 150), ints(5, 40), ints(0, 50), ints(3, 20)]


def get_init_inputs():
    return []
