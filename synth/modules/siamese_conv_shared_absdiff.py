import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, ch, feat):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(1, ch, 5), nn.ReLU(), nn.MaxPool2d(2))
        self.fc = nn.Linear(ch * 12 * 12, feat)
        self.out = nn.Linear(feat, 1)

    def forward_one(self, x):
        x = self.cnn(x)
        x = x.view(x.size()[0], -1)
        return torch.sigmoid(self.fc(x))

    def forward(self, input1, input2):
        output1 = self.forward_one(input1)
        output2 = self.forward_one(input2)
        dis = torch.abs(output1 - output2)
        return self.out(dis)


def get_inputs():
    return [torch.randn(64, 1, 28, 28), torch.randn(64, 1, 28, 28)]


def get_init_inputs():
    return [12, 128]
