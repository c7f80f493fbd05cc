import torch

M, K, N = 128, 256, 192

def quant_rows(x):
    s = x.abs().amax(dim=-1, keepdim=True).clamp_min(1e-5) / 127.0
    return (x / s).round().clamp(-128, 127).to(torch.int8), s

class Model(torch.nn.Module):
    def __init__(self, k, n):
        super().__init__()
        w = torch.randn(n, k) / k ** .5
        q, s = quant_rows(w)
        self.register_buffer("wq", q)
        self.register_buffer("ws", s)
        self.outlier_threshold = 6.0

    def forward(self, x):
        # LLM.int8 style: outlier columns stay in float, by zeroing instead of gathering
        outlier = (x.abs() > self.outlier_threshold).any(dim=0)
        x_reg = x.masked_fill(outlier, 0.0)
        x_out = x - x_reg
        q, s = quant_rows(x_reg)
        acc = q.to(torch.int32).matmul(self.wq.to(torch.int32).T)
        y = acc.float() * s * self.ws.T
        return y + x_out @ (self.wq.float() * self.ws).T

def get_inputs():
    x = torch.randn(M, K)
    x[:, :3] *= 9
    return [x]

def get_init_inputs():
    return [K, N]
