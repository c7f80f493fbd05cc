import torch
import torch.nn as nn

ROWS, COLS = 256, 192
NS_STEPS = 5


def zeropower_via_newtonschulz5(G, steps: int):
    assert G.ndim >= 2
    a, b, c = (3.4445, -4.7750, 2.0315)
    X = G
    if G.size(-2) > G.size(-1):
        X = X.mT
    # Ensure spectral norm is at most 1
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        A = X @ X.mT
        B = b * A + c * A @ A
        X = a * X + B @ X
    if G.size(-2) > G.size(-1):
        X = X.mT
    return X


class Model(nn.Module):
    def __init__(self, lr=0.02, momentum=0.95, nesterov=True, ns_steps=5):
        super().__init__()
        self.lr, self.momentum, self.nesterov, self.ns_steps = lr, momentum, nesterov, ns_steps

    def forward(self, p, g, buf):
        buf = torch.lerp(buf, g, 1 - self.momentum)
        g = g.lerp(buf, self.momentum) if self.nesterov else buf
        g = zeropower_via_newtonschulz5(g, steps=self.ns_steps)
        return p.add(g, alpha=-self.lr * max(1, p.size(-2) / p.size(-1)) ** 0.5), buf


def get_inputs():
    return [torch.randn(ROWS, COLS) * .02, torch.randn(ROWS, COLS), torch.randn(ROWS, COLS) * .1]


def get_init_inputs():
    return [0.02, 0.95, True, NS_STEPS]
