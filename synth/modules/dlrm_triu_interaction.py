import torch
import torch.nn as nn


class Model(nn.Module):
    """DLRM: bottom MLP, embedding lookups, lower-triangle dot interactions, top MLP."""

    def __init__(self, n_dense, table_sizes, m_spa, top):
        super().__init__()
        self.bot_l = nn.Sequential(nn.Linear(n_dense, 64), nn.ReLU(), nn.Linear(64, m_spa), nn.ReLU())
        self.emb_l = nn.ModuleList([nn.Embedding(n, m_spa) for n in table_sizes])
        n = len(table_sizes) + 1
        li, lj = torch.tril_indices(n, n, offset=-1)
        self.register_buffer("li", li)
        self.register_buffer("lj", lj)
        self.top_l = nn.Sequential(nn.Linear(m_spa + n * (n - 1) // 2, top), nn.ReLU(), nn.Linear(top, 1), nn.Sigmoid())

    def forward(self, dense_x, lS_i):
        x = self.bot_l(dense_x)
        ly = [emb(lS_i[:, k]) for k, emb in enumerate(self.emb_l)]
        T = torch.cat([x] + ly, dim=1).view(x.size(0), -1, x.size(1))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        R = torch.cat([x, Z[:, self.li, self.lj]], dim=1)
        return self.top_l(R)


def get_inputs():
    return [torch.rand(2048, 13), torch.randint(0, 1000, (2048, 4))]


def get_init_inputs():
    return [13, [1000, 2000, 1500, 1000], 32, 128]
