import torch
import torch.nn as nn
import torch.nn.functional as F

BETA = 0.1
PAIRS, LENGTH, VOCAB = 4, 48, 1500


def get_batch_logps(logits, labels, average_log_prob=False):
    assert logits.shape[:-1] == labels.shape
    labels = labels[:, 1:].clone()
    logits = logits[:, :-1, :]
    loss_mask = labels != -100
    labels[labels == -100] = 0  # dummy token
    per_token_logps = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    if average_log_prob:
        return (per_token_logps * loss_mask).sum(-1) / loss_mask.sum(-1)
    return (per_token_logps * loss_mask).sum(-1)


class Model(nn.Module):
    def __init__(self, beta, label_smoothing=0.0, ipo=False):
        super().__init__()
        self.beta, self.label_smoothing, self.ipo = beta, label_smoothing, ipo

    def forward(self, policy_logits, ref_chosen, ref_rejected, labels):
        logps = get_batch_logps(policy_logits, labels, average_log_prob=True)
        chosen, rejected = logps.chunk(2, dim=0)
        pi_logratios = chosen - rejected
        ref_logratios = ref_chosen - ref_rejected
        logits = pi_logratios - ref_logratios
        if self.ipo:
            losses = (logits - 1 / (2 * self.beta)) ** 2
        else:
            losses = -F.logsigmoid(self.beta * logits) * (1 - self.label_smoothing) \
                - F.logsigmoid(-self.beta * logits) * self.label_smoothing
        rewards = (self.beta * (chosen - ref_chosen).detach(), self.beta * (rejected - ref_rejected).detach())
        return losses.mean(), rewards


def get_inputs():
    labels = torch.randint(0, VOCAB, (2 * PAIRS, LENGTH))
    labels[:, :10] = -100
    return [torch.randn(2 * PAIRS, LENGTH, VOCAB), -torch.rand(PAIRS) * 8, -torch.rand(PAIRS) * 8, labels]


def get_init_inputs():
    return [BETA]
