import torch
import torch.nn as nn


class Model(nn.Module):
    """GRN of the temporal fusion transformer with a static context and a projected skip."""

    def __init__(self, input_size, hidden_size, output_size, context_size):
        super().__init__()
        self.skip = nn.Linear(input_size, output_size)
        self.fc1 = nn.Linear(input_size, hidden_size)
        self.context = nn.Linear(context_size, hidden_size, bias=False)
        self.fc2 = nn.Linear(hidden_size, hidden_size)
        self.glu_fc = nn.Linear(hidden_size, output_size * 2)
        self.norm = nn.LayerNorm(output_size)

    def forward(self, x, context):
        h = self.fc1(x) + self.context(context).unsqueeze(1)
        h = nn.functional.elu(h)
        h = nn.functional.glu(self.glu_fc(self.fc2(h)), dim=-1)
        return self.norm(h + self.skip(x))


def get_inputs():
    return [torch.randn(64, 90, 40), torch.randn(64, 24)]


def get_init_inputs():
    return [40, 120, 80, 24]
