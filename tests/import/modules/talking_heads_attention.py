import torch
import torch.nn as nn

DIM, HEADS, TOKENS = 72, 6, 64

class Model(nn.Module):
    # Talking heads (CaiT): heads are mixed before and after the softmax; layer scale on the residual
    def __init__(self, dim, num_heads=8, qkv_bias=False, qk_scale=None, init_values=1e-1):
        super().__init__()
        self.num_heads = num_heads
        head_dim = dim // num_heads
        self.scale = qk_scale or head_dim ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)
        self.proj_l = nn.Linear(num_heads, num_heads)
        self.proj_w = nn.Linear(num_heads, num_heads)
        self.gamma_1 = nn.Parameter(init_values * torch.ones((dim)),requires_grad=True)

    def attend(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0] * self.scale , qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1))
        attn = self.proj_l(attn.permute(0,2,3,1)).permute(0,3,1,2)
        attn = attn.softmax(dim=-1)
        attn = self.proj_w(attn.permute(0,2,3,1)).permute(0,3,1,2)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)

    def forward(self, x):
        return x + self.gamma_1 * self.attend(self.norm(x))

def get_inputs():
    return [torch.randn(4, TOKENS, DIM)]

def get_init_inputs():
    return [DIM, HEADS]
