import torch
import torch.nn as nn


class Model(nn.Module):
    """
    First two stages of an AlexNet-like network: big strided convolution, ReLU,
    overlapping max pooling; then a grouped convolution.
    """

    def __init__(self, stem_width, second_width):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, stem_width, kernel_size=11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
            nn.Conv2d(stem_width, second_width, kernel_size=5, padding=2, groups=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(kernel_size=3, stride=2),
        )

    def forward(self, images):
        """images: (N, 3, H, W)"""
        return self.features(images)


def get_inputs():
    return [torch.randn(4, 3, 195, 195)]


def get_init_inputs():
    return [48, 128]
