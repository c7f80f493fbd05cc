import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Next-token loss with ignored labels and final soft capping, bf16 logits upcast first."""

    def __init__(self, softcap=30.0, ignore_index=-100):
        super().__init__()
        self.softcap = softcap
        self.ignore_index = ignore_index

    def forward(self, logits, labels):
        logits = logits.float()
        logits = torch.tanh(logits / self.softcap) * self.softcap
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = labels[..., 1:].contiguous()
        return F.cross_entropy(
            shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1), ignore_index=self.ignore_index
        )


def get_inputs():
    labels = torch.randint(0, 5000, (4, 256))
    labels[:, :40] = -100
    return [(torch.randn(4, 256, 5000) * 4).bfloat16(), labels]


def get_init_inputs():
    return []
