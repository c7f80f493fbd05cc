import torch

M, N = 512, 384
EPS1, EPS2 = 1e-30, 1e-3

def _rms(t):
    return t.norm(2) / (t.numel() ** 0.5)

def _approx_sq_grad(exp_avg_sq_row, exp_avg_sq_col):
    r_factor = (exp_avg_sq_row / exp_avg_sq_row.mean(dim=-1, keepdim=True)).rsqrt_().unsqueeze(-1)
    c_factor = exp_avg_sq_col.unsqueeze(-2).rsqrt()
    return torch.mul(r_factor, c_factor)

class Model(torch.nn.Module):
    def __init__(self, clip_threshold=1.0, beta2=0.98, lr=1e-2):
        super().__init__()
        self.clip_threshold, self.beta2t, self.lr = clip_threshold, beta2, lr

    def forward(self, p, grad, row, col):
        update = (grad ** 2) + EPS1
        row = row.mul(self.beta2t).add_(update.mean(dim=-1), alpha=(1.0 - self.beta2t))
        col = col.mul(self.beta2t).add_(update.mean(dim=-2), alpha=(1.0 - self.beta2t))
        update = _approx_sq_grad(row, col)
        update.mul_(grad)
        update.div_((_rms(update) / self.clip_threshold).clamp_(min=1.0))
        lr = torch.clamp(_rms(p), min=EPS2) * self.lr
        return p - lr * update, row, col

def get_inputs():
    return [torch.randn(M, N), torch.randn(M, N), torch.rand(M), torch.rand(N)]

def get_init_inputs():
    return []
