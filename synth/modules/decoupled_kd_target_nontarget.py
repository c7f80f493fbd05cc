import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """DKD: the target / rest binary distribution and the distribution among the rest, each with its weight."""

    def __init__(self, alpha, beta, temperature):
        super().__init__()
        self.alpha, self.beta, self.temperature = alpha, beta, temperature

    def forward(self, logits_student, logits_teacher, target):
        T = self.temperature
        gt_mask = F.one_hot(target, logits_student.shape[1]).bool()
        ps = F.softmax(logits_student / T, dim=1)
        pt = F.softmax(logits_teacher / T, dim=1)

        bs = torch.stack([(ps * gt_mask).sum(1), (ps * ~gt_mask).sum(1)], 1).clamp_min(1e-8)
        bt = torch.stack([(pt * gt_mask).sum(1), (pt * ~gt_mask).sum(1)], 1).clamp_min(1e-8)
        tckd = (bt * (bt.log() - bs.log())).sum(1)

        rest_s = F.log_softmax(logits_student / T - 1000.0 * gt_mask, dim=1)
        rest_t = F.log_softmax(logits_teacher / T - 1000.0 * gt_mask, dim=1)
        nckd = (rest_t.exp() * (rest_t - rest_s)).sum(1)
        return (self.alpha * tckd + self.beta * nckd).mean() * T**2


def get_inputs():
    return [torch.randn(1500, 300), torch.randn(1500, 300), torch.randint(0, 300, (1500,))]


def get_init_inputs():
    return [1.0, 8.0, 4.0]
