"""What ``multi_head_attention_forward`` of PyTorch computes, by functions that are known one by one."""

import math

import torch
from torch.nn import functional


def multi_head_attention(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
                         out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
                         use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                         average_attn_weights=True, is_causal=False):
    """(output, weights or None), length first as there; None for what is not written here (dropout, extra keys, inputs without a batch)."""
    if bias_k is not None or bias_v is not None or add_zero_attn or static_k is not None or static_v is not None or use_separate_proj_weight:
        return None
    if training and dropout_p or query.dim() != 3 or in_proj_weight is None:
        return None
    target, batch, width = query.shape
    source, head = key.shape[0], width // num_heads
    if query is key and key is value:
        q, k, v = functional.linear(query, in_proj_weight, in_proj_bias).chunk(3, dim=-1)
    else:
        biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = (functional.linear(x, w, b) for x, w, b in zip((query, key, value), in_proj_weight.chunk(3), biases))
    q, k, v = (x.reshape(length, batch, num_heads, head).permute(1, 2, 0, 3) for x, length in ((q, target), (k, source), (v, source)))
    mask = None
    if attn_mask is not None and not (is_causal and not need_weights and key_padding_mask is None):
        mask = _additive(attn_mask, query.dtype)
        mask = mask.reshape(batch, num_heads, target, source) if mask.dim() == 3 else mask
    if key_padding_mask is not None:
        padding = _additive(key_padding_mask, query.dtype).reshape(batch, 1, 1, source)
        mask = padding if mask is None else mask + padding
    weights = None
    if need_weights:
        scores = (q * math.sqrt(1.0 / head)) @ k.transpose(-2, -1)
        scores = scores if mask is None else scores + mask
        weights = scores.softmax(dim=-1)
        mixed = weights @ v
        weights = weights.mean(dim=1) if average_attn_weights else weights
    else:
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal and mask is None)
    mixed = mixed.permute(2, 0, 1, 3).reshape(target, batch, width)
    return functional.linear(mixed, out_proj_weight, out_proj_bias), weights


def _additive(mask, dtype):
    return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, -math.inf) if mask.dtype is torch.bool else mask
