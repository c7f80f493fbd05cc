import torch
import torch.nn as nn


class Model(nn.Module):
    """Decode attention over a paged cache: pages are gathered through the block table."""

    def __init__(self, page_size: int, scale: float):
        super().__init__()
        self.page_size = page_size
        self.scale = scale

    def forward(self, q, key_pages, value_pages, block_tables, context_lens):
        B, H, D = q.shape
        k = key_pages[block_tables].reshape(B, -1, H, D)
        v = value_pages[block_tables].reshape(B, -1, H, D)
        s = torch.einsum("bhd,blhd->bhl", q, k) * self.scale
        dead = torch.arange(k.shape[1], device=q.device).expand(B, -1) >= context_lens.unsqueeze(-1)
        s = s.masked_fill(dead[:, None], torch.finfo(s.dtype).min)
        return torch.einsum("bhl,blhd->bhd", s.softmax(dim=-1), v)


def get_inputs():
    return [
        torch.randn(8, 8, 64),
        torch.randn(200, 16, 8, 64),
        torch.randn(200, 16, 8, 64),
        torch.randint(0, 200, (8, 18)),
        torch.randint(1, 18 * 16 + 1, (8,)),
    ]


def get_init_inputs():
    return [16, 0.125]
