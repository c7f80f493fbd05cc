import torch


class Model(torch.nn.Module):
    """Affine coupling: half of the features transforms the other half.

    Returns the transformed vector and the log-determinant.
    """

    def __init__(self, features: int, hidden: int, flip: bool = False):
        super().__init__()
        self.half = features // 2
        self.flip = flip
        self.net = torch.nn.Sequential(
            torch.nn.Linear(self.half, hidden),
            torch.nn.ReLU(),
            torch.nn.Linear(hidden, 2 * (features - self.half)),
        )

    def forward(self, x):
        a, b = x[:, : self.half], x[:, self.half :]
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, dim=1)
        log_s = torch.tanh(log_s)
        b = b * log_s.exp() + t
        y = torch.cat([b, a], dim=1) if self.flip else torch.cat([a, b], dim=1)
        return y, log_s.sum(dim=1)


def get_inputs():
    return [torch.randn(4100, 120)]


def get_init_inputs():
    return [120, 240, True]
