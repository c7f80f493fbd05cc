import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels=[3, 16, 32, 48], num_actions=12):
        super().__init__()
        stages = []
        for cin, cout in zip(channels[:-1], channels[1:]):
            stages += [
                nn.Conv3d(cin, cout, kernel_size=3, padding=1),
                nn.LeakyReLU(0.1),
                nn.MaxPool3d(kernel_size=2),
            ]
        self.features = nn.Sequential(*stages)
        self.classifier = nn.Linear(channels[-1], num_actions)

    def forward(self, clip):
        # clip: [B, 3, T, H, W]
        h = self.features(clip)
        h = h.mean(dim=(2, 3, 4))
        return self.classifier(h)


B, T, S = 4, 16, 48


def get_inputs():
    return [torch.randn(B, 3, T, S, S)]


def get_init_inputs():
    return [[3, 16, 32, 48], 12]
