import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, feature_transform, k):
        super(Model, self).__init__()
        self.conv1 = torch.nn.Conv1d(3, 64, 1)
        self.conv2 = torch.nn.Conv1d(64, 128, 1)
        self.bn1 = nn.BatchNorm1d(64)
        self.bn2 = nn.BatchNorm1d(128)
        self.fc = nn.Linear(128, k)
        self.feature_transform = feature_transform

    def forward(self, x, trans):
        x = torch.bmm(x.transpose(2, 1), trans).transpose(2, 1) if self.feature_transform else x
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.bn2(self.conv2(x))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 128)
        return F.log_softmax(self.fc(x), dim=1)


def get_inputs():
    return [torch.randn(16, 3, 1024), torch.eye(3).expand(16, 3, 3).contiguous()]


def get_init_inputs():
    return [True, 40]
