import torch
import torch.nn as nn


class Model(nn.Module):
    # landmarks = segment means; two-stage softmax without the inverse
    def __init__(self, num_landmarks):
        super().__init__()
        self.m = num_landmarks

    def forward(self, q, k, v):
        b, h, n, d = q.shape
        q = q * d ** -0.5
        k_l = k.reshape(b, h, self.m, n // self.m, d).mean(dim=3)
        q_l = q.reshape(b, h, self.m, n // self.m, d).mean(dim=3)
        left = torch.softmax(q @ k_l.transpose(-1, -2), dim=-1)
        right = torch.softmax(q_l @ k.transpose(-1, -2), dim=-1)
        return left @ (right @ v)


def get_inputs():
    return [torch.randn(2, 8, 768, 32) for _ in range(3)]


def get_init_inputs():
    return [48]
