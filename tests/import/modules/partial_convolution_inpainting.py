import torch
import torch.nn as nn
import torch.nn.functional as F

CIN, COUT, RES, BATCH = 16, 32, 40, 2

class PartialConv2d(nn.Conv2d):
    """Convolution over valid pixels only; the mask grows with every layer."""

    def __init__(self, *args, **kwargs):
        self.return_mask = kwargs.pop("return_mask", False)
        super().__init__(*args, **kwargs)
        self.register_buffer("weight_maskUpdater", torch.ones(1, 1, self.kernel_size[0], self.kernel_size[1]))
        self.slide_winsize = self.weight_maskUpdater.shape[2] * self.weight_maskUpdater.shape[3]

    def forward(self, input, mask_in=None):
        assert len(input.shape) == 4
        with torch.no_grad():
            mask = torch.ones(1, 1, *input.shape[2:]).to(input) if mask_in is None else mask_in
            update_mask = F.conv2d(mask, self.weight_maskUpdater, bias=None, stride=self.stride, padding=self.padding)
            mask_ratio = self.slide_winsize / (update_mask + 1e-8)
            update_mask = torch.clamp(update_mask, 0, 1)
            mask_ratio = torch.mul(mask_ratio, update_mask)
        raw_out = super().forward(torch.mul(input, mask) if mask_in is not None else input)
        if self.bias is not None:
            bias_view = self.bias.view(1, self.out_channels, 1, 1)
            output = torch.mul(raw_out - bias_view, mask_ratio) + bias_view
            output = torch.mul(output, update_mask)
        else:
            output = torch.mul(raw_out, mask_ratio)
        return (output, update_mask) if self.return_mask else output

class Model(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.c1 = PartialConv2d(cin, cout, 5, stride=2, padding=2, return_mask=True)
        self.c2 = PartialConv2d(cout, cout, 3, padding=1, bias=False)
    def forward(self, x, hole):
        x, m = self.c1(x, 1 - hole)
        return self.c2(F.relu(x), m)

def get_inputs():
    hole = torch.zeros(BATCH, 1, RES, RES)
    hole[:, :, 10:25, 8:30] = 1.
    return [torch.rand(BATCH, CIN, RES, RES), hole]
def get_init_inputs():
    return [CIN, COUT]
