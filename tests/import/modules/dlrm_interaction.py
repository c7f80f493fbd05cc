import torch
import torch.nn as nn

DENSE = 13
TABLES = [100, 200, 50, 80]
DIM = 16
BATCH = 2048


class Model(nn.Module):
    def create_mlp(self, ln, sigmoid_layer):
        layers = nn.ModuleList()
        for i in range(0, len(ln) - 1):
            n, m = ln[i], ln[i + 1]
            LL = nn.Linear(int(n), int(m), bias=True)
            layers.append(LL)
            if i == sigmoid_layer:
                layers.append(nn.Sigmoid())
            else:
                layers.append(nn.ReLU())
        return torch.nn.Sequential(*layers)

    def __init__(self, m_spa, ln_emb, dense, arch_interaction_itself=False):
        super(Model, self).__init__()
        self.arch_interaction_itself = arch_interaction_itself
        self.emb_l = nn.ModuleList([nn.EmbeddingBag(n, m_spa, mode="sum") for n in ln_emb])
        self.bot_l = self.create_mlp([dense, 64, m_spa], -1)
        ni = len(ln_emb) + 1
        num_int = (ni * (ni + 1)) // 2 + m_spa if arch_interaction_itself else (ni * (ni - 1)) // 2 + m_spa
        self.top_l = self.create_mlp([num_int, 64, 1], 1)

    def apply_emb(self, lS_i, emb_l):
        ly = []
        for k in range(len(emb_l)):
            E = emb_l[k]
            V = E(lS_i[:, k, :])
            ly.append(V)
        return ly

    def interact_features(self, x, ly):
        (batch_size, d) = x.shape
        T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        offset = 1 if self.arch_interaction_itself else 0
        li = torch.tensor([i for i in range(ni) for j in range(i + offset)])
        lj = torch.tensor([j for i in range(nj) for j in range(i + offset)])
        Zflat = Z[:, li, lj]
        return torch.cat([x] + [Zflat], dim=1)

    def forward(self, dense_x, lS_i):
        x = self.bot_l(dense_x)
        ly = self.apply_emb(lS_i, self.emb_l)
        z = self.interact_features(x, ly)
        return self.top_l(z)


def get_inputs():
    return [torch.rand(BATCH, DENSE), torch.randint(0, min(TABLES), (BATCH, len(TABLES), 3))]


def get_init_inputs():
    return [DIM, TABLES, DENSE]
