import torch
import torch.nn as nn
import torch.nn.functional as F


class GATLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W = nn.Linear(d_in, d_out, bias=False)
        self.a_src = nn.Parameter(torch.randn(d_out) * 0.1)
        self.a_dst = nn.Parameter(torch.randn(d_out) * 0.1)

    def forward(self, x, src, dst):
        n = x.size(0)
        h = self.W(x)
        e = F.leaky_relu((h * self.a_src).sum(-1)[src] + (h * self.a_dst).sum(-1)[dst], 0.2)
        w = torch.exp(e.clamp(-10, 10))
        denom = torch.zeros(n, device=x.device).index_add(0, dst, w)
        out = torch.zeros_like(h).index_add(0, dst, w.unsqueeze(1) * h[src])
        return out / (denom.unsqueeze(1) + 1e-9)


class Model(nn.Module):
    def __init__(self, d_in, d_hid, d_out):
        super().__init__()
        self.l1 = GATLayer(d_in, d_hid)
        self.l2 = GATLayer(d_hid, d_out)

    def forward(self, x, edges):
        src, dst = edges.unbind(0)
        return self.l2(F.elu(self.l1(x, src, dst)), src, dst)


def get_inputs():
    return [torch.randn(1800, 90), torch.randint(0, 1800, (2, 9000))]


def get_init_inputs():
    return [90, 48, 12]
