import torch
import torch.nn as nn


class Model(nn.Module):
    """MoCo: positives by einsum, negatives from the queue buffer; the loss and the queue's next content."""

    def __init__(self, dim=128, K=8192, T=0.07):
        super().__init__()
        self.T = T
        self.register_buffer("queue", nn.functional.normalize(torch.randn(dim, K), dim=0))

    def forward(self, q, k):
        q = nn.functional.normalize(q, dim=1)
        k = nn.functional.normalize(k, dim=1)
        l_pos = torch.einsum('nc,nc->n', [q, k]).unsqueeze(-1)
        l_neg = torch.einsum('nc,ck->nk', [q, self.queue])
        logits = torch.cat([l_pos, l_neg], dim=1) / self.T
        loss = (torch.logsumexp(logits, 1) - logits[:, 0]).mean()
        new_queue = torch.cat([k.T, self.queue[:, : -k.shape[0]]], dim=1)
        return loss, new_queue


def get_inputs():
    return [torch.randn(256, 128), torch.randn(256, 128)]


def get_init_inputs():
    return []
