import torch
import torch.nn as nn


class Model(nn.Module):
    """Multi-head latent attention at decode: the key up-projection is absorbed into the query."""

    def __init__(self, n_heads, qk_nope, qk_rope, kv_lora_rank, v_dim):
        super().__init__()
        self.softmax_scale = (qk_nope + qk_rope) ** -0.5
        self.w_uk = nn.Parameter(torch.randn(n_heads, qk_nope, kv_lora_rank) * 0.05)
        self.w_uv = nn.Parameter(torch.randn(n_heads, v_dim, kv_lora_rank) * 0.05)

    def forward(self, q_nope, q_pe, kv_cache, pe_cache):
        # q_*: b h d;  kv_cache: b t c;  pe_cache: b t r
        q_lat = torch.einsum("bhd,hdc->bhc", q_nope, self.w_uk)
        scores = torch.einsum("bhc,btc->bht", q_lat, kv_cache) + torch.einsum("bhr,btr->bht", q_pe, pe_cache)
        probs = (scores * self.softmax_scale).softmax(dim=-1)
        x = torch.einsum("bht,btc->bhc", probs, kv_cache)
        return torch.einsum("bhc,hdc->bhd", x, self.w_uv).flatten(1)


def get_inputs():
    b, h, t = 16, 12, 300
    return [torch.randn(b, h, 64), torch.randn(b, h, 32), torch.randn(b, t, 192), torch.randn(b, t, 32)]


def get_init_inputs():
    return [12, 64, 32, 192, 64]
