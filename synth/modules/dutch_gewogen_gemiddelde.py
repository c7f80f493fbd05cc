import torch
import torch.nn as nn


class Model(nn.Module):
    """Gewogen gemiddelde over de tijd; de gewichten komen uit een lineaire laag."""

    def __init__(self, breedte: int):
        super().__init__()
        self.gewicht_laag = nn.Linear(breedte, 1, bias=False)
        self.uitvoer_laag = nn.Linear(breedte, breedte)

    def forward(self, reeks: torch.Tensor, lengte: torch.Tensor) -> torch.Tensor:
        score = self.gewicht_laag(reeks).squeeze(-1)
        tijd = torch.arange(reeks.shape[1], device=reeks.device)
        score = score.masked_fill(tijd[None, :] >= lengte[:, None], float("-inf"))
        gewicht = torch.softmax(score, dim=1)
        gemiddelde = (gewicht.unsqueeze(-1) * reeks).sum(1)
        return self.uitvoer_laag(gemiddelde)


def get_inputs():
    return [torch.randn(64, 90, 200), torch.randint(1, 91, (64,))]


def get_init_inputs():
    return [200]
