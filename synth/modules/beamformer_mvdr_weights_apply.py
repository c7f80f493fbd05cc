import torch
import torch.nn as nn


class Model(nn.Module):
    """Applies complex weights (two real tensors) over microphones, gives log power with a noise floor."""

    def __init__(self, mics: int, bins: int, beams: int):
        super().__init__()
        self.w_re = nn.Parameter(torch.randn(beams, bins, mics) / mics)
        self.w_im = nn.Parameter(torch.randn(beams, bins, mics) / mics)

    def forward(self, spec: torch.Tensor) -> torch.Tensor:
        re, im = spec[..., 0], spec[..., 1]  # (B, M, T, F)
        out_re = torch.einsum("kfm,bmtf->bktf", self.w_re, re) + torch.einsum("kfm,bmtf->bktf", self.w_im, im)
        out_im = torch.einsum("kfm,bmtf->bktf", self.w_re, im) - torch.einsum("kfm,bmtf->bktf", self.w_im, re)
        return torch.log(out_re ** 2 + out_im ** 2 + 1e-5)


def get_inputs():
    return [torch.randn(2, 6, 100, 257, 2)]


def get_init_inputs():
    return [6, 257, 5]
