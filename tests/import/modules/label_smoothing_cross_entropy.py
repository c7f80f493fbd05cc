import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB_SIZE = 2000
SEQS, LENGTH = 4, 64
PAD = 0
EPSILON = 0.1


def label_smoothed_nll_loss(lprobs, target, epsilon, ignore_index=None, reduce=True):
    if target.dim() == lprobs.dim() - 1:
        target = target.unsqueeze(-1)
    nll_loss = -lprobs.gather(dim=-1, index=target)
    smooth_loss = -lprobs.sum(dim=-1, keepdim=True)
    if ignore_index is not None:
        pad_mask = target.eq(ignore_index)
        nll_loss.masked_fill_(pad_mask, 0.0)
        smooth_loss.masked_fill_(pad_mask, 0.0)
    else:
        nll_loss = nll_loss.squeeze(-1)
        smooth_loss = smooth_loss.squeeze(-1)
    if reduce:
        nll_loss = nll_loss.sum()
        smooth_loss = smooth_loss.sum()
    eps_i = epsilon / (lprobs.size(-1) - 1)
    loss = (1.0 - epsilon - eps_i) * nll_loss + eps_i * smooth_loss
    return loss, nll_loss


class Model(nn.Module):
    def __init__(self, epsilon, padding_idx):
        super().__init__()
        self.eps = epsilon
        self.padding_idx = padding_idx

    def forward(self, logits, target):
        lprobs = F.log_softmax(logits.float(), dim=-1)
        lprobs = lprobs.view(-1, lprobs.size(-1))
        target = target.view(-1)
        loss, nll = label_smoothed_nll_loss(lprobs, target, self.eps, ignore_index=self.padding_idx)
        n_tokens = target.ne(self.padding_idx).sum()
        return {"loss": loss / n_tokens, "nll_loss": nll / n_tokens, "ntokens": n_tokens}


def get_inputs():
    target = torch.randint(1, VOCAB_SIZE, (SEQS, LENGTH))
    target[:, -9:] = PAD
    return [torch.randn(SEQS, LENGTH, VOCAB_SIZE), target]


def get_init_inputs():
    return [EPSILON, PAD]
