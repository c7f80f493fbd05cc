import torch
import torch.nn as nn

LR = 2e-4


class Model(nn.Module):
    """AdamW on fp32 master weights from scaled fp16 gradients; the new weights are also given in fp16."""

    def __init__(self, lr, decay, loss_scale):
        super().__init__()
        self.lr = lr
        self.decay = decay
        self.inv_scale = 1.0 / loss_scale

    def forward(self, master, grad_half, m, v):
        g = grad_half.float() * self.inv_scale
        m = torch.lerp(m, g, 0.1)
        v = 0.999 * v + 0.001 * g * g
        master = master * (1 - self.lr * self.decay)
        master = master - self.lr * m / (v.sqrt() + 1e-6)
        return master, master.half(), m, v


def get_inputs():
    n = (600, 850)
    return [torch.randn(n), torch.randn(n).half(), torch.zeros(n), torch.rand(n)]


def get_init_inputs():
    return [LR, 0.1, 128.0]
