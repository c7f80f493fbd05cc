from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor, nn

AUDIO, VIDEO, TEXT = 40, 64, 96
RANK = 8
BATCH = 1024


@dataclass
class FusionOutput:
    logits: Tensor
    gates: Tensor
    loss: Optional[Tensor] = None


class LowRankFusion(nn.Module):
    """Product of low-rank projections of the modalities, each with a constant one appended."""

    def __init__(self, sizes: dict[str, int], rank: int, out: int) -> None:
        super().__init__()
        self.factors = nn.ParameterDict({k: nn.Parameter(torch.randn(rank, n + 1, out) / n ** 0.5) for k, n in sizes.items()})
        self.weights = nn.Parameter(torch.full((1, rank), 1.0 / rank))
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, **modalities: Tensor) -> Tensor:
        product: Optional[Tensor] = None
        for name, x in modalities.items():
            x = F.pad(x, (0, 1), value=1.0)
            projected = torch.einsum("bi,rio->rbo", x, self.factors[name])
            product = projected if product is None else product * projected
        return torch.einsum("r,rbo->bo", self.weights[0], product) + self.bias


class Model(nn.Module):
    def __init__(self, audio: int, video: int, text: int, rank: int) -> None:
        super().__init__()
        self.fusion = LowRankFusion(dict(audio=audio, video=video, text=text), rank, 16)
        self.gate = nn.Linear(audio + video + text, 3)

    def forward(self, audio: Tensor, video: Tensor, text: Tensor, labels: Tensor | None = None) -> FusionOutput:
        gates = self.gate(torch.cat((audio, video, text), dim=1)).softmax(dim=1)
        ga, gv, gt = gates.tensor_split(3, dim=1)
        logits = self.fusion(audio=audio * ga, video=video * gv, text=text * gt)
        out = FusionOutput(logits=logits, gates=gates)
        if labels is not None:
            out.loss = F.multi_margin_loss(logits, labels)
        return out


def get_inputs():
    return [torch.randn(BATCH, AUDIO), torch.randn(BATCH, VIDEO), torch.randn(BATCH, TEXT), torch.randint(0, 16, (BATCH,))]


def get_init_inputs():
    return [AUDIO, VIDEO, TEXT, RANK]
