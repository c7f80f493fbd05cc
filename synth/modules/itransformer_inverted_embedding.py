import torch
import torch.nn as nn


class Model(nn.Module):
    """Variates are the tokens: series embedded whole, attention between variates, projected to the horizon."""

    def __init__(self, seq_len, pred_len, d_model, n_heads):
        super().__init__()
        self.enc_embedding = nn.Linear(seq_len, d_model)
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.projector = nn.Linear(d_model, pred_len)
        self.n_heads = n_heads

    def forward(self, x_enc, x_mark):
        # x_enc: B L N, x_mark: B L M are appended as further tokens
        _, _, N = x_enc.shape
        tokens = self.enc_embedding(torch.cat([x_enc, x_mark], 2).permute(0, 2, 1))
        B, S, D = tokens.shape
        q, k, v = self.in_proj(tokens).reshape(B, S, 3, self.n_heads, -1).unbind(dim=2)
        A = torch.softmax(torch.einsum("blhe,bshe->bhls", q, k) * (D // self.n_heads) ** -0.5, dim=-1)
        V = torch.einsum("bhls,bshd->blhd", A, v).reshape(B, S, D)
        return self.projector(self.norm1(tokens + V)).permute(0, 2, 1)[:, :, :N]


def get_inputs():
    return [torch.randn(16, 96, 60), torch.randn(16, 96, 4)]


def get_init_inputs():
    return [96, 96, 128, 8]
