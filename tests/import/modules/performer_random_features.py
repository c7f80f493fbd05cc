import torch
import math
from torch import nn

HEADS, LENGTH, HEAD_DIM, NB_FEATURES = 4, 512, 32, 64

def orthogonal_matrix_chunk(cols, generator):
    unstructured_block = torch.randn((cols, cols), generator=generator)
    q, r = torch.linalg.qr(unstructured_block, mode='reduced')
    return q.t()

def gaussian_orthogonal_random_matrix(nb_rows, nb_columns):
    g = torch.Generator().manual_seed(1234)
    nb_full_blocks = int(nb_rows / nb_columns)
    block_list = [orthogonal_matrix_chunk(nb_columns, g) for _ in range(nb_full_blocks)]
    final_matrix = torch.cat(block_list)
    multiplier = torch.randn((nb_rows, nb_columns), generator=g).norm(dim=1)
    return torch.diag(multiplier) @ final_matrix

def softmax_kernel(data, *, projection_matrix, is_query, normalize_data=True, eps=1e-4):
    b, h, *_ = data.shape
    data_normalizer = (data.shape[-1] ** -0.25) if normalize_data else 1.
    ratio = (projection_matrix.shape[0] ** -0.5)
    data_dash = torch.einsum('...id,jd->...ij', (data_normalizer * data), projection_matrix)
    diag_data = data ** 2
    diag_data = torch.sum(diag_data, dim=-1)
    diag_data = (diag_data / 2.0) * (data_normalizer ** 2)
    diag_data = diag_data.unsqueeze(dim=-1)
    if is_query:
        data_dash = ratio * (
            torch.exp(data_dash - diag_data - torch.amax(data_dash, dim=-1, keepdim=True).detach()) + eps)
    else:
        data_dash = ratio * (
            torch.exp(data_dash - diag_data - torch.amax(data_dash, dim=(-1, -2), keepdim=True).detach()) + eps)
    return data_dash.type_as(data)

class Model(nn.Module):
    def __init__(self, dim_heads, nb_features):
        super().__init__()
        self.register_buffer('projection_matrix', gaussian_orthogonal_random_matrix(nb_features, dim_heads))

    def forward(self, q, k, v):
        q = softmax_kernel(q, projection_matrix=self.projection_matrix, is_query=True)
        k = softmax_kernel(k, projection_matrix=self.projection_matrix, is_query=False)
        k_cumsum = k.sum(dim=-2)
        D_inv = 1. / torch.einsum('...nd,...d->...n', q, k_cumsum.type_as(q))
        context = torch.einsum('...nd,...ne->...de', k, v)
        out = torch.einsum('...de,...nd,...n->...ne', context, q, D_inv)
        return out

def get_inputs():
    return [torch.randn(2, HEADS, LENGTH, HEAD_DIM) for _ in range(3)]

def get_init_inputs():
    return [HEAD_DIM, NB_FEATURES]
