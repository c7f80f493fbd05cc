import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, k=16, widths=(48, 96, 200)):
        super(Model, self).__init__()
        self.conv1 = nn.Conv1d(3, widths[0], 1)
        self.conv2 = nn.Conv1d(widths[0], widths[1], 1)
        self.conv3 = nn.Conv1d(widths[1], widths[2], 1)
        self.fc1 = nn.Linear(widths[2], 100)
        self.fc2 = nn.Linear(100, k)

    def forward(self, x):
        # x: B x 3 x N
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = self.conv3(x)
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(x.shape[0], -1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def get_inputs():
    return [torch.randn(20, 3, 1100)]


def get_init_inputs():
    return [16, [48, 96, 200]]
