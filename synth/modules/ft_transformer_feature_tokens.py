import torch
import torch.nn as nn


class Model(nn.Module):
    # numerical and categorical features to tokens, class token first
    def __init__(self, n_num, cards, d):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_num + 1, d) * 0.05)
        self.bias = nn.Parameter(torch.zeros(n_num + len(cards), d))
        self.register_buffer("category_offsets", torch.tensor([0] + cards[:-1]).cumsum(0))
        self.category_embeddings = nn.Embedding(sum(cards), d)

    def forward(self, x_num, x_cat):
        x_num = torch.cat([torch.ones(len(x_num), 1, device=x_num.device), x_num], dim=1)
        x = self.weight[None] * x_num[:, :, None]
        x = torch.cat([x, self.category_embeddings(x_cat + self.category_offsets[None])], dim=1)
        bias = torch.cat([torch.zeros(1, self.bias.shape[1], device=x.device), self.bias])
        return x + bias[None]


def get_inputs():
    return [torch.randn(1000, 12), torch.randint(0, 5, (1000, 4))]


def get_init_inputs():
    return [12, [5, 7, 9, 6], 64]
