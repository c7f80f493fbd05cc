import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self, ch):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, ch, 3, 1)
        self.conv2 = nn.Conv2d(ch, 2 * ch, 3, 1)
        self.fc1 = nn.Linear(2 * ch * 144, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = self.conv1(x)
        x = F.relu(x)
        x = self.conv2(x)
        x = F.relu(x)
        x = F.max_pool2d(x, 2)
        x = torch.flatten(x, 1)
        x = self.fc1(x)
        x = F.relu(x)
        x = self.fc2(x)
        output = F.log_softmax(x, dim=1)
        return output

class Model(Net):
    pass

def get_inputs():
    return [torch.randn(100, 1, 28, 28)]

def get_init_inputs():
    return [16]
