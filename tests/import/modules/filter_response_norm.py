import torch
from torch import nn

N_IMG, C, S = 8, 48, 40

class FRN(nn.Module):
    # Filter response normalisation + thresholded linear unit
    def __init__(self, num_features, eps=1e-6, is_bias=True, is_scale=True, drop_tau=False):
        super(FRN, self).__init__()
        shape = (1, num_features, 1, 1)
        self.eps = nn.Parameter(torch.tensor(eps), requires_grad=False)
        self.weight = nn.Parameter(torch.ones(shape)) if is_scale else None
        self.bias = nn.Parameter(torch.zeros(shape)) if is_bias else None
        if drop_tau:
            self.register_parameter('tau', None)
        else:
            self.tau = nn.Parameter(torch.full(shape, -0.5))

    def forward(self, x):
        nu2 = torch.mean(x.pow(2), dim=[2, 3], keepdim=True)
        x = x * torch.rsqrt(nu2 + torch.abs(self.eps))
        if self.weight is not None:
            x = self.weight * x
        if self.bias is not None:
            x = x + self.bias
        if self.tau is not None:
            x = torch.max(x, self.tau)
        return x

class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a = FRN(c)
        self.b = FRN(c, is_bias=False, drop_tau=True)
    def forward(self, x):
        return self.b(self.a(x) * 2)

def get_inputs():
    return [torch.randn(N_IMG, C, S, S)]
def get_init_inputs():
    return [C]
