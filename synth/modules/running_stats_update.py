import torch
import torch.nn as nn


class Model(nn.Module):
    """Merges the mean and variance of a batch into running ones (parallel formula) and normalises the batch."""

    def __init__(self, clip: float = 5.0, epsilon: float = 1e-8):
        super().__init__()
        self.clip = clip
        self.epsilon = epsilon

    def forward(self, obs, mean, var, count: float):
        batch_mean = obs.mean(dim=0)
        batch_var = obs.var(dim=0, unbiased=False)
        batch_count = obs.shape[0]

        delta = batch_mean - mean
        total = count + batch_count
        new_mean = mean + delta * batch_count / total
        m2 = var * count + batch_var * batch_count + delta ** 2 * count * batch_count / total
        new_var = m2 / total
        normed = (obs - new_mean) / torch.sqrt(new_var + self.epsilon)
        return normed.clamp(-self.clip, self.clip), new_mean, new_var


def get_init_inputs():
    return [4.0]


def get_inputs():
    n, k = 2600, 376
    return [torch.randn(n, k) * 3 + 1, torch.zeros(k), torch.ones(k), 5000.0]
