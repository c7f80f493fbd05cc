import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Picks the outputs of one class block by a one-hot of the label; capsules' masked reconstruction input."""

    def __init__(self, d_in, n_classes, d_caps):
        super().__init__()
        self.n_classes = n_classes
        self.lin = nn.Linear(d_in, n_classes * d_caps)

    def forward(self, x, label):
        caps = F.relu(self.lin(x)).reshape(x.size(0), self.n_classes, -1)
        mask = F.one_hot(label, self.n_classes).to(caps.dtype)
        return (caps * mask.unsqueeze(2)).flatten(1) * 0.5


def get_inputs():
    return [torch.randn(512, 160), torch.randint(0, 10, (512,))]


def get_init_inputs():
    return [160, 10, 32]
