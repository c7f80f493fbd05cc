import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, guidance_scale=7.5, rescale=0.7):
        super(Model, self).__init__()
        self.guidance_scale = guidance_scale
        self.rescale = rescale

    def forward(self, cond, uncond):
        noise = uncond + self.guidance_scale * (cond - uncond)
        dims = list(range(1, cond.ndim))
        std_text = cond.std(dim=dims, keepdim=True)
        std_cfg = noise.std(dim=dims, keepdim=True)
        rescaled = noise * (std_text / std_cfg)
        return self.rescale * rescaled + (1 - self.rescale) * noise


def get_inputs():
    return [torch.randn(6, 4, 120, 88), torch.randn(6, 4, 120, 88)]


def get_init_inputs():
    return [5.0, 0.6]
