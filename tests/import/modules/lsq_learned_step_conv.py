import torch
import torch.nn as nn
import torch.nn.functional as F

NBITS = 4
CH = 32
HW = 24

def grad_scale(x, scale):
    y = x
    y_grad = x * scale
    return y.detach() - y_grad.detach() + y_grad

def round_pass(x):
    y = x.round()
    y_grad = x
    return y.detach() - y_grad.detach() + y_grad

class LsqQuan(nn.Module):
    def __init__(self, bit, all_positive=False, symmetric=False, per_channel=True):
        super().__init__()
        if all_positive:
            assert not symmetric, "Positive quantization cannot be symmetric"
            self.thd_neg, self.thd_pos = 0, 2 ** bit - 1
        else:
            self.thd_neg = -2 ** (bit - 1) + (1 if symmetric else 0)
            self.thd_pos = 2 ** (bit - 1) - 1
        self.per_channel = per_channel
        self.s = nn.Parameter(torch.ones(1))

    def init_from(self, x):
        if self.per_channel:
            self.s = nn.Parameter(x.detach().abs().mean(dim=list(range(1, x.dim())), keepdim=True) * 2 / (self.thd_pos ** 0.5))
        else:
            self.s = nn.Parameter(x.detach().abs().mean() * 2 / (self.thd_pos ** 0.5))

    def forward(self, x):
        s_grad_scale = 1.0 / ((self.thd_pos * x.numel()) ** 0.5)
        s_scale = grad_scale(self.s, s_grad_scale)
        x = x / s_scale
        x = torch.clamp(x, self.thd_neg, self.thd_pos)
        x = round_pass(x)
        return x * s_scale

class Model(nn.Conv2d):
    def __init__(self, ch, bit):
        super().__init__(ch, ch, 3, padding=1)
        self.quan_w_fn = LsqQuan(bit)
        self.quan_a_fn = LsqQuan(bit, all_positive=True, per_channel=False)
        self.quan_w_fn.init_from(self.weight)
        self.quan_a_fn.init_from(torch.rand(100))

    def forward(self, x):
        return self._conv_forward(self.quan_a_fn(x), self.quan_w_fn(self.weight), bias=self.bias)

def get_inputs():
    return [torch.rand(4, CH, HW, HW)]

def get_init_inputs():
    return [CH, NBITS]
