"""A dense decoder (Llama, Qwen3) in plain PyTorch with the parameter names of Hugging Face checkpoints: the yardstick of
train_bench.py where transformers is not installed, and for gradients in fp64."""
import json
import struct

import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), self.eps)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv, self.dim = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        hidden = c["hidden_size"]
        self.q_proj = nn.Linear(hidden, self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv * self.dim, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, hidden, bias=False)
        if c["model_type"] == "qwen3":
            self.q_norm, self.k_norm = Norm(self.dim, c["rms_norm_eps"]), Norm(self.dim, c["rms_norm_eps"])
        else:
            self.q_norm = self.k_norm = nn.Identity()

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        def split(y, n):
            return y.view(batch, length, n, self.dim).transpose(1, 2)
        q = rotate(self.q_norm(split(self.q_proj(x), self.heads)), cos, sin)
        k = rotate(self.k_norm(split(self.k_proj(x), self.kv)), cos, sin)
        v = split(self.v_proj(x), self.kv)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv)
        return self.o_proj(y.transpose(1, 2).reshape(batch, length, -1))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c["hidden_size"], c["intermediate_size"], bias=False)
        self.up_proj = nn.Linear(c["hidden_size"], c["intermediate_size"], bias=False)
        self.down_proj = nn.Linear(c["intermediate_size"], c["hidden_size"], bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.self_attn, self.mlp = Attention(c), Mlp(c)
        self.input_layernorm = Norm(c["hidden_size"], c["rms_norm_eps"])
        self.post_attention_layernorm = Norm(c["hidden_size"], c["rms_norm_eps"])

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed_tokens = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.layers = nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"]))
        self.norm = Norm(c["hidden_size"], c["rms_norm_eps"])


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, self.model = c, Body(c)
        self.lm_head = nn.Linear(c["hidden_size"], c["vocab_size"], bias=False)
        if c["tie_word_embeddings"]:
            self.lm_head.weight = self.model.embed_tokens.weight
        for name, p in self.named_parameters():
            if "norm" not in name:
                nn.init.normal_(p, 0, 0.02)

    def forward(self, tokens):
        x = self.model.embed_tokens(tokens)
        if torch.is_autocast_enabled():
            x = x.to(torch.bfloat16)
        dim = self.c["head_dim"]
        inverse = self.c["rope_theta"] ** (-torch.arange(0, dim, 2, device=tokens.device, dtype=torch.float64) / dim)
        angles = torch.outer(torch.arange(tokens.shape[1], device=tokens.device, dtype=torch.float64), inverse)
        cos, sin = (torch.cat([y, y], -1).to(x.dtype) for y in (angles.cos(), angles.sin()))
        for layer in self.model.layers:
            x = layer(x, cos, sin)
        return self.lm_head(self.model.norm(x))


def save(model, config, folder):
    """config.json and model.safetensors, fp32."""
    with open(f"{folder}/config.json", "w") as file:
        json.dump(config, file)
    header, data, at = {}, [], 0
    for name, p in model.named_parameters():
        raw = p.detach().float().cpu().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(p.shape), "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(f"{folder}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))
