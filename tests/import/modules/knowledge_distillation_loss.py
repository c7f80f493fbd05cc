import torch
import torch.nn as nn
import torch.nn.functional as F

TEMPERATURE = 4.0
N, C = 512, 200


class Model(nn.Module):
    """Decoupled knowledge distillation, target and non-target terms."""

    def __init__(self, temperature, alpha=1.0, beta=8.0):
        super().__init__()
        self.T = temperature
        self.alpha, self.beta = alpha, beta

    @staticmethod
    def _masks(logits, target):
        gt = torch.zeros_like(logits).scatter_(1, target.unsqueeze(1), 1).bool()
        other = torch.ones_like(logits).scatter_(1, target.unsqueeze(1), 0).bool()
        return gt, other

    def _cat(self, t, m1, m2):
        t1 = (t * m1).sum(dim=1, keepdim=True)
        t2 = (t * m2).sum(1, keepdim=True)
        return torch.cat([t1, t2], dim=1)

    def forward(self, student, teacher, target):
        gt, other = self._masks(student, target)
        T = self.T
        ps, pt = F.softmax(student / T, dim=1), F.softmax(teacher / T, dim=1)
        tckd = F.kl_div(torch.log(self._cat(ps, gt, other)), self._cat(pt, gt, other), reduction='sum') * T ** 2 / target.shape[0]
        pred_teacher_part2 = F.softmax(teacher / T - 1000.0 * gt, dim=1)
        log_pred_student_part2 = F.log_softmax(student / T - 1000.0 * gt, dim=1)
        nckd = F.kl_div(log_pred_student_part2, pred_teacher_part2, reduction='batchmean') * T ** 2
        ce = F.cross_entropy(student, target)
        return ce + self.alpha * tckd + self.beta * nckd


def get_inputs():
    return [torch.randn(N, C), torch.randn(N, C) * 3, torch.randint(0, C, (N,))]


def get_init_inputs():
    return [TEMPERATURE]
