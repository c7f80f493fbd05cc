import torch
import torch.nn as nn


class Model(nn.Module):
    """Group-relative advantages (mean / std inside a group of answers) and the k3 KL estimator."""

    def __init__(self, num_generations, beta, eps=1e-4):
        super().__init__()
        self.num_generations = num_generations
        self.beta = beta
        self.eps = eps

    def forward(self, rewards, per_token_logps, ref_per_token_logps, completion_mask):
        grouped = rewards.view(-1, self.num_generations)
        mean = grouped.mean(dim=1, keepdim=True)
        std = grouped.std(dim=1, keepdim=True)
        advantages = ((grouped - mean) / (std + self.eps)).reshape(-1, 1)

        delta = ref_per_token_logps - per_token_logps
        per_token_kl = torch.exp(delta) - delta - 1
        per_token_loss = -(advantages - self.beta * per_token_kl)
        lens = completion_mask.sum(dim=1)
        return ((per_token_loss * completion_mask).sum(dim=1) / lens).mean()


def get_inputs():
    mask = (torch.arange(400)[None] < torch.randint(10, 401, (128, 1))).float()
    return [torch.randn(128), -torch.rand(128, 400), -torch.rand(128, 400), mask]


def get_init_inputs():
    return [8, 0.04]
