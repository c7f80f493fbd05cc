import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, min_p=0.05, temperature=0.8, filter_value=-float("inf")):
        super().__init__()
        self.min_p = min_p
        self.temperature = temperature
        self.filter_value = filter_value

    def forward(self, scores):
        scores = scores / self.temperature
        probs = torch.softmax(scores, dim=-1)
        top_probs, _ = probs.max(dim=-1, keepdim=True)
        tokens_to_remove = probs < self.min_p * top_probs
        kept = scores.masked_fill(tokens_to_remove, self.filter_value)
        return kept.softmax(dim=-1)


def get_inputs():
    return [torch.randn(32, 32000) * 2]


def get_init_inputs():
    return []
