import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n_user, n_item, n_rel):
        super(Model, self).__init__()
        self.interaction = nn.Bilinear(in1_features=n_user, in2_features=n_item, out_features=n_rel, bias=False)
        self.user_bias = nn.Linear(n_user, 1)

    def forward(self, user, item):
        rel = nn.functional.relu(self.interaction(user, item))
        score = rel.mean(dim=1) + self.user_bias(user).squeeze(1)
        return torch.sigmoid(score)


def get_inputs():
    return [torch.rand(3000, 32), torch.rand(3000, 36)]


def get_init_inputs():
    return [32, 36, 24]
