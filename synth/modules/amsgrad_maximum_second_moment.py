import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, lr, b1, b2):
        super().__init__()
        self.lr, self.b1, self.b2 = lr, b1, b2

    def forward(self, theta, g, m, v, v_hat):
        m = self.b1 * m + (1 - self.b1) * g
        v = self.b2 * v + (1 - self.b2) * (g * g)
        v_hat = torch.max(v_hat, v)
        theta = theta - self.lr * m / (torch.sqrt(v_hat) + 1e-8)
        return {"theta": theta, "m": m, "v": v, "v_hat": v_hat}

def get_inputs():
    return [torch.randn(500000), torch.randn(500000), torch.randn(500000), torch.rand(500000), torch.rand(500000)]

def get_init_inputs():
    return [0.002, 0.9, 0.99]
