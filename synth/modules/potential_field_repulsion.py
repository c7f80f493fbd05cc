import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, k_att, k_rep, influence):
        super().__init__()
        self.k_att = k_att
        self.k_rep = k_rep
        self.influence = influence

    def forward(self, robot, goal, obstacles):
        pull = self.k_att * (goal - robot)
        away = robot.unsqueeze(1) - obstacles.unsqueeze(0)
        d = away.norm(dim=-1).clamp(min=1e-2)
        mag = self.k_rep * (1 / d - 1 / self.influence) / d ** 3
        mag = mag.masked_fill(d > self.influence, 0.0)
        push = (mag.unsqueeze(-1) * away).sum(dim=1)
        total = pull + push
        return total / total.norm(dim=-1, keepdim=True).clamp_min(1.0)

def get_inputs():
    return [torch.randn(20000, 2) * 5, torch.randn(20000, 2) * 5, torch.randn(64, 2) * 5]

def get_init_inputs():
    return [0.5, 1.0, 1.2]
