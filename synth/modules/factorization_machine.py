import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, field_dims, embed_dim):
        super().__init__()
        total = sum(field_dims)
        self.embedding = nn.Embedding(total, embed_dim)
        self.fc = nn.Embedding(total, 1)
        self.bias = nn.Parameter(torch.zeros(1))
        offsets = torch.tensor([0] + list(field_dims[:-1])).cumsum(0)
        self.register_buffer('offsets', offsets)

    def forward(self, x):
        x = x + self.offsets
        e = self.embedding(x)  # batch, fields, k
        square_of_sum = e.sum(dim=1) ** 2
        sum_of_square = (e ** 2).sum(dim=1)
        inter = 0.5 * (square_of_sum - sum_of_square).sum(dim=1, keepdim=True)
        linear = self.fc(x).sum(dim=1) + self.bias
        return torch.sigmoid((linear + inter).squeeze(1))


FIELDS = [1200, 340, 75, 12, 2200]


def get_inputs():
    return [torch.stack([torch.randint(0, n, (22000,)) for n in FIELDS], dim=1)]


def get_init_inputs():
    return [FIELDS, 24]
