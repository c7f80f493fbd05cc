import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, emb):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(),
            nn.Conv2d(16, 32, 5, stride=2), nn.ReLU(),
        )
        self.fc = nn.Linear(32 * 9 * 9, emb)

    def forward(self, x):
        return self.fc(self.net(x).view(x.size(0), -1))


class Model(nn.Module):
    """Shared encoder on both images; margin loss on the squared differences."""

    def __init__(self, emb=50, margin=2.0):
        super().__init__()
        self.encoder = Encoder(emb)
        self.margin = margin

    def forward(self, left, right, same):
        d2 = (self.encoder(left) - self.encoder(right)).pow(2).sum(dim=1)
        d = torch.sqrt(d2 + 1e-8)
        loss = same * d2 + (1 - same) * F.relu(self.margin - d).pow(2)
        return 0.5 * loss.mean()


def get_inputs():
    n = 64
    return [torch.rand(n, 1, 48, 48), torch.rand(n, 1, 48, 48), (torch.rand(n) > 0.5).float()]


def get_init_inputs():
    return [50, 2.0]
