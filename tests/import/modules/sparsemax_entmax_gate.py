import torch
from torch import nn

ROWS, COLS = 512, 64
N_ITER = 20


def _make_ix_like(input, dim=0):
    d = input.size(dim)
    rho = torch.arange(1, d + 1, device=input.device, dtype=input.dtype)
    view = [1] * input.dim()
    view[0] = -1
    return rho.view(view).transpose(0, dim)


def sparsemax(X, dim=-1):
    max_val, _ = X.max(dim=dim, keepdim=True)
    X = X - max_val
    topk, _ = torch.sort(X, dim=dim, descending=True)
    rhos = _make_ix_like(topk, dim)
    topk_cumsum = topk.cumsum(dim) - 1
    support = rhos * topk > topk_cumsum
    support_size = support.sum(dim=dim).unsqueeze(dim)
    tau = topk_cumsum.gather(dim, support_size - 1)
    tau /= support_size.to(X.dtype)
    return torch.clamp(X - tau, min=0)


def entmax_bisect(X, alpha=1.5, dim=-1, n_iter=50):
    X = X * (alpha - 1)
    max_val, _ = X.max(dim=dim, keepdim=True)
    d = X.shape[dim]
    p = lambda z: torch.clamp(z, min=0) ** (1 / (alpha - 1))
    tau_lo = max_val - 1
    tau_hi = max_val - (1 / d) ** (alpha - 1)
    f_lo = p(X - tau_lo).sum(dim) - 1
    dm = tau_hi - tau_lo
    for it in range(n_iter):
        dm = dm / 2
        tau_m = tau_lo + dm
        p_m = p(X - tau_m)
        f_m = p_m.sum(dim) - 1
        mask = (f_m * f_lo >= 0).unsqueeze(dim)
        tau_lo = torch.where(mask, tau_m, tau_lo)
    return p_m / p_m.sum(dim=dim).unsqueeze(dim=dim)


class Model(nn.Module):
    def __init__(self, cols, n_iter):
        super().__init__()
        self.fc = nn.Linear(cols, cols)
        self.n_iter = n_iter

    def forward(self, x):
        gate = sparsemax(self.fc(x))
        return x * gate, entmax_bisect(x, n_iter=self.n_iter)


def get_inputs():
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [COLS, N_ITER]
