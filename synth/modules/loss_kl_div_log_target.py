import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """KL divergence between two distributions that are both given as logits."""

    def __init__(self, temperature: float):
        super().__init__()
        self.tau = temperature

    def forward(self, student, teacher):
        log_q = F.log_softmax(student / self.tau, dim=-1)
        log_p = F.log_softmax(teacher / self.tau, dim=-1)
        return F.kl_div(log_q, log_p, reduction="batchmean", log_target=True) * self.tau ** 2


def get_inputs():
    return [torch.randn(600, 1200), torch.randn(600, 1200)]


def get_init_inputs():
    return [4.0]
