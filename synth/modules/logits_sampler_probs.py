import torch
import torch.nn as nn


class Model(nn.Module):
    """Turns logits into the probabilities that a sampler would draw from: repetition penalty, temperature, min-p."""

    def __init__(self, temperature=0.8, penalty=1.2, min_p=0.05):
        super().__init__()
        self.temperature = temperature
        self.penalty = penalty
        self.min_p = min_p

    def forward(self, logits, seen):
        penalised = torch.where(logits > 0, logits / self.penalty, logits * self.penalty)
        logits = torch.where(seen, penalised, logits) / self.temperature
        probs = torch.softmax(logits, dim=-1)
        top = probs.amax(dim=-1, keepdim=True)
        probs = probs.masked_fill(probs < self.min_p * top, 0.0)
        return probs / probs.sum(dim=-1, keepdim=True)


vocab = 12_345


def get_inputs():
    return [torch.randn(90, vocab) * 3, torch.rand(90, vocab) > 0.95]


def get_init_inputs():
    return [0.7, 1.1, 0.02]
