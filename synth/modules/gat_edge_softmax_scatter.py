import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """GAT layer on an edge list; the softmax over incoming edges uses scatter_reduce for the maximum."""

    def __init__(self, in_dim, out_dim, heads, negative_slope=0.2):
        super().__init__()
        self.heads, self.out_dim, self.slope = heads, out_dim, negative_slope
        self.lin = nn.Linear(in_dim, heads * out_dim, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, out_dim) * 0.2)
        self.att_dst = nn.Parameter(torch.randn(1, heads, out_dim) * 0.2)

    def forward(self, x, src, dst):
        n = x.size(0)
        h = self.lin(x).view(n, self.heads, self.out_dim)
        alpha = (h * self.att_src).sum(-1)[src] + (h * self.att_dst).sum(-1)[dst]
        alpha = F.leaky_relu(alpha, self.slope)
        index = dst[:, None].expand_as(alpha)
        peak = torch.full((n, self.heads), -1e30, device=x.device).scatter_reduce(0, index, alpha, "amax")
        alpha = (alpha - peak[dst]).exp()
        denom = torch.zeros(n, self.heads, device=x.device).scatter_add(0, index, alpha)
        alpha = alpha / (denom[dst] + 1e-16)
        out = torch.zeros_like(h).index_add(0, dst, h[src] * alpha.unsqueeze(-1))
        return out.flatten(1)


def get_inputs():
    return [torch.randn(3000, 64), torch.randint(0, 3000, (20000,)), torch.randint(0, 3000, (20000,))]


def get_init_inputs():
    return [64, 16, 4]
