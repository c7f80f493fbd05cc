import torch
import torch.nn as nn


class Model(nn.Module):
    """One DDIM step from t to t_prev, with clipping of the predicted sample."""

    def __init__(self, num_steps: int, clip: float):
        super().__init__()
        betas = torch.linspace(1e-4, 0.02, num_steps)
        self.register_buffer("alphas_cumprod", torch.cumprod(1.0 - betas, dim=0))
        self.clip = clip

    def forward(self, x_t, eps, t, t_prev):
        a_t = self.alphas_cumprod[t].view(-1, 1, 1, 1)
        a_prev = self.alphas_cumprod[t_prev].view(-1, 1, 1, 1)
        x0 = (x_t - (1 - a_t).sqrt() * eps) / a_t.sqrt()
        x0 = x0.clamp(-self.clip, self.clip)
        return a_prev.sqrt() * x0 + (1 - a_prev).sqrt() * eps


def get_inputs():
    b = 9
    t = torch.randint(1, 400, (b,))
    return [torch.randn(b, 4, 96, 96), torch.randn(b, 4, 96, 96), t, t - 1]


def get_init_inputs():
    return [400, 1.0]
