import torch
import torch.nn as nn

BATCH, HEADS, SEQ, HEAD_DIM = 3, 16, 256, 80
ROTARY_PCT = 0.4


class Model(nn.Module):
    """Only the first `rotary_ndims` channels are rotated; the others pass through (Phi / NeoX style)."""

    def __init__(self, head_dim, rotary_pct):
        super(Model, self).__init__()
        self.rotary_ndims = int(head_dim * rotary_pct)
        self.inv_freq = nn.Parameter(
            10000.0 ** (-torch.arange(0, self.rotary_ndims, 2).float() / self.rotary_ndims), requires_grad=False
        )

    def forward(self, query):
        seq_len = query.size(-2)
        pos = torch.arange(seq_len, device=query.device, dtype=query.dtype)
        freqs = torch.einsum("i,j->ij", pos, self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)

        query_rot = query[..., : self.rotary_ndims]
        query_pass = query[..., self.rotary_ndims :]

        half = self.rotary_ndims // 2
        turned = torch.cat((-query_rot[..., half:], query_rot[..., :half]), dim=-1)
        query_rot = query_rot * emb.cos() + turned * emb.sin()
        return torch.cat((query_rot, query_pass), dim=-1)


def get_inputs():
    return [torch.randn(BATCH, HEADS, SEQ, HEAD_DIM)]


def get_init_inputs():
    return [HEAD_DIM, ROTARY_PCT]
