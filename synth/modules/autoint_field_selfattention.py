import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, embedding_size, head_num=2, use_res=True, scaling=False):
        super().__init__()
        self.att_embedding_size = embedding_size // head_num
        self.head_num = head_num
        self.use_res = use_res
        self.scaling = scaling
        self.W_Query = nn.Parameter(torch.randn(embedding_size, embedding_size) * 0.05)
        self.W_key = nn.Parameter(torch.randn(embedding_size, embedding_size) * 0.05)
        self.W_Value = nn.Parameter(torch.randn(embedding_size, embedding_size) * 0.05)
        self.W_Res = nn.Parameter(torch.randn(embedding_size, embedding_size) * 0.05) if use_res else None

    def forward(self, inputs):
        querys = torch.tensordot(inputs, self.W_Query, dims=([-1], [0]))
        keys = torch.tensordot(inputs, self.W_key, dims=([-1], [0]))
        values = torch.tensordot(inputs, self.W_Value, dims=([-1], [0]))

        querys = torch.stack(torch.split(querys, self.att_embedding_size, dim=2))
        keys = torch.stack(torch.split(keys, self.att_embedding_size, dim=2))
        values = torch.stack(torch.split(values, self.att_embedding_size, dim=2))

        inner_product = torch.einsum('bnik,bnjk->bnij', querys, keys)
        if self.scaling:
            inner_product = inner_product / self.att_embedding_size ** 0.5
        result = torch.matmul(torch.softmax(inner_product, dim=-1), values)
        result = torch.cat(torch.split(result, 1), dim=-1).squeeze(0)
        if self.use_res:
            result = result + inputs @ self.W_Res
        return torch.relu(result)


def get_inputs():
    return [torch.randn(1024, 26, 32)]


def get_init_inputs():
    return [32, 2, True, True]
