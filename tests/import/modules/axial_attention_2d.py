import torch
import torch.nn as nn
from operator import itemgetter

HEIGHT, WIDTH, DIM, HEADS = 16, 20, 48, 4


def map_el_ind(arr, ind):
    return list(map(itemgetter(ind), arr))


def sort_and_return_indices(arr):
    indices = [ind for ind in range(len(arr))]
    arr = zip(arr, indices)
    arr = sorted(arr)
    return map_el_ind(arr, 0), map_el_ind(arr, 1)


class PermuteToFrom(nn.Module):
    def __init__(self, permutation, fn):
        super().__init__()
        self.fn = fn
        _, inv_permutation = sort_and_return_indices(permutation)
        self.permutation = permutation
        self.inv_permutation = inv_permutation

    def forward(self, x, **kwargs):
        axial = x.permute(*self.permutation).contiguous()
        shape = axial.shape
        *_, t, d = shape
        axial = axial.reshape(-1, t, d)
        axial = self.fn(axial, **kwargs)
        axial = axial.reshape(*shape)
        return axial.permute(*self.inv_permutation).contiguous()


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, kv=None):
        kv = x if kv is None else kv
        q, k, v = (self.to_q(x), *self.to_kv(kv).chunk(2, dim=-1))
        b, t, d, h = *q.shape, self.heads
        e = d // h
        merge_heads = lambda x: x.reshape(b, -1, h, e).transpose(1, 2).reshape(b * h, -1, e)
        q, k, v = map(merge_heads, (q, k, v))
        dots = torch.einsum('bie,bje->bij', q, k) * (e ** -0.5)
        out = torch.einsum('bij,bje->bie', dots.softmax(dim=-1), v)
        out = out.reshape(b, h, -1, e).transpose(1, 2).reshape(b, -1, d)
        return self.to_out(out)


class Model(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.axial_attentions = nn.ModuleList([
            PermuteToFrom([0, 3, 2, 1], SelfAttention(dim, heads)),
            PermuteToFrom([0, 2, 3, 1], SelfAttention(dim, heads)),
        ])

    def forward(self, x):
        return sum(map(lambda axial_attn: axial_attn(x), self.axial_attentions))


def get_inputs():
    return [torch.randn(2, DIM, HEIGHT, WIDTH)]


def get_init_inputs():
    return [DIM, HEADS]
