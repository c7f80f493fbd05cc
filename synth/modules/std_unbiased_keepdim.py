import torch


class Model(torch.nn.Module):
    '''Divide by the sample standard deviation of each channel.'''

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
        s = x.std(dim=(0, 2), keepdim=True, unbiased=True)
        return x / (s + eps)


def get_inputs():
    return [torch.randn(40, 36, 500)]


def get_init_inputs():
    return []
