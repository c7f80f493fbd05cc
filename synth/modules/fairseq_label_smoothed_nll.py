import torch
import torch.nn as nn


def label_smoothed_nll_loss(lprobs, target, epsilon, ignore_index=None):
    if target.dim() == lprobs.dim() - 1:
        target = target.unsqueeze(-1)
    nll_loss = -lprobs.gather(dim=-1, index=target)
    smooth_loss = -lprobs.sum(dim=-1, keepdim=True)
    if ignore_index is not None:
        pad_mask = target.eq(ignore_index)
        nll_loss = nll_loss.masked_fill(pad_mask, 0.0)
        smooth_loss = smooth_loss.masked_fill(pad_mask, 0.0)
    nll_loss = nll_loss.sum()
    smooth_loss = smooth_loss.sum()
    eps_i = epsilon / (lprobs.size(-1) - 1)
    loss = (1.0 - epsilon - eps_i) * nll_loss + eps_i * smooth_loss
    return loss, nll_loss


class Model(nn.Module):
    def __init__(self, eps, padding_idx):
        super().__init__()
        self.eps = eps
        self.padding_idx = padding_idx

    def forward(self, net_output, target):
        lprobs = torch.log_softmax(net_output, dim=-1)
        lprobs = lprobs.view(-1, lprobs.size(-1))
        return label_smoothed_nll_loss(lprobs, target.view(-1), self.eps, ignore_index=self.padding_idx)


def get_inputs():
    t = torch.randint(2, 3000, (32, 40))
    t[:, 33:] = 1
    return [torch.randn(32, 40, 3000), t]


def get_init_inputs():
    return [0.1, 1]
