import torch
import torch.nn as nn

QUANT_CHANNELS = 256
N = 120000

class Model(nn.Module):
    def __init__(self, quantization_channels: int = 256):
        super().__init__()
        self.quantization_channels = quantization_channels

    def encode(self, x):
        mu = self.quantization_channels - 1.0
        if not x.is_floating_point():
            x = x.to(torch.float)
        mu = torch.tensor(mu, dtype=x.dtype, device=x.device)
        x_mu = torch.sign(x) * torch.log1p(mu * torch.abs(x)) / torch.log1p(mu)
        return ((x_mu + 1) / 2 * mu + 0.5).to(torch.int64)

    def decode(self, x_mu):
        mu = self.quantization_channels - 1.0
        x_mu = x_mu.to(torch.float)
        mu = torch.tensor(mu, dtype=x_mu.dtype, device=x_mu.device)
        x = ((x_mu) / mu) * 2 - 1.0
        return torch.sign(x) * (torch.exp(torch.abs(x) * torch.log1p(mu)) - 1.0) / mu

    def forward(self, wav):
        codes = self.encode(wav)
        return codes, self.decode(codes)

def get_inputs():
    return [torch.rand(2, N) * 2 - 1]

def get_init_inputs():
    return [QUANT_CHANNELS]
