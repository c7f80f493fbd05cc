import torch
import torch.nn as nn


class Model(nn.Module):
    """Multimodal factorised bilinear pooling (VQA): sum over factors, power and L2 normalisation."""

    def __init__(self, q_dim, i_dim, k=5, o=200):
        super().__init__()
        self.k, self.o = k, o
        self.proj_q = nn.Linear(q_dim, k * o)
        self.proj_i = nn.Linear(i_dim, k * o)

    def forward(self, ques_feat, img_feat):
        z = self.proj_q(ques_feat)[:, None, :] * self.proj_i(img_feat)
        z = z.view(z.size(0), z.size(1), self.o, self.k).sum(dim=3)
        z = torch.sqrt(torch.relu(z)) - torch.sqrt(torch.relu(-z))
        return z / z.flatten(1).norm(dim=1).clamp(min=1e-12)[:, None, None]


def get_inputs():
    return [torch.randn(32, 256), torch.randn(32, 49, 384)]


def get_init_inputs():
    return [256, 384]
