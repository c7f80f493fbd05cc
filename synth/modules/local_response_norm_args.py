import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self, size: int, alpha: float, beta: float, k: float):
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.local_response_norm(x, size=self.size, alpha=self.alpha, beta=self.beta, k=self.k)

def get_inputs():
    return [torch.randn(4, 40, 55, 55)]

def get_init_inputs():
    return [5, 1e-3, 0.75, 1.0]
