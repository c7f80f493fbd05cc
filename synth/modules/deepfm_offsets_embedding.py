import torch
import torch.nn as nn


class FeaturesEmbedding(nn.Module):
    def __init__(self, field_dims, embed_dim):
        super().__init__()
        self.embedding = nn.Embedding(sum(field_dims), embed_dim)
        starts = [sum(field_dims[:i]) for i in range(len(field_dims))]
        self.register_buffer("offsets", torch.tensor(starts))

    def forward(self, x):
        return self.embedding(x + self.offsets.unsqueeze(0))


class Model(nn.Module):
    def __init__(self, field_dims, embed_dim, mlp_dim):
        super().__init__()
        self.embedding = FeaturesEmbedding(field_dims, embed_dim)
        self.linear = FeaturesEmbedding(field_dims, 1)
        self.bias = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(len(field_dims) * embed_dim, mlp_dim), nn.ReLU(), nn.Linear(mlp_dim, 1))

    def forward(self, x):
        """
        :param x: Long tensor of size ``(batch_size, num_fields)``
        """
        embed_x = self.embedding(x)
        square_of_sum = torch.sum(embed_x, dim=1) ** 2
        sum_of_square = torch.sum(embed_x ** 2, dim=1)
        fm = 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True)
        y = self.linear(x).sum(dim=1) + self.bias + fm + self.mlp(embed_x.flatten(1))
        return torch.sigmoid(y.squeeze(1))


def get_inputs():
    return [torch.randint(0, 500, (4096, 10))]


def get_init_inputs():
    return [[500] * 10, 16, 128]
