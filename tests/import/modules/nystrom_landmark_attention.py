import torch
import torch.nn as nn
import torch.nn.functional as F

SEQ, HEAD_DIM, HEADS, LANDMARKS = 256, 24, 4, 16
PINV_ITERATIONS = 4


def moore_penrose_iter_pinv(x, iters=6):
    abs_x = torch.abs(x)
    col = abs_x.sum(dim=-1)
    row = abs_x.sum(dim=-2)
    z = x.transpose(-1, -2) / (torch.max(col) * torch.max(row))
    I = torch.eye(x.shape[-1], device=x.device).unsqueeze(0)
    for _ in range(iters):
        xz = x @ z
        z = 0.25 * z @ (13 * I - (xz @ (15 * I - (xz @ (7 * I - xz)))))
    return z


class Model(nn.Module):
    def __init__(self, heads, head_dim, landmarks, iters, conv_kernel=9):
        super().__init__()
        dim = heads * head_dim
        self.heads, self.m, self.iters = heads, landmarks, iters
        self.scale = head_dim ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.res_conv = nn.Conv2d(heads, heads, (conv_kernel, 1), padding=(conv_kernel // 2, 0), groups=heads, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = [t.view(b, n, self.heads, -1).permute(0, 2, 1, 3) for t in self.to_qkv(x).chunk(3, -1)]
        q = q * self.scale
        l = n // self.m
        q_land = q.reshape(b, self.heads, self.m, l, -1).mean(3)
        k_land = k.reshape(b, self.heads, self.m, l, -1).mean(3)
        kernel_1 = F.softmax(q @ k_land.mT, dim=-1)
        kernel_2 = F.softmax(q_land @ k_land.mT, dim=-1)
        kernel_3 = F.softmax(q_land @ k.mT, dim=-1)
        out = (kernel_1 @ moore_penrose_iter_pinv(kernel_2, self.iters)) @ (kernel_3 @ v)
        out = out + self.res_conv(v)
        return self.to_out(out.permute(0, 2, 1, 3).reshape(b, n, d))


def get_inputs():
    return [torch.randn(2, SEQ, HEADS * HEAD_DIM)]


def get_init_inputs():
    return [HEADS, HEAD_DIM, LANDMARKS, PINV_ITERATIONS]
