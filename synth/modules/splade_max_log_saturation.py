import torch
import torch.nn as nn


class Model(nn.Module):
    """SPLADE: sparse vocabulary weights from masked-LM logits, with the FLOPS regulariser."""

    def __init__(self, hidden, vocab):
        super().__init__()
        self.decoder = nn.Linear(hidden, vocab)

    def forward(self, hidden_states, attention_mask):
        logits = self.decoder(hidden_states)
        w = torch.log(1 + torch.relu(logits)) * attention_mask.unsqueeze(-1)
        values, _ = torch.max(w, dim=1)
        flops = torch.sum(torch.mean(torch.abs(values), dim=0) ** 2)
        return values, flops


def get_inputs():
    return [torch.randn(16, 48, 128), torch.ones(16, 48)]


def get_init_inputs():
    return [128, 5000]
