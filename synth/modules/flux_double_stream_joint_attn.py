import torch
import torch.nn as nn


class Model(nn.Module):
    """MM-DiT: text and image tokens have own qkv weights and attend jointly."""

    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.img_qkv = nn.Linear(hidden_size, 3 * hidden_size)
        self.txt_qkv = nn.Linear(hidden_size, 3 * hidden_size)
        self.img_proj = nn.Linear(hidden_size, hidden_size)
        self.txt_proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, img, txt):
        L = txt.shape[1]
        qkv = torch.cat([self.txt_qkv(txt), self.img_qkv(img)], dim=1)
        B, N, _ = qkv.shape
        q, k, v = qkv.view(B, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        attn = nn.functional.scaled_dot_product_attention(q, k, v)
        attn = attn.permute(0, 2, 1, 3).reshape(B, N, -1)
        txt_attn, img_attn = attn[:, :L], attn[:, L:]
        return img + self.img_proj(img_attn), txt + self.txt_proj(txt_attn)


def get_inputs():
    return [torch.randn(2, 256, 256), torch.randn(2, 77, 256)]


def get_init_inputs():
    return [256, 4]
