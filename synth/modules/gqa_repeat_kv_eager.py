import torch
import math
from torch import nn


def repeat_kv(hidden_states, n_rep):
    """(batch, num_key_value_heads, seqlen, head_dim) -> (batch, num_attention_heads, seqlen, head_dim)"""
    batch, num_key_value_heads, slen, head_dim = hidden_states.shape
    if n_rep == 1:
        return hidden_states
    hidden_states = hidden_states[:, :, None, :, :].expand(batch, num_key_value_heads, n_rep, slen, head_dim)
    return hidden_states.reshape(batch, num_key_value_heads * n_rep, slen, head_dim)


class Model(nn.Module):
    def __init__(self, num_key_value_groups):
        super().__init__()
        self.num_key_value_groups = num_key_value_groups

    def forward(self, query, key, value, attention_mask):
        key_states = repeat_kv(key, self.num_key_value_groups)
        value_states = repeat_kv(value, self.num_key_value_groups)
        attn_weights = torch.matmul(query, key_states.transpose(2, 3)) / math.sqrt(query.size(-1))
        attn_weights = attn_weights + attention_mask[:, :, :, : key_states.shape[-2]]
        attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)
        attn_output = torch.matmul(attn_weights, value_states)
        return attn_output.transpose(1, 2).contiguous()


def get_inputs():
    mask = torch.triu(torch.full((192, 192), -1e4), diagonal=1).expand(2, 1, 192, 192).contiguous()
    return [torch.randn(2, 8, 192, 64), torch.randn(2, 2, 192, 64), torch.randn(2, 2, 192, 64), mask]


def get_init_inputs():
    return [4]
