import torch
import torch.nn as nn


def extract(a, t, x_shape):
    out = a.gather(-1, t)
    return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))


class Model(nn.Module):
    """Predicts x0 from eps, clips it and returns the sample of q(x_{t-1} | x_t, x0). Noise is an input."""

    def __init__(self, timesteps):
        super().__init__()
        betas = torch.linspace(1e-4, 0.02, timesteps)
        ac = torch.cumprod(1.0 - betas, dim=0)
        prev = torch.cat([torch.ones(1), ac[:-1]])
        variance = betas * (1 - prev) / (1 - ac)
        for name, value in (
            ("recip", (1 / ac).sqrt()),
            ("recipm1", (1 / ac - 1).sqrt()),
            ("coef1", betas * prev.sqrt() / (1 - ac)),
            ("coef2", (1 - prev) * (1 - betas).sqrt() / (1 - ac)),
            ("log_var", variance.clamp(min=1e-20).log()),
        ):
            self.register_buffer(name, value)

    def forward(self, x_t, eps, t, noise):
        s = x_t.shape
        x0 = extract(self.recip, t, s) * x_t - extract(self.recipm1, t, s) * eps
        x0 = x0.clamp(-1.0, 1.0)
        mean = extract(self.coef1, t, s) * x0 + extract(self.coef2, t, s) * x_t
        nonzero = (t != 0).float().view(-1, 1, 1, 1)
        return mean + nonzero * (0.5 * extract(self.log_var, t, s)).exp() * noise


def get_inputs():
    s = (16, 3, 64, 64)
    return [torch.randn(s), torch.randn(s), torch.randint(0, 1000, (16,)), torch.randn(s)]


def get_init_inputs():
    return [1000]
