import torch
import torch.nn as nn

SECTIONS = (16, 24, 24)


class Model(nn.Module):
    """Multimodal rotary: time / height / width ids each drive a section of the frequencies (Qwen2-VL)."""

    def __init__(self, head_dim, sections=SECTIONS):
        super().__init__()
        self.sections = list(sections)
        assert 2 * sum(self.sections) == head_dim
        self.register_buffer("inv_freq", 1e6 ** (-torch.arange(0, head_dim, 2).float() / head_dim))

    def forward(self, q, position_ids):
        # position_ids: (3, batch, seq)
        freqs = position_ids[..., None].float() * self.inv_freq
        t, h, w = freqs[0], freqs[1], freqs[2]
        a, b, c = self.sections
        mixed = torch.cat([t[..., :a], h[..., a:a + b], w[..., a + b:]], dim=-1)
        emb = torch.cat([mixed, mixed], dim=-1).unsqueeze(1)
        q1, q2 = q.split(q.shape[-1] // 2, dim=-1)
        return q * torch.cos(emb) + torch.cat([-q2, q1], dim=-1) * torch.sin(emb)


def get_inputs():
    return [torch.randn(2, 8, 320, 128), torch.randint(0, 64, (3, 2, 320))]


def get_init_inputs():
    return [128]
