import torch
import torch.nn as nn


class FeaturesLinear(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Embedding(n, 1)
        self.bias = nn.Parameter(torch.zeros((1,)))

    def forward(self, x):
        return torch.sum(self.fc(x), dim=1) + self.bias


class Model(nn.Module):
    """DeepFM; x holds indices already shifted by field offset."""

    def __init__(self, n_features, n_fields, embed_dim, mlp_dims):
        super().__init__()
        self.linear = FeaturesLinear(n_features)
        self.embedding = nn.Embedding(n_features, embed_dim)
        layers = []
        d = n_fields * embed_dim
        for m in mlp_dims:
            layers += [nn.Linear(d, m), nn.ReLU()]
            d = m
        layers.append(nn.Linear(d, 1))
        self.mlp = nn.Sequential(*layers)

    @staticmethod
    def fm(e):
        square_of_sum = e.sum(dim=1) ** 2
        sum_of_square = (e ** 2).sum(dim=1)
        return 0.5 * (square_of_sum - sum_of_square).sum(dim=1, keepdim=True)

    def forward(self, x):
        e = self.embedding(x)
        y = self.linear(x) + self.fm(e) + self.mlp(e.flatten(1))
        return torch.sigmoid(y.squeeze(1))


def get_inputs():
    return [torch.randint(0, 6000, (4000, 22))]


def get_init_inputs():
    return [6000, 22, 10, [120, 60]]
