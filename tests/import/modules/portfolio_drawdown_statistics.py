import torch
from math import sqrt

ASSETS, DAYS = 200, 1000
TRADING_DAYS = 252

class Model(torch.nn.Module):
    def __init__(self, span=20, conf=0.95):
        super().__init__()
        self.span = span; self.conf = conf

    def sharpe(self, r):
        return r.mean(-1) / r.std(-1) * sqrt(TRADING_DAYS)

    def max_drawdown(self, wealth):
        peak, _ = wealth.cummax(dim=-1)
        dd = wealth / peak - 1
        return dd.min(dim=-1).values, (dd < 0).long().cumsum(-1)[..., -1]

    def rolling_vol(self, r):
        w = r.unfold(-1, self.span, 5)
        return w.std(dim=-1, unbiased=False) * sqrt(TRADING_DAYS)

    def cvar(self, r):
        q = torch.quantile(r, 1 - self.conf, dim=-1, keepdim=True)
        tail = (r <= q).to(r.dtype)
        return (r * tail).sum(-1) / tail.sum(-1)

    def forward(self, returns):
        wealth = (1 + returns).cumprod(-1)
        mdd, days_under = self.max_drawdown(wealth)
        corr = torch.corrcoef(returns)
        return {'sharpe': self.sharpe(returns), 'mdd': mdd, 'under': days_under,
                'vol': self.rolling_vol(returns), 'cvar': self.cvar(returns), 'corr': corr}

def get_inputs():
    return [torch.randn(ASSETS, DAYS) * 0.01]

def get_init_inputs():
    return []
