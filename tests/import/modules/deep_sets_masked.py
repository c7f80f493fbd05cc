import torch
from torch import nn

SETS, ELEMENTS, DIM, HIDDEN = 32, 50, 12, 64

def masked_reduce(x, mask, how):
    m = mask.unsqueeze(-1)
    if how == 'sum':  return (x * m).sum(dim=1)
    if how == 'mean': return (x * m).sum(dim=1) / m.sum(dim=1).clamp(min=1)
    if how == 'max':  return x.masked_fill(~m, float('-inf')).amax(dim=1)
    if how == 'std':
        mu = masked_reduce(x, mask, 'mean').unsqueeze(1)
        return (masked_reduce((x - mu) ** 2, mask, 'mean') + 1e-6).sqrt()
    raise KeyError(how)

class Model(nn.Module):
    def __init__(self, dim, hidden, aggregators=('mean', 'max', 'std')):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(dim, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU())
        self.rho = nn.Sequential(nn.Linear(hidden * len(aggregators), hidden), nn.ELU(), nn.Linear(hidden, 1))
        self.aggregators = aggregators
    def forward(self, x, lengths):
        mask = torch.arange(x.size(1), device=x.device).unsqueeze(0) < lengths.unsqueeze(1)
        h = self.phi(x)
        pooled = torch.cat([masked_reduce(h, mask, a) for a in self.aggregators], dim=-1)
        return self.rho(pooled)

def get_inputs():
    return [torch.randn(SETS, ELEMENTS, DIM), torch.randint(2, ELEMENTS + 1, (SETS,))]
def get_init_inputs():
    return [DIM, HIDDEN]
