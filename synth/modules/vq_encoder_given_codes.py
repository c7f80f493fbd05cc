import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """VQ decoder side: code indices are looked up and decoded, with a commitment loss against encodings."""

    def __init__(self, n_codes, d, out_ch):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, d)
        self.codebook.weight.data.uniform_(-1 / n_codes, 1 / n_codes)
        self.dec = nn.Sequential(
            nn.Conv2d(d, d, 3, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(d, d // 2, 4, stride=2, padding=1), nn.ReLU(),
            nn.ConvTranspose2d(d // 2, out_ch, 4, stride=2, padding=1),
        )

    def forward(self, z_e, codes):
        z_q = self.codebook(codes).permute(0, 3, 1, 2)
        commit = F.mse_loss(z_e, z_q)
        return self.dec(z_q), 0.25 * commit


def get_inputs():
    return [torch.randn(24, 48, 14, 18), torch.randint(0, 300, (24, 14, 18))]


def get_init_inputs():
    return [300, 48, 3]
