import torch
import torch.nn as nn


class Model(nn.Module):
    # Robust reconstruction loss plus total variation of the prediction
    def __init__(self, eps: float, tv_weight: float):
        super().__init__()
        self.eps2 = eps ** 2
        self.tv_weight = tv_weight

    def total_variation(self, img):
        dh = (img[..., 1:, :] - img[..., :-1, :]).abs().mean()
        dw = (img[..., :, 1:] - img[..., :, :-1]).abs().mean()
        return dh + dw

    def forward(self, pred, gt):
        data = torch.sqrt((pred - gt) ** 2 + self.eps2).mean()
        return data + self.tv_weight * self.total_variation(pred)


def get_inputs():
    return [torch.rand(6, 3, 230, 310), torch.rand(6, 3, 230, 310)]


def get_init_inputs():
    return [1e-3, 0.05]
