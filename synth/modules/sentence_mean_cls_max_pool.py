import torch
import torch.nn as nn


class Model(nn.Module):
    """sentence-transformers Pooling: chosen modes are computed and concatenated."""

    MODES = ("cls", "max", "mean", "mean_sqrt_len")

    def __init__(self, modes):
        super().__init__()
        unknown = set(modes) - set(self.MODES)
        assert not unknown, unknown
        self.modes = modes

    def forward(self, token_embeddings, attention_mask):
        expanded = attention_mask.unsqueeze(-1).expand(token_embeddings.size()).float()
        output_vectors = []
        if "cls" in self.modes:
            output_vectors.append(token_embeddings[:, 0])
        if "max" in self.modes:
            output_vectors.append(token_embeddings.masked_fill(expanded == 0, -1e9).max(1)[0])
        if "mean" in self.modes or "mean_sqrt_len" in self.modes:
            total = torch.sum(token_embeddings * expanded, 1)
            count = torch.clamp(expanded.sum(1), min=1e-9)
            if "mean" in self.modes:
                output_vectors.append(total / count)
            if "mean_sqrt_len" in self.modes:
                output_vectors.append(total / torch.sqrt(count))
        return torch.cat(output_vectors, 1)


def get_inputs():
    mask = (torch.arange(128)[None] < torch.randint(20, 129, (32, 1))).long()
    return [torch.randn(32, 128, 384), mask]


def get_init_inputs():
    return [["cls", "max", "mean_sqrt_len"]]
