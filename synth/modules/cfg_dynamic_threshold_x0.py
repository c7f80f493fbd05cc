import torch
from torch import nn


class Model(nn.Module):
    """Classifier-free guidance on a doubled batch, then max-based dynamic thresholding of the clean estimate."""

    def __init__(self, guidance_scale: float, floor: float = 1.0):
        super().__init__()
        self.guidance_scale = guidance_scale
        self.floor = floor

    def forward(self, noise_pred, latents, alpha_bar):
        uncond, text = noise_pred.chunk(2)
        eps = uncond + self.guidance_scale * (text - uncond)
        a = alpha_bar[:, None, None, None]
        x0 = (latents - (1 - a) ** 0.5 * eps) / a ** 0.5
        s = x0.abs().flatten(1).amax(dim=1).clamp(min=self.floor)
        s = s.view(-1, 1, 1, 1)
        return torch.maximum(torch.minimum(x0, s), -s) / s


def get_inputs():
    return [torch.randn(16, 4, 64, 64), torch.randn(8, 4, 64, 64), torch.rand(8) * 0.8 + 0.1]


def get_init_inputs():
    return [7.5]
