import torch
import torch.nn as nn


class Dice(nn.Module):
    """Data-adaptive gate with fixed statistics."""

    def __init__(self, n):
        super().__init__()
        self.alpha = nn.Parameter(torch.full((n,), 0.25))
        self.register_buffer("mu", torch.randn(n) * 0.1)
        self.register_buffer("var", torch.rand(n) + 0.5)

    def forward(self, x):
        p = torch.sigmoid((x - self.mu) / torch.sqrt(self.var + 1e-8))
        return p * x + (1 - p) * self.alpha * x


class Model(nn.Module):
    def __init__(self, emb, hidden):
        super().__init__()
        self.fc_1 = nn.Linear(4 * emb, hidden)
        self.dice = Dice(hidden)
        self.fc_2 = nn.Linear(hidden, 1)

    def forward(self, query_ad, user_behavior, behavior_length):
        T = user_behavior.size(1)
        q = query_ad[:, None, :].expand(-1, T, -1)
        a = torch.cat([q, user_behavior, q - user_behavior, q * user_behavior], dim=-1)
        score = self.fc_2(self.dice(self.fc_1(a)))
        mask = (torch.arange(T, device=q.device)[None, :] < behavior_length[:, None]).unsqueeze(-1)
        score = torch.where(mask, score, torch.zeros_like(score))
        return (score * user_behavior).sum(dim=1)


def get_inputs():
    return [torch.randn(256, 32), torch.randn(256, 50, 32), torch.randint(1, 51, (256,))]


def get_init_inputs():
    return [32, 64]
