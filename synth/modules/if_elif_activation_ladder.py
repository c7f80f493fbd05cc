import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, units, activation="swish", position="post"):
        super(Model, self).__init__()
        self.dense = nn.Linear(units, units)
        self.norm = nn.LayerNorm(units)
        self.activation = activation
        self.position = position

    def act(self, v):
        if self.activation == "relu":
            return F.relu(v)
        elif self.activation == "swish":
            return v * torch.sigmoid(v)
        elif self.activation == "gelu":
            return F.gelu(v, approximate="tanh")
        elif self.activation == "softsign":
            return v / (1 + v.abs())
        else:
            raise NotImplementedError(self.activation)

    def forward(self, v):
        if self.position == "pre":
            return v + self.dense(self.act(self.norm(v)))
        return self.norm(v + self.act(self.dense(v)))


def get_inputs():
    return [torch.randn(500, 384)]


def get_init_inputs():
    return [384, "softsign", "pre"]
