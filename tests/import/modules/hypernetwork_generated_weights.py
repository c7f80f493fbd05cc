import torch
import torch.nn as nn
import torch.nn.functional as F

TASK_DIM, IN, HID, OUT = 16, 48, 64, 10
B, N = 32, 256


class Model(nn.Module):
    """A hypernetwork writes a two-layer MLP for each task of the batch."""

    SHAPES = {"w1": (IN, HID), "b1": (HID,), "w2": (HID, OUT), "b2": (OUT,)}

    def __init__(self, task_dim: int):
        super().__init__()
        self.sizes = [int(torch.tensor(s).prod()) for s in self.SHAPES.values()]
        self.generator = nn.Sequential(nn.Linear(task_dim, 64), nn.ReLU(), nn.Linear(64, sum(self.sizes)))

    def parameters_of(self, task):
        flat = self.generator(task)
        pieces = torch.split(flat, self.sizes, dim=-1)
        return {k: p.view(-1, *s) for (k, s), p in zip(self.SHAPES.items(), pieces)}

    def forward(self, task, x):
        p = self.parameters_of(task)
        h = torch.baddbmm(p["b1"].unsqueeze(1), x, p["w1"]).clamp(min=0)
        return torch.baddbmm(p["b2"].unsqueeze(1), h, p["w2"])


def get_inputs():
    return [torch.randn(B, TASK_DIM), torch.randn(B, N, IN)]


def get_init_inputs():
    return [TASK_DIM]
