import torch
import torch.nn as nn


class Model(nn.Module):
    """Acoustic head: log-probabilities, best path and the mask of symbols which survive the collapse."""

    def __init__(self, encoder_dim: int, num_classes: int, blank: int = 0):
        super().__init__()
        self.fc = nn.Linear(encoder_dim, num_classes)
        self.blank = blank

    def forward(self, enc, enc_lens):
        logp = self.fc(enc).log_softmax(dim=2)
        best = logp.argmax(dim=2)
        prev = torch.cat([torch.full_like(best[:, :1], -1), best[:, :-1]], dim=1)
        inside = torch.arange(enc.size(1), device=enc.device)[None] < enc_lens[:, None]
        emit = (best != prev) & (best != self.blank) & inside
        return logp, torch.where(emit, best, self.blank), emit.sum(1)


def get_inputs():
    return [torch.randn(8, 300, 256), torch.randint(100, 301, (8,))]


def get_init_inputs():
    return [256, 129]
