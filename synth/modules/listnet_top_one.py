import torch
import torch.nn as nn


class Model(nn.Module):
    """ListNet: cross entropy between the softmaxes of labels and scores, padding removed by a mask."""

    def forward(self, scores, relevance, valid):
        neg = -1e9
        s = torch.where(valid, scores, torch.full_like(scores, neg))
        r = torch.where(valid, relevance, torch.full_like(relevance, neg))
        target = r.softmax(-1)
        logp = s.log_softmax(-1)
        return -(target * logp).sum(-1)


def get_inputs():
    q, d = 1100, 300
    return [torch.randn(q, d), torch.rand(q, d) * 4, torch.rand(q, d) > 0.15]


def get_init_inputs():
    return []
