import torch
import torch.nn as nn

ACT2FN = {
    "relu2": lambda x: torch.relu(x).square(),
    "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": nn.functional.silu,
    "tanh": torch.tanh,
}


class Model(nn.Module):
    def __init__(self, dims, acts):
        super().__init__()
        assert len(dims) - 1 == len(acts)
        self.fcs = nn.ModuleList(
            [nn.Linear(i, o, dtype=torch.bfloat16) for i, o in zip(dims[:-1], dims[1:])]
        )
        self.act_fns = [ACT2FN[a] for a in acts]

    def forward(self, x):
        for fc, act in zip(self.fcs, self.act_fns):
            x = act(fc(x))
        return x


def get_inputs():
    return [torch.randn(1600, 210, dtype=torch.bfloat16)]


def get_init_inputs():
    return [[210, 330, 150, 90], ["relu2", "quick_gelu", "tanh"]]
