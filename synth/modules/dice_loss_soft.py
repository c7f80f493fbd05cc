import torch


class Model(torch.nn.Module):
    def __init__(self, smooth: float = 1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, pred, mask):
        pred = pred.sigmoid().flatten(1)
        mask = mask.flatten(1)
        inter = (pred * mask).sum(1)
        union = pred.sum(1) + mask.sum(1)
        return 1 - (2 * inter + self.smooth) / (union + self.smooth)


def get_inputs():
    return [torch.randn(18, 1, 150, 160), (torch.rand(18, 1, 150, 160) > 0.7).float()]


def get_init_inputs():
    return []