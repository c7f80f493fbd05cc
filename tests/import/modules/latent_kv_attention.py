"""Multi-head latent attention: keys and values come from a low-rank code; RoPE part kept separate."""
import torch
from torch import nn
from dataclasses import dataclass, field
from types import SimpleNamespace


@dataclass
class ModelArgs:
    dim: int = 96
    n_heads: int = 4
    q_lora_rank: int = 48
    kv_lora_rank: int = 32
    qk_nope_head_dim: int = 16
    qk_rope_head_dim: int = 8
    v_head_dim: int = 16
    rope_theta: float = 10000.0
    extra: dict = field(default_factory=dict)

    @property
    def qk_head_dim(self):
        return self.qk_nope_head_dim + self.qk_rope_head_dim


ARGS = ModelArgs()
SEQ_LEN = 64


def apply_rotary_emb(x, cos, sin):
    """Interleaved pairs, real arithmetic."""
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


class Model(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.args = args
        self.wq_a = nn.Linear(args.dim, args.q_lora_rank, bias=False)
        self.q_norm = nn.RMSNorm(args.q_lora_rank)
        self.wq_b = nn.Linear(args.q_lora_rank, args.n_heads * args.qk_head_dim, bias=False)
        self.wkv_a = nn.Linear(args.dim, args.kv_lora_rank + args.qk_rope_head_dim, bias=False)
        self.kv_norm = nn.RMSNorm(args.kv_lora_rank)
        self.wkv_b = nn.Linear(args.kv_lora_rank, args.n_heads * (args.qk_nope_head_dim + args.v_head_dim), bias=False)
        self.wo = nn.Linear(args.n_heads * args.v_head_dim, args.dim, bias=False)
        self.softmax_scale = args.qk_head_dim ** -0.5
        freqs = 1.0 / (args.rope_theta ** (torch.arange(0, args.qk_rope_head_dim, 2).float() / args.qk_rope_head_dim))
        self.register_buffer("freqs", freqs, persistent=False)

    def forward(self, x):
        a = self.args
        bsz, seqlen, _ = x.size()
        angles = torch.outer(torch.arange(seqlen, device=x.device).float(), self.freqs)
        rope = SimpleNamespace(cos=angles.cos(), sin=angles.sin())
        q = self.wq_b(self.q_norm(self.wq_a(x))).view(bsz, seqlen, a.n_heads, a.qk_head_dim)
        q_nope, q_pe = q.split([a.qk_nope_head_dim, a.qk_rope_head_dim], dim=-1)
        q_pe = apply_rotary_emb(q_pe, rope.cos, rope.sin)
        kv, k_pe = self.wkv_a(x).split([a.kv_lora_rank, a.qk_rope_head_dim], dim=-1)
        k_pe = apply_rotary_emb(k_pe.unsqueeze(2), rope.cos, rope.sin)
        q = torch.cat([q_nope, q_pe], dim=-1)
        kv = self.wkv_b(self.kv_norm(kv)).view(bsz, seqlen, a.n_heads, a.qk_nope_head_dim + a.v_head_dim)
        k_nope, v = torch.split(kv, [a.qk_nope_head_dim, a.v_head_dim], dim=-1)
        k = torch.cat([k_nope, k_pe.expand(-1, -1, a.n_heads, -1)], dim=-1)
        scores = torch.einsum("bshd,bthd->bsht", q, k) * self.softmax_scale
        mask = torch.full((seqlen, seqlen), float("-inf"), device=x.device).triu_(1)
        scores += mask.unsqueeze(1)
        scores = scores.softmax(dim=-1, dtype=torch.float32).type_as(x)
        out = torch.einsum("bsht,bthd->bshd", scores, v)
        return self.wo(out.flatten(2))


def get_inputs():
    return [torch.randn(2, SEQ_LEN, ARGS.dim)]


def get_init_inputs():
    return [ARGS]
