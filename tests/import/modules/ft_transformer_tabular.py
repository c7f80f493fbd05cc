"""Feature tokeniser + transformer for tables with numerical and categorical columns."""
import math
from typing import List, Optional

import torch
import torch.nn as nn
import torch.nn.init as nn_init
from torch import Tensor

N_NUM = 8
CATEGORIES = [4, 10, 7]
D_TOKEN = 48
N_LAYERS = 2
ROWS = 32


def reglu(x: Tensor) -> Tensor:
    a, b = x.chunk(2, dim=-1)
    return a * torch.relu(b)


class Tokenizer(nn.Module):
    category_offsets: Optional[Tensor]

    def __init__(self, d_numerical: int, categories: Optional[List[int]], d_token: int, bias: bool) -> None:
        super().__init__()
        if categories is None:
            d_bias = d_numerical
            self.category_offsets = None
            self.category_embeddings = None
        else:
            d_bias = d_numerical + len(categories)
            category_offsets = torch.tensor([0] + categories[:-1]).cumsum(0)
            self.register_buffer('category_offsets', category_offsets)
            self.category_embeddings = nn.Embedding(sum(categories), d_token)
            nn_init.kaiming_uniform_(self.category_embeddings.weight, a=math.sqrt(5))
        # take [CLS] token into account
        self.weight = nn.Parameter(Tensor(d_numerical + 1, d_token))
        self.bias = nn.Parameter(Tensor(d_bias, d_token)) if bias else None
        nn_init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            nn_init.kaiming_uniform_(self.bias, a=math.sqrt(5))

    def forward(self, x_num: Tensor, x_cat: Optional[Tensor]) -> Tensor:
        x_some = x_num if x_cat is None else x_cat
        assert x_some is not None
        x_num = torch.cat(
            [torch.ones(len(x_some), 1, device=x_some.device)] + ([] if x_num is None else [x_num]), dim=1)
        x = self.weight[None] * x_num[:, :, None]
        if x_cat is not None:
            x = torch.cat([x, self.category_embeddings(x_cat + self.category_offsets[None])], dim=1)
        if self.bias is not None:
            bias = torch.cat([torch.zeros(1, self.bias.shape[1], device=x.device), self.bias])
            x = x + bias[None]
        return x


class Model(nn.Module):
    def __init__(self, d_num, categories, d_token, n_layers):
        super().__init__()
        self.tokenizer = Tokenizer(d_num, categories, d_token, True)
        self.layers = nn.ModuleList([])
        for layer_idx in range(n_layers):
            layer = nn.ModuleDict({
                'attention': nn.MultiheadAttention(d_token, 4, batch_first=True),
                'linear0': nn.Linear(d_token, 2 * 64),
                'linear1': nn.Linear(64, d_token),
                'norm1': nn.LayerNorm(d_token),
            })
            if layer_idx:
                layer['norm0'] = nn.LayerNorm(d_token)
            self.layers.append(layer)
        self.head = nn.Linear(d_token, 1)

    def forward(self, x_num: Tensor, x_cat: Optional[Tensor] = None) -> Tensor:
        x = self.tokenizer(x_num, x_cat)
        for i, layer in enumerate(self.layers):
            last = i + 1 == len(self.layers)
            r = layer['norm0'](x) if 'norm0' in layer else x
            q = r[:, :1] if last else r
            r = layer['attention'](q, r, r, need_weights=False)[0]
            x = (x[:, :1] if last else x) + r
            r = layer['linear1'](reglu(layer['linear0'](layer['norm1'](x))))
            x = x + r
        return self.head(x[:, 0].relu()).squeeze(-1)


def get_inputs():
    return [torch.randn(ROWS, N_NUM), torch.stack([torch.randint(0, c, (ROWS,)) for c in CATEGORIES], 1)]


def get_init_inputs():
    return [N_NUM, CATEGORIES, D_TOKEN, N_LAYERS]
