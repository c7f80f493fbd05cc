import torch
import torch.nn as nn


class Model(nn.Module):
    # neural collaborative filtering: GMF branch and MLP branch
    def __init__(self, users, items, k, layers):
        super().__init__()
        self.u_gmf = nn.Embedding(users, k)
        self.i_gmf = nn.Embedding(items, k)
        self.u_mlp = nn.Embedding(users, layers[0] // 2)
        self.i_mlp = nn.Embedding(items, layers[0] // 2)
        self.fcs = nn.ModuleList(nn.Linear(i, o) for i, o in zip(layers[:-1], layers[1:]))
        self.predict = nn.Linear(k + layers[-1], 1)
        self.to(torch.float16)

    def forward(self, user, item):
        gmf = self.u_gmf(user) * self.i_gmf(item)
        x = torch.cat([self.u_mlp(user), self.i_mlp(item)], dim=-1)
        for fc in self.fcs:
            x = torch.relu(fc(x))
        return torch.sigmoid(self.predict(torch.cat([gmf, x], dim=-1))).view(-1)


N = 30000


def get_inputs():
    return [torch.randint(0, 943, (N,)), torch.randint(0, 1682, (N,))]


def get_init_inputs():
    return [943, 1682, 12, [48, 24, 12]]
