import torch
import torch.nn as nn
import torch.nn.functional as F

BITS = 8
IN_F, OUT_F, ROWS = 256, 256, 256


class UniformQuantizer(nn.Module):
    def __init__(self, bits=8, symmetric=False, per_channel=False, axis=0):
        super().__init__()
        self.symmetric, self.per_channel, self.axis = symmetric, per_channel, axis
        if symmetric:
            self.qmin, self.qmax = -2 ** (bits - 1), 2 ** (bits - 1) - 1
        else:
            self.qmin, self.qmax = 0, 2 ** bits - 1

    def scale_zp(self, x):
        if self.per_channel:
            dims = [d for d in range(x.dim()) if d != self.axis]
            lo, hi = x.amin(dims, keepdim=True), x.amax(dims, keepdim=True)
        else:
            lo, hi = x.min(), x.max()
        if self.symmetric:
            scale = torch.maximum(lo.abs(), hi.abs()) / self.qmax
            return scale.clamp(min=1e-8), torch.zeros_like(scale)
        lo, hi = lo.clamp(max=0.), hi.clamp(min=0.)
        scale = ((hi - lo) / (self.qmax - self.qmin)).clamp(min=1e-8)
        return scale, self.qmin - torch.round(lo / scale)

    def forward(self, x):
        scale, zp = self.scale_zp(x)
        q = torch.clamp(torch.round(x / scale) + zp, self.qmin, self.qmax)
        dq = (q - zp) * scale
        return x + (dq - x).detach()  # straight through


class QuantLinear(nn.Linear):
    def __init__(self, *args, bits=8, **kwargs):
        super().__init__(*args, **kwargs)
        self.wq = UniformQuantizer(bits, symmetric=True, per_channel=True)
        self.aq = UniformQuantizer(bits)

    def forward(self, x):
        return F.linear(self.aq(x), self.wq(self.weight), self.bias)


class Model(nn.Module):
    def __init__(self, fin, fout, bits):
        super().__init__()
        self.l1 = QuantLinear(fin, fout, bits=bits)
        self.l2 = QuantLinear(fout, fin, bits=bits, bias=False)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


def get_inputs():
    return [torch.randn(ROWS, IN_F)]


def get_init_inputs():
    return [IN_F, OUT_F, BITS]
