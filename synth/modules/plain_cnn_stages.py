import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Plain convolutional classifier for small RGB crops."""

    def __init__(self, num_classes=43, widths=(24, 48, 96)):
        super(Model, self).__init__()
        self.conv1 = nn.Conv2d(3, widths[0], 3, padding=1)
        self.conv2 = nn.Conv2d(widths[0], widths[1], 3, padding=1)
        self.conv3 = nn.Conv2d(widths[1], widths[2], 3, padding=1)
        self.fc = nn.Linear(widths[2] * 5 * 5, num_classes)

    def forward(self, x):
        # x: (N, 3, 40, 40)
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)   # (N, 24, 20, 20)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)   # (N, 48, 10, 10)
        x = F.max_pool2d(F.relu(self.conv3(x)), 2)   # (N, 96, 5, 5)
        x = x.view(x.size(0), -1)
        return self.fc(x)


batch_size = 64


def get_inputs():
    return [torch.randn(batch_size, 3, 40, 40)]


def get_init_inputs():
    return [43, [24, 48, 96]]
