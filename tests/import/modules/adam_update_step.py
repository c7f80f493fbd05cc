"""One fused-looking AdamW step as a pure function of parameter, gradient and state."""
import torch
from torch import nn, Tensor
from typing import NamedTuple

NUMEL = 300_000


class AdamState(NamedTuple):
    exp_avg: Tensor
    exp_avg_sq: Tensor
    step: Tensor


def adamw(param, grad, state, *, lr, beta1, beta2, eps, weight_decay, amsgrad=False, maximize=False):
    grad = grad if not maximize else -grad
    step = state.step + 1
    param = param * (1 - lr * weight_decay)
    exp_avg = state.exp_avg.lerp(grad, 1 - beta1)
    exp_avg_sq = state.exp_avg_sq.mul(beta2).addcmul(grad, grad, value=1 - beta2)
    bias_correction1 = 1 - beta1 ** step
    bias_correction2 = 1 - beta2 ** step
    denom = (exp_avg_sq.sqrt() / bias_correction2.sqrt()).add(eps)
    param = param - (lr / bias_correction1) * exp_avg / denom
    return param, AdamState(exp_avg, exp_avg_sq, step)


class Model(nn.Module):
    def __init__(self, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, max_norm=1.0):
        super().__init__()
        self.hyper = dict(lr=lr, beta1=betas[0], beta2=betas[1], eps=eps, weight_decay=weight_decay)
        self.max_norm = max_norm

    def forward(self, param, grad, m, v, step):
        total_norm = grad.norm()
        clip_coef = torch.clamp(self.max_norm / (total_norm + 1e-6), max=1.0)
        param, state = adamw(param, grad * clip_coef, AdamState(m, v, step), **self.hyper)
        return param, *state


def get_inputs():
    return [torch.randn(NUMEL), torch.randn(NUMEL), torch.zeros(NUMEL), torch.rand(NUMEL) * 1e-3, torch.tensor(3.0)]


def get_init_inputs():
    return []
