import torch
import torch.nn as nn


class Model(nn.Module):
    """SASRec scoring: states against positive and negative item embeddings, loss where the target is not padding."""

    def __init__(self, item_num, hidden_units):
        super(Model, self).__init__()
        self.item_emb = nn.Embedding(item_num + 1, hidden_units, padding_idx=0)
        self.last_layernorm = nn.LayerNorm(hidden_units, eps=1e-8)

    def forward(self, seqs_feats, pos_seqs, neg_seqs):
        log_feats = self.last_layernorm(seqs_feats)
        pos_logits = (log_feats * self.item_emb(pos_seqs)).sum(dim=-1)
        neg_logits = (log_feats * self.item_emb(neg_seqs)).sum(dim=-1)
        keep = (pos_seqs != 0).float()
        loss = nn.functional.softplus(-pos_logits) + nn.functional.softplus(neg_logits)
        return (loss * keep).sum() / keep.sum()


def get_inputs():
    pos = torch.randint(1, 3001, (64, 100))
    pos[:, :25] = 0
    return [torch.randn(64, 100, 64), pos, torch.randint(1, 3001, (64, 100))]


def get_init_inputs():
    return [3000, 64]
