import torch
import torch.nn as nn


class Model(nn.Module):
    """Named modalities are projected, gated by a joint softmax and summed; missing ones are switched off."""

    def __init__(self, dims, out_dim):
        super().__init__()
        self.names = sorted(dims)
        self.proj = nn.ModuleDict({k: nn.Linear(dims[k], out_dim) for k in self.names})
        self.gate = nn.Linear(sum(dims.values()), len(dims))

    def forward(self, audio, text, video, present):
        feats = {"audio": audio, "text": text, "video": video}
        cat = torch.cat([feats[k] for k in self.names], dim=-1)
        logits = self.gate(cat).masked_fill(present == 0, -1e4)
        weights = logits.softmax(dim=-1)
        fused = sum(weights[:, i : i + 1] * torch.tanh(self.proj[k](feats[k])) for i, k in enumerate(self.names))
        return fused, weights


def get_inputs():
    present = (torch.rand(1500, 3) > 0.2).float()
    return [torch.randn(1500, 74), torch.randn(1500, 300), torch.randn(1500, 128), present]


def get_init_inputs():
    return [{"audio": 74, "text": 300, "video": 128}, 160]
