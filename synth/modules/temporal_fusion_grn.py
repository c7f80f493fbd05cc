import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Gated residual network of the temporal fusion transformer, with context."""

    def __init__(self, input_size, hidden_size, output_size, context_size):
        super().__init__()
        self.skip = nn.Linear(input_size, output_size)
        self.fc1 = nn.Linear(input_size, hidden_size)
        self.context = nn.Linear(context_size, hidden_size, bias=False)
        self.fc2 = nn.Linear(hidden_size, hidden_size)
        self.gate = nn.Linear(hidden_size, 2 * output_size)
        self.norm = nn.LayerNorm(output_size)

    def forward(self, x, context):
        hidden = self.fc1(x) + self.context(context)[:, None, :]
        hidden = self.fc2(F.elu(hidden))
        return self.norm(F.glu(self.gate(hidden), dim=-1) + self.skip(x))


def get_inputs():
    return [torch.randn(64, 48, 60), torch.randn(64, 32)]


def get_init_inputs():
    return [60, 96, 80, 32]
