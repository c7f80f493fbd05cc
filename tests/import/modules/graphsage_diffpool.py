import torch
import torch.nn as nn
import torch.nn.functional as F

B, N, F_IN, F_OUT, CLUSTERS = 8, 128, 24, 48, 16
EPS = 1e-15

class DenseSAGEConv(nn.Module):
    def __init__(self, i, o, normalize=False):
        super().__init__()
        self.normalize = normalize
        self.lin_rel = nn.Linear(i, o, bias=False)
        self.lin_root = nn.Linear(i, o)

    def forward(self, x, adj, mask=None):
        x = x.unsqueeze(0) if x.dim() == 2 else x
        adj = adj.unsqueeze(0) if adj.dim() == 2 else adj
        out = torch.matmul(adj, x)
        out = out / adj.sum(dim=-1, keepdim=True).clamp(min=1)
        out = self.lin_rel(out) + self.lin_root(x)
        if self.normalize:
            out = F.normalize(out, p=2.0, dim=-1)
        if mask is not None:
            out = out * mask.view(x.size(0), x.size(1), 1).to(x.dtype)
        return out

def dense_diff_pool(x, adj, s):
    s = torch.softmax(s, dim=-1)
    out = torch.matmul(s.transpose(1, 2), x)
    out_adj = torch.matmul(torch.matmul(s.transpose(1, 2), adj), s)
    link_loss = adj - torch.matmul(s, s.transpose(1, 2))
    link_loss = torch.norm(link_loss, p=2) / adj.numel()
    ent_loss = (-s * torch.log(s + EPS)).sum(dim=-1).mean()
    return out, out_adj, link_loss, ent_loss

class Model(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.gnn1_pool = DenseSAGEConv(i, k)
        self.gnn1_embed = DenseSAGEConv(i, o, normalize=True)
        self.gnn2_embed = DenseSAGEConv(o, o)
        self.lin = nn.Linear(o, 6)

    def forward(self, x, adj):
        s = self.gnn1_pool(x, adj)
        x = self.gnn1_embed(x, adj)
        x, adj, l1, e1 = dense_diff_pool(x, adj, s)
        x = self.gnn2_embed(x.relu(), adj)
        x = x.mean(dim=1)
        return F.log_softmax(self.lin(x), dim=-1), l1, e1

def get_inputs():
    a = (torch.rand(B, N, N) > .8).float()
    return [torch.randn(B, N, F_IN), ((a + a.transpose(1, 2)) > 0).float()]
def get_init_inputs():
    return [F_IN, F_OUT, CLUSTERS]
