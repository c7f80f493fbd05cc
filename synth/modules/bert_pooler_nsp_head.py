import torch
from torch import nn

class Model(nn.Module):
    """Pooler over the first token and the two-way head on top."""

    def __init__(self, hidden_size: int = 384):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.activation = nn.Tanh()
        self.seq_relationship = nn.Linear(hidden_size, 2)

    def forward(self, hidden_states):
        first_token_tensor = hidden_states[:, 0]
        pooled_output = self.activation(self.dense(first_token_tensor))
        return self.seq_relationship(pooled_output), pooled_output

def get_inputs():
    return [torch.randn(64, 64, 384)]

def get_init_inputs():
    return [384]
