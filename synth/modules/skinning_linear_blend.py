import torch
import torch.nn as nn


class Model(nn.Module):
    """Linear blend skinning: softmaxed weights mix bone transforms, applied to the rest pose."""

    def __init__(self, n_vertices, n_bones):
        super().__init__()
        self.rest = nn.Parameter(torch.randn(n_vertices, 3))
        self.weight_logits = nn.Parameter(torch.randn(n_vertices, n_bones))

    def forward(self, rotation, translation):
        w = torch.softmax(self.weight_logits, dim=1)
        R = torch.einsum("vk,bkij->bvij", w, rotation)
        t = torch.einsum("vk,bki->bvi", w, translation)
        return (R @ self.rest[None, :, :, None]).squeeze(-1) + t


def get_inputs():
    return [torch.randn(32, 24, 3, 3), torch.randn(32, 24, 3)]


def get_init_inputs():
    return [3000, 24]
