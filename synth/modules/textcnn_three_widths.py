import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, V, D, Co, Ks, C):
        super().__init__()
        self.embed = nn.Embedding(V, D)
        self.convs = nn.ModuleList([nn.Conv1d(D, Co, K) for K in Ks])
        self.fc1 = nn.Linear(len(Ks) * Co, C)

    def forward(self, x):
        x = self.embed(x).transpose(1, 2)
        x = [F.relu(conv(x)).amax(dim=2) for conv in self.convs]
        x = torch.cat(x, 1)
        return self.fc1(x)


def get_inputs():
    return [torch.randint(0, 5000, (64, 80))]


def get_init_inputs():
    return [5000, 100, 50, [3, 4, 5], 6]
