import torch
import torch.nn as nn


class Model(nn.Module):
    """Clipped surrogate, clipped value error and entropy bonus for discrete actions."""

    def __init__(self, clip, vf_coef, ent_coef):
        super().__init__()
        self.clip = clip
        self.vf_coef = vf_coef
        self.ent_coef = ent_coef

    def forward(self, logits, actions, old_logp, adv, value, old_value, returns):
        logp_all = torch.log_softmax(logits, dim=-1)
        logp = logp_all.gather(1, actions.unsqueeze(1)).squeeze(1)
        ratio = (logp - old_logp).exp()
        surrogate = torch.minimum(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv)
        clipped_v = old_value + (value - old_value).clamp(-self.clip, self.clip)
        v_err = torch.maximum((value - returns) ** 2, (clipped_v - returns) ** 2)
        entropy = -(logp_all.exp() * logp_all).sum(-1)
        return (-surrogate + self.vf_coef * v_err - self.ent_coef * entropy).mean()


def get_inputs():
    n, a = 16384, 18
    return [torch.randn(n, a), torch.randint(0, a, (n,)), -torch.rand(n) * 3, torch.randn(n), torch.randn(n), torch.randn(n), torch.randn(n)]


def get_init_inputs():
    return [0.2, 0.5, 0.01]
