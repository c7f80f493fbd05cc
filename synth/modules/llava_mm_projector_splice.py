import torch
import torch.nn as nn


class Model(nn.Module):
    """Patch features (class token dropped) through a 2-layer projector and placed between text embeddings."""

    def __init__(self, vision_dim, text_dim, vocab):
        super().__init__()
        self.linear_1 = nn.Linear(vision_dim, text_dim, bias=True)
        self.act = nn.GELU()
        self.linear_2 = nn.Linear(text_dim, text_dim, bias=True)
        self.embed_tokens = nn.Embedding(vocab, text_dim)

    def forward(self, image_features, prefix_ids, suffix_ids):
        selected = image_features[:, 1:]
        visual = self.linear_2(self.act(self.linear_1(selected)))
        pre, post = self.embed_tokens(prefix_ids), self.embed_tokens(suffix_ids)
        return torch.cat([pre, visual, post], dim=1)


def get_inputs():
    return [torch.randn(4, 197, 384), torch.randint(0, 8000, (4, 12)), torch.randint(0, 8000, (4, 60))]


def get_init_inputs():
    return [384, 512, 8000]
