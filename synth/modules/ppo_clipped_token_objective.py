import torch
from torch import nn


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


class Model(nn.Module):
    """RLHF policy and value losses, clipped, averaged over response tokens."""

    def __init__(self, cliprange=0.2, cliprange_value=0.2, vf_coef=0.1):
        super().__init__()
        self.cliprange, self.cliprange_value, self.vf_coef = cliprange, cliprange_value, vf_coef

    def forward(self, logprobs, old_logprobs, advantages, vpreds, values, returns, mask):
        ratio = torch.exp(logprobs - old_logprobs)
        pg_losses = -advantages * ratio
        pg_losses2 = -advantages * torch.clamp(ratio, 1.0 - self.cliprange, 1.0 + self.cliprange)
        pg_loss = masked_mean(torch.max(pg_losses, pg_losses2), mask)

        vclip = values + (vpreds - values).clamp(-self.cliprange_value, self.cliprange_value)
        vf = 0.5 * masked_mean(torch.max((vpreds - returns) ** 2, (vclip - returns) ** 2), mask)
        return pg_loss + self.vf_coef * vf


def get_inputs():
    s = (64, 512)
    lp = -torch.rand(s)
    return [lp, lp + 0.1 * torch.randn(s), torch.randn(s), torch.randn(s), torch.randn(s), torch.randn(s),
            (torch.rand(s) > 0.3).float()]


def get_init_inputs():
    return []
