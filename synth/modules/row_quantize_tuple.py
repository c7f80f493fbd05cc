import torch


class Model(torch.nn.Module):
    """Symmetric quantisation of activations, a scale for every row."""

    def __init__(self, levels: float = 127.0):
        super().__init__()
        self.levels = levels

    def forward(self, x):
        scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-6) / self.levels
        q = torch.clamp(torch.round(x / scale), -self.levels, self.levels)
        return q, scale


def get_init_inputs():
    return []


def get_inputs():
    return [torch.randn(350, 2100)]
