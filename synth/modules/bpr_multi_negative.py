import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Bayesian personalised ranking with several negatives and L2 on the looked-up rows."""

    def __init__(self, users: int, items: int, dim: int, reg: float = 1e-3):
        super().__init__()
        self.u = nn.Embedding(users, dim)
        self.i = nn.Embedding(items, dim)
        self.reg = reg

    def forward(self, user, pos, neg):
        e_u, e_p, e_n = self.u(user), self.i(pos), self.i(neg)
        sp = (e_u * e_p).sum(-1, keepdim=True)
        sn = (e_u[:, None] * e_n).sum(-1)
        rank = -F.logsigmoid(sp - sn).mean(-1)
        l2 = e_u.pow(2).sum(-1) + e_p.pow(2).sum(-1) + e_n.pow(2).sum((-1, -2))
        return rank + self.reg * l2


U, I, N = 3000, 8000, 2600


def get_inputs():
    return [torch.randint(0, U, (N,)), torch.randint(0, I, (N,)), torch.randint(0, I, (N, 45))]


def get_init_inputs():
    return [U, I, 40]
