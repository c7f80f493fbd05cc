"""KL divergence as a row-wise dot product of p with log p - log q."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def forward(self, student, teacher):
        log_p = F.log_softmax(teacher, dim=-1)
        difference = log_p - F.log_softmax(student, dim=-1)
        return torch.linalg.vecdot(log_p.exp_(), difference)
