import torch
import torch.nn as nn


class Model(nn.Module):
    """HuBERT: projected frames against unit embeddings over a temperature; loss on masked and unmasked frames."""

    def __init__(self, dim, final_dim, num_classes, logit_temp=0.1):
        super().__init__()
        self.final_proj = nn.Linear(dim, final_dim)
        self.label_embs = nn.Parameter(torch.rand(num_classes, final_dim))
        self.logit_temp = logit_temp

    def forward(self, x, targets, mask_indices, pred_masked_weight=1.0, pred_nomask_weight=0.1):
        p = self.final_proj(x)
        p = p / p.norm(dim=-1, keepdim=True).clamp(min=1e-6)
        e = self.label_embs / self.label_embs.norm(dim=-1, keepdim=True)
        logp = torch.log_softmax(p @ e.t() / self.logit_temp, dim=-1)
        nll = -logp.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        m = mask_indices.float()
        loss_m = (nll * m).sum() / m.sum()
        loss_u = (nll * (1 - m)).sum() / (1 - m).sum()
        return pred_masked_weight * loss_m + pred_nomask_weight * loss_u


def get_inputs():
    return [torch.randn(8, 250, 256), torch.randint(0, 500, (8, 250)), torch.rand(8, 250) < 0.45]


def get_init_inputs():
    return [256, 128, 500]
