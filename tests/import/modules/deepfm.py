import torch
from torch import nn
from collections import OrderedDict

FIELD_DIMS = (40, 100, 12, 64, 30)
EMBED_DIM = 8
MLP_DIMS = (64, 32)
SAMPLES = 2048


class FeaturesLinear(nn.Module):
    def __init__(self, field_dims, output_dim=1):
        super().__init__()
        self.fc = nn.Embedding(sum(field_dims), output_dim)
        self.bias = nn.Parameter(torch.zeros((output_dim,)))
        offsets = [0]
        for d in field_dims[:-1]:
            offsets.append(offsets[-1] + d)
        self.register_buffer("offsets", torch.tensor(offsets, dtype=torch.long))

    def forward(self, x):
        x = x + self.offsets.unsqueeze(0)
        return torch.sum(self.fc(x), dim=1) + self.bias


class FactorizationMachine(nn.Module):
    def __init__(self, reduce_sum=True):
        super().__init__()
        self.reduce_sum = reduce_sum

    def forward(self, x):
        square_of_sum = torch.sum(x, dim=1) ** 2
        sum_of_square = torch.sum(x ** 2, dim=1)
        ix = square_of_sum - sum_of_square
        if self.reduce_sum:
            ix = torch.sum(ix, dim=1, keepdim=True)
        return 0.5 * ix


class Model(nn.Module):
    def __init__(self, field_dims, embed_dim, mlp_dims):
        super().__init__()
        self.linear = FeaturesLinear(field_dims)
        self.fm = FactorizationMachine()
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        nn.init.xavier_uniform_(self.embedding.weight.data)
        layers = OrderedDict()
        size = len(field_dims) * embed_dim
        for i, d in enumerate(mlp_dims):
            layers[f"fc{i}"] = nn.Linear(size, d)
            layers[f"bn{i}"] = nn.BatchNorm1d(d)
            layers[f"act{i}"] = nn.ReLU()
            layers[f"drop{i}"] = nn.Dropout(p=0.0)
            size = d
        layers["out"] = nn.Linear(size, 1)
        self.mlp = nn.Sequential(layers)

    def forward(self, x):
        embed_x = self.embedding(x + self.linear.offsets)
        x = self.linear(x) + self.fm(embed_x) + self.mlp(embed_x.flatten(start_dim=1))
        return torch.sigmoid(x.squeeze(1))


def get_inputs():
    return [torch.stack([torch.randint(0, d, (SAMPLES,)) for d in FIELD_DIMS], dim=1)]


def get_init_inputs():
    return [FIELD_DIMS, EMBED_DIM, MLP_DIMS]
