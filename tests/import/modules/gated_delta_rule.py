import torch
import torch.nn as nn
import torch.nn.functional as F

B, T, HEADS, DK, DV = 2, 16, 2, 16, 24

def l2norm(x, eps=1e-6):
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + eps)

def recurrent_delta(q, k, v, beta, g):
    b, h, t, d = q.shape
    S = q.new_zeros(b, h, d, v.shape[-1])
    o = torch.zeros_like(v)
    for i in range(t):
        S = S * g[:, :, i, None, None].exp()
        k_i, v_i, q_i = k[:, :, i], v[:, :, i], q[:, :, i]
        kv_mem = (S * k_i[..., None]).sum(-2)
        delta = (v_i - kv_mem) * beta[:, :, i, None]
        S = S + k_i[..., None] * delta[..., None, :]
        o[:, :, i] = (S * q_i[..., None]).sum(-2)
    return o, S

class Model(nn.Module):
    def __init__(self, heads, dk, dv):
        super().__init__()
        self.heads, self.dk, self.dv = heads, dk, dv
        hid = heads * dv
        self.in_proj = nn.Linear(hid, heads * (2 * dk + 2 * dv + 2))
        self.A_log = nn.Parameter(torch.log(torch.linspace(1, 8, heads)))
        self.norm = nn.RMSNorm(dv)
        self.out = nn.Linear(hid, hid, bias=False)
    def forward(self, x):
        b, t, _ = x.shape
        p = self.in_proj(x).view(b, t, self.heads, -1).transpose(1, 2)
        q, k, v, z, bt, a = p.split([self.dk, self.dk, self.dv, self.dv, 1, 1], -1)
        g = -self.A_log.exp()[None, :, None] * F.softplus(a.squeeze(-1))
        o, S = recurrent_delta(l2norm(q) * self.dk ** -.5, l2norm(k), F.silu(v), bt.squeeze(-1).sigmoid(), g)
        o = self.norm(o) * F.silu(z)
        return self.out(o.transpose(1, 2).reshape(b, t, -1)), S

def get_inputs():
    return [torch.randn(B, T, HEADS * DV)]
def get_init_inputs():
    return [HEADS, DK, DV]
