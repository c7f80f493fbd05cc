import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Teacher centred and sharpened, student log-softmax, same-view pair left out; the next centre is returned."""

    def __init__(self, out_dim, student_temp=0.1, center_momentum=0.9):
        super().__init__()
        self.student_temp = student_temp
        self.center_momentum = center_momentum
        self.register_buffer("center", torch.randn(1, out_dim) * 0.01)

    def forward(self, student_1, student_2, teacher_1, teacher_2, teacher_temp=0.04):
        s1 = F.log_softmax(student_1 / self.student_temp, dim=-1)
        s2 = F.log_softmax(student_2 / self.student_temp, dim=-1)
        t1 = F.softmax((teacher_1 - self.center) / teacher_temp, dim=-1)
        t2 = F.softmax((teacher_2 - self.center) / teacher_temp, dim=-1)
        loss = -0.5 * ((t1 * s2).sum(-1).mean() + (t2 * s1).sum(-1).mean())
        batch_center = torch.cat((teacher_1, teacher_2)).mean(dim=0, keepdim=True)
        return loss, self.center * self.center_momentum + batch_center * (1 - self.center_momentum)


def get_inputs():
    return [torch.randn(128, 4096) for _ in range(4)] + [0.06]


def get_init_inputs():
    return [4096]
