import torch
import torch.nn as nn

CTX = 14
N_EMBD = 48

# RWKV-4 time mixing. The WKV loop is numerically stabilised by tracking the running maximum.
class Model(nn.Module):
    def __init__(self, n_embd, layer_ratio):
        super().__init__()
        self.time_decay = nn.Parameter(-5 + 8 * (torch.arange(n_embd) / (n_embd - 1)) ** (0.7 + 1.3 * layer_ratio))
        self.time_first = nn.Parameter(torch.ones(n_embd) * -1.2)
        ramp = torch.arange(n_embd)[None, None, :] / n_embd
        self.time_mix_k = nn.Parameter(ramp ** (1 - layer_ratio))
        self.time_mix_v = nn.Parameter(ramp ** (1 - layer_ratio) + 0.3 * layer_ratio)
        self.time_mix_r = nn.Parameter(ramp ** (0.5 * (1 - layer_ratio)))
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.key = nn.Linear(n_embd, n_embd, bias=False)
        self.value = nn.Linear(n_embd, n_embd, bias=False)
        self.receptance = nn.Linear(n_embd, n_embd, bias=False)
        self.output = nn.Linear(n_embd, n_embd, bias=False)

    def wkv(self, k, v):
        B, T, C = k.shape
        w = -torch.exp(self.time_decay)
        u = self.time_first
        aa = k.new_zeros(B, C); bb = k.new_zeros(B, C); pp = torch.full((B, C), -1e38, device=k.device)
        out = []
        for t in range(T):
            kk, vv = k[:, t], v[:, t]
            ww = u + kk
            p = torch.maximum(pp, ww)
            e1, e2 = torch.exp(pp - p), torch.exp(ww - p)
            out.append((e1 * aa + e2 * vv) / (e1 * bb + e2))
            ww = pp + w
            p = torch.maximum(ww, kk)
            e1, e2 = torch.exp(ww - p), torch.exp(kk - p)
            aa = e1 * aa + e2 * vv
            bb = e1 * bb + e2
            pp = p
        return torch.stack(out, 1)

    def forward(self, x):
        xx = self.time_shift(x)
        xk = x * self.time_mix_k + xx * (1 - self.time_mix_k)
        xv = x * self.time_mix_v + xx * (1 - self.time_mix_v)
        xr = x * self.time_mix_r + xx * (1 - self.time_mix_r)
        r = torch.sigmoid(self.receptance(xr))
        return self.output(r * self.wkv(self.key(xk), self.value(xv)))

def get_inputs():
    return [torch.randn(2, CTX, N_EMBD)]

def get_init_inputs():
    return [N_EMBD, 0.5]
