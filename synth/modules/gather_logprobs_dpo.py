import torch
import torch.nn as nn
import torch.nn.functional as F


def get_batch_logps(logits, labels, ignore_index=-100):
    labels = labels[:, 1:]
    logits = logits[:, :-1, :]
    loss_mask = labels != ignore_index
    labels = labels.masked_fill(~loss_mask, 0)
    per_token_logps = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (per_token_logps * loss_mask).sum(-1)


class Model(nn.Module):
    """Direct preference optimisation; first half of the batch is chosen, second half rejected."""

    def __init__(self, beta=0.1, label_smoothing=0.0):
        super().__init__()
        self.beta = beta
        self.label_smoothing = label_smoothing

    def forward(self, logits, labels, ref_logps):
        logps = get_batch_logps(logits, labels)
        rewards = self.beta * (logps - ref_logps)
        chosen, rejected = rewards.chunk(2, dim=0)
        margin = chosen - rejected
        losses = -F.logsigmoid(margin) * (1 - self.label_smoothing) - F.logsigmoid(-margin) * self.label_smoothing
        return losses.mean(), chosen, rejected


def get_inputs():
    labels = torch.randint(0, 2000, (16, 64))
    labels[:, :20] = -100
    return [torch.randn(16, 64, 2000), labels, torch.randn(16) * 10 - 350]


def get_init_inputs():
    return [0.1, 0.05]
