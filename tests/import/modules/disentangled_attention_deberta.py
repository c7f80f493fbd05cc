import math
import torch
from torch import nn

HIDDEN, HEADS, SPAN, LENGTH = 128, 4, 24, 80

class Model(nn.Module):
    """Content-to-position and position-to-content terms on top of ordinary attention."""
    def __init__(self, hidden, heads, span, pos_att_type=("c2p", "p2c")):
        super().__init__()
        self.h = heads
        self.span = span
        self.pos_att_type = list(pos_att_type)
        self.query_proj = nn.Linear(hidden, hidden)
        self.key_proj = nn.Linear(hidden, hidden)
        self.value_proj = nn.Linear(hidden, hidden)
        self.rel_embeddings = nn.Embedding(2 * span, hidden)

    def transpose_for_scores(self, x):
        new = x.size()[:-1] + (self.h, -1)
        x = x.view(new)
        return x.permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        q, k, v = [self.transpose_for_scores(p(x)) for p in (self.query_proj, self.key_proj, self.value_proj)]
        n, d = x.size(1), q.size(-1)
        scale = math.sqrt(d * (1 + len(self.pos_att_type)))
        ids = torch.arange(n, device=x.device)
        rel = ids[:, None] - ids[None, :]
        score = torch.matmul(q, k.transpose(-1, -2))
        emb = self.rel_embeddings.weight.unsqueeze(0)
        if "c2p" in self.pos_att_type:
            pos_key = self.transpose_for_scores(self.key_proj(emb))
            c2p = torch.matmul(q, pos_key.transpose(-1, -2))
            idx = torch.clamp(rel + self.span, 0, self.span * 2 - 1)
            score = score + torch.gather(c2p, -1, idx.expand(q.size(0), q.size(1), n, n))
        if "p2c" in self.pos_att_type:
            pos_query = self.transpose_for_scores(self.query_proj(emb))
            p2c = torch.matmul(k, pos_query.transpose(-1, -2))
            idx = torch.clamp(-rel + self.span, 0, self.span * 2 - 1)
            score = score + torch.gather(p2c, -1, idx.expand(k.size(0), k.size(1), n, n)).transpose(-1, -2)
        score = score / scale
        if mask is not None:
            score = score.masked_fill(~(mask[:, None, None, :] & mask[:, None, :, None]), torch.finfo(score.dtype).min)
        ctx = torch.softmax(score, -1) @ v
        return ctx.permute(0, 2, 1, 3).flatten(2)

def get_inputs():
    m = torch.ones(2, LENGTH, dtype=torch.bool); m[0, 30:] = False
    return [torch.randn(2, LENGTH, HIDDEN), m]
def get_init_inputs():
    return [HIDDEN, HEADS, SPAN]
