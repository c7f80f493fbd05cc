import torch
import torch.nn as nn

N = 256                 # must be a power of two
NBLOCKS = 4
ROWS = 512


def blockdiag_multiply(x, weight):
    nblocks, q, p = weight.shape
    batch_shape = x.shape[:-1]
    x_r = x.reshape(-1, nblocks, p).transpose(0, 1)
    out = torch.bmm(x_r, weight.transpose(1, 2)).transpose(0, 1)
    return out.reshape(*batch_shape, nblocks * q)


class Butterfly(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.log_n = n.bit_length() - 1
        self.twiddle = nn.Parameter(torch.randn(self.log_n, n // 2, 2, 2) / 2 ** 0.5)

    def forward(self, x):
        b = x.shape[0]
        for i in range(self.log_n):
            stride = 1 << i
            t = self.twiddle[i].view(self.n // (2 * stride), stride, 2, 2).permute(0, 2, 3, 1)
            x = x.view(b, self.n // (2 * stride), 1, 2, stride)
            x = (t * x).sum(dim=3).view(b, self.n)
        return x


class Model(nn.Module):
    def __init__(self, n, nblocks):
        super().__init__()
        k = n // nblocks
        self.blkdiag1 = nn.Parameter(torch.randn(nblocks, k, k) / k ** .5)
        self.blkdiag2 = nn.Parameter(torch.randn(nblocks, k, k) / k ** .5)
        self.nblocks = nblocks
        self.butterfly = Butterfly(n)

    def forward(self, x):
        y = blockdiag_multiply(x, self.blkdiag1)
        y = y.unflatten(-1, (self.nblocks, -1)).transpose(-1, -2).flatten(-2)
        y = blockdiag_multiply(y, self.blkdiag2)
        return self.butterfly(y) + x


def get_inputs():
    return [torch.randn(ROWS, N)]


def get_init_inputs():
    return [N, NBLOCKS]
