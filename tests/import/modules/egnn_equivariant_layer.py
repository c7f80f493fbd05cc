import torch
import torch.nn as nn

BATCH, NODES, FEATS, HIDDEN = 4, 24, 16, 32


def exists(val):
    return val is not None


class CoorsNorm(nn.Module):
    def __init__(self, eps=1e-8, scale_init=1.):
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.zeros(1).fill_(scale_init))

    def forward(self, coors):
        norm = coors.norm(dim=-1, keepdim=True)
        return coors / norm.clamp(min=self.eps) * self.scale


class Model(nn.Module):
    def __init__(self, dim, m_dim, norm_coors=True, soft_edges=True):
        super().__init__()
        self.edge_mlp = nn.Sequential(nn.Linear(dim * 2 + 1, m_dim * 2), nn.SiLU(), nn.Linear(m_dim * 2, m_dim), nn.SiLU())
        self.edge_gate = nn.Sequential(nn.Linear(m_dim, 1), nn.Sigmoid()) if soft_edges else None
        self.node_norm = nn.LayerNorm(dim)
        self.coors_norm = CoorsNorm() if norm_coors else nn.Identity()
        self.node_mlp = nn.Sequential(nn.Linear(dim + m_dim, dim * 2), nn.SiLU(), nn.Linear(dim * 2, dim))
        self.coors_mlp = nn.Sequential(nn.Linear(m_dim, m_dim * 4), nn.SiLU(), nn.Linear(m_dim * 4, 1))
        self.apply(self.init_)

    def init_(self, module):
        if type(module) in {nn.Linear}:
            nn.init.normal_(module.weight, std=0.1)

    def forward(self, feats, coors, mask=None):
        b, n, d = feats.shape
        rel_coors = coors[:, :, None, :] - coors[:, None, :, :]
        rel_dist = (rel_coors ** 2).sum(dim=-1, keepdim=True)
        feats_i = feats[:, :, None, :].expand(-1, -1, n, -1)
        feats_j = feats[:, None, :, :].expand(-1, n, -1, -1)
        m_ij = self.edge_mlp(torch.cat((feats_i, feats_j, rel_dist), dim=-1))
        if exists(self.edge_gate):
            m_ij = m_ij * self.edge_gate(m_ij)
        mask_ij = None
        if exists(mask):
            mask_ij = (mask[:, :, None] * mask[:, None, :]).unsqueeze(-1)
            m_ij = m_ij.masked_fill(~mask_ij, 0.)
        coor_weights = self.coors_mlp(m_ij).squeeze(-1)
        if exists(mask_ij):
            coor_weights.masked_fill_(~mask_ij.squeeze(-1), 0.)
        coors_out = torch.einsum('b i j, b i j c -> b i c', coor_weights, self.coors_norm(rel_coors)) + coors
        node_out = self.node_mlp(torch.cat((self.node_norm(feats), m_ij.sum(dim=-2)), dim=-1)) + feats
        return node_out, coors_out


def get_inputs():
    mask = torch.ones(BATCH, NODES, dtype=torch.bool)
    mask[0, -5:] = False
    return [torch.randn(BATCH, NODES, FEATS), torch.randn(BATCH, NODES, 3), mask]


def get_init_inputs():
    return [FEATS, HIDDEN]
