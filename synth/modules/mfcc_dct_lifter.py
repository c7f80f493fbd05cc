import math
import torch
import torch.nn as nn


class Model(nn.Module):
    """Log-mel energies -> orthonormal DCT-II -> sinusoidal liftering -> cepstral mean subtraction."""

    def __init__(self, n_mels, n_mfcc, lifter):
        super().__init__()
        k = torch.arange(n_mfcc).unsqueeze(1)
        n = torch.arange(n_mels).unsqueeze(0)
        dct = torch.cos(math.pi / n_mels * (n + 0.5) * k) * math.sqrt(2.0 / n_mels)
        dct[0] *= 1 / math.sqrt(2.0)
        self.register_buffer("dct_mat", dct.t().contiguous())
        self.register_buffer("lift", 1 + lifter / 2 * torch.sin(math.pi * torch.arange(n_mfcc) / lifter))

    def forward(self, mel_energy):
        log_mel = torch.log(mel_energy + 1e-6)
        cepstra = torch.matmul(log_mel, self.dct_mat)
        cepstra = cepstra * self.lift
        return cepstra - cepstra.mean(dim=1, keepdim=True)


def get_inputs():
    return [torch.rand(16, 800, 64)]


def get_init_inputs():
    return [64, 20, 22]
