import torch
import torch.nn as nn

ETA_MINUS, ETA_PLUS = 0.5, 1.2
STEP_MIN, STEP_MAX = 1e-6, 50.0

class Model(nn.Module):
    """Resilient backpropagation: step sizes grow while the sign is kept."""
    def __init__(self):
        super().__init__()

    def forward(self, weight, grad, prev_grad, step_size):
        agree = (grad * prev_grad).sign()
        factor = torch.ones_like(agree)
        factor = torch.where(agree > 0, factor * ETA_PLUS, factor)
        factor = torch.where(agree < 0, factor * ETA_MINUS, factor)
        step_size = (step_size * factor).clamp(STEP_MIN, STEP_MAX)
        grad = torch.where(agree < 0, torch.zeros_like(grad), grad)
        return weight - grad.sign() * step_size, grad, step_size

def get_inputs():
    return [torch.randn(700, 700), torch.randn(700, 700), torch.randn(700, 700), torch.rand(700, 700)]

def get_init_inputs():
    return []
