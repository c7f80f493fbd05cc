import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self, V, D, Co, Ks, C):
        super(Model, self).__init__()
        self.embed = nn.Embedding(V, D)
        self.convs = nn.ModuleList([nn.Conv2d(1, Co, (K, D)) for K in Ks])
        self.fc1 = nn.Linear(len(Ks) * Co, C)

    def forward(self, x):
        x = self.embed(x)  # (N, W, D)
        x = x.unsqueeze(1)  # (N, Ci, W, D)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]  # [(N, Co, W), ...]*len(Ks)
        x = [F.max_pool1d(i, i.size(2)).squeeze(2) for i in x]  # [(N, Co), ...]*len(Ks)
        x = torch.cat(x, 1)
        logit = self.fc1(x)  # (N, C)
        return logit


def get_inputs():
    return [torch.randint(0, 3000, (1000, 60))]


def get_init_inputs():
    return [3000, 44, 40, [3, 4, 5], 6]
