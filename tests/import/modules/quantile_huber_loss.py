import torch, torch.nn as nn
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SERIES, HORIZON = 512, 48

class Model(nn.Module):
    """pinball loss, huberised, weighted by series scale; also returns coverage"""
    def __init__(self, quantiles, kappa=.1):
        super().__init__()
        self.register_buffer('q', torch.as_tensor(quantiles))
        self.kappa = kappa
    def forward(self, pred, actual, insample=None):
        u = actual[..., None] - pred
        a = torch.abs(u)
        huber = torch.where(a <= self.kappa, .5 * u ** 2 / self.kappa, a - .5 * self.kappa)
        loss = torch.abs(self.q - (u < 0).type_as(u)) * huber
        if insample is not None:
            scale = (insample[:, 1:] - insample[:, :-1]).abs().mean(1).clamp_min(1e-4)
            loss = loss / scale[:, None, None]
        srt = pred.sort(-1)[0]
        coverage = ((actual >= srt[..., 0]) & (actual <= srt[..., -1])).float().mean()
        crossing = torch.relu(pred[..., :-1] - pred[..., 1:]).mean()
        return loss.mean() + crossing, coverage

def get_inputs():
    return [torch.randn(SERIES, HORIZON, len(QUANTILES)), torch.randn(SERIES, HORIZON), torch.randn(SERIES, 60)]
def get_init_inputs():
    return [QUANTILES]
