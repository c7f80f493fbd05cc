import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Matrix-vector product y = alpha * A x + beta * y0.
    """
    def __init__(self, alpha: float, beta: float):
        super(Model, self).__init__()
        self.alpha = alpha
        self.beta = beta

    def forward(self, A: torch.Tensor, x: torch.Tensor, y0: torch.Tensor) -> torch.Tensor:
        return torch.addmv(y0, A, x, beta=self.beta, alpha=self.alpha)

M, K = 640, 16000

def get_inputs():
    return [torch.rand(M, K), torch.rand(K), torch.rand(M)]

def get_init_inputs():
    return [0.75, -1.5]
