import torch
import torch.nn as nn

GRID_H, GRID_W, WIDTH, HEADS = 10, 12, 64, 4

def axial_angles(h, w, dim, base=100.0):
    freq = 1.0 / base ** (torch.arange(0, dim, 4)[: dim // 4].float() / dim)
    ys, xs = torch.arange(h * w).div(w, rounding_mode="floor").float(), (torch.arange(h * w) % w).float()
    return torch.cat([torch.outer(xs, freq), torch.outer(ys, freq)], dim=-1)

def rotate(x, cos, sin):
    pairs = x.float().reshape(*x.shape[:-1], -1, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    out = torch.empty_like(pairs)
    out[..., 0] = a * cos - b * sin
    out[..., 1] = a * sin + b * cos
    return out.flatten(3).type_as(x)

class Model(nn.Module):
    def __init__(self, h, w, width, heads, registers=2):
        super().__init__()
        self.heads, self.n_reg = heads, registers
        ang = axial_angles(h, w, width // heads)
        self.register_buffer("cos", ang.cos(), persistent=False)
        self.register_buffer("sin", ang.sin(), persistent=False)
        self.reg = nn.Parameter(torch.randn(1, registers, width) * .02)
        self.qkv = nn.Linear(width, 3 * width)
        self.o = nn.Linear(width, width)
    def forward(self, x):
        x = torch.cat((self.reg.expand(x.shape[0], -1, -1), x), 1)
        B, N, C = x.shape
        q, k, v = self.qkv(x).view(B, N, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        r = self.n_reg
        # register tokens carry no position
        q = torch.cat((q[:, :, :r], rotate(q[:, :, r:], self.cos, self.sin)), dim=2)
        k = torch.cat((k[:, :, :r], rotate(k[:, :, r:], self.cos, self.sin)), dim=2)
        y = nn.functional.scaled_dot_product_attention(q, k, v, scale=0.2)
        return self.o(y.transpose(1, 2).flatten(2))[:, r:]

def get_inputs():
    return [torch.randn(4, GRID_H * GRID_W, WIDTH)]
def get_init_inputs():
    return [GRID_H, GRID_W, WIDTH, HEADS]
