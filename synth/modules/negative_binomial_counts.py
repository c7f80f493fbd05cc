import torch
import torch.nn as nn


class Model(nn.Module):
    """Zero-inflated negative binomial log likelihood (gene counts)."""

    def __init__(self, genes):
        super().__init__()
        self.log_theta = nn.Parameter(torch.randn(genes) * 0.1 + 1.0)

    def forward(self, counts, mu, pi_logit):
        theta = self.log_theta.exp()
        log_ratio = torch.log(theta / (theta + mu))
        nb = (
            torch.lgamma(counts + theta)
            - torch.lgamma(theta)
            - torch.lgamma(counts + 1.0)
            + theta * log_ratio
            + counts * torch.log(mu / (theta + mu))
        )
        log_zero = nn.functional.logsigmoid(pi_logit)
        log_rest = nn.functional.logsigmoid(-pi_logit)
        return torch.where(counts < 0.5, torch.logaddexp(log_zero, log_rest + nb), log_rest + nb)


def get_inputs():
    return [torch.randint(0, 12, (300, 1000)).float(), torch.rand(300, 1000) * 5 + 0.1, torch.randn(300, 1000)]


def get_init_inputs():
    return [1000]
