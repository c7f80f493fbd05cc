import torch
import torch.nn as nn

momentum = 0.996


class Model(nn.Module):
    # exponential moving average of the student's weights, as in self-distillation
    def __init__(self, m):
        super().__init__()
        self.m = m

    def forward(self, teacher, student, step, total):
        frac = step / total
        m = 1.0 - (1.0 - self.m) * (1.0 - frac)
        return [t * m + (1 - m) * s for t, s in zip(teacher, student)]


def get_inputs():
    shapes = [(384, 700), (700,), (90, 700)]
    teacher = [torch.randn(*s) for s in shapes]
    student = [torch.randn(*s) for s in shapes]
    return [teacher, student, 250, 1000]


def get_init_inputs():
    return [momentum]
