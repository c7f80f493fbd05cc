import torch
import torch.nn as nn


class Model(nn.Module):
    """Expert minus amateur log-probabilities among the expert's plausible tokens."""

    def __init__(self, alpha, beta):
        super().__init__()
        self.log_alpha = torch.log(torch.tensor(alpha)).item()
        self.beta = beta

    def forward(self, expert_logits, amateur_logits):
        cutoff = self.log_alpha + expert_logits.max(dim=-1, keepdim=True).values
        diffs = (1 + self.beta) * expert_logits - self.beta * amateur_logits
        cd_logits = diffs.masked_fill(expert_logits < cutoff, -1e4)
        return cd_logits.argmax(-1), torch.log_softmax(cd_logits, -1)


def get_inputs():
    return [torch.randn(40, 16000), torch.randn(40, 16000)]


def get_init_inputs():
    return [0.1, 0.5]
