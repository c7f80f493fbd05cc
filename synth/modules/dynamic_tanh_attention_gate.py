import torch, torch.nn as nn, torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkvg = nn.Linear(d, 4 * d, bias=False)
        self.o = nn.Linear(d, d, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v, g = self.qkvg(x).split(d, -1)
        q, k, v = [a.view(b, t, self.h, -1).transpose(1, 2) for a in (q, k, v)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(b, t, d) * torch.sigmoid(g)  # output gate
        return self.o(y)

def get_inputs():
    return [torch.randn(3, 200, 320)]

def get_init_inputs():
    return [320, 5]
