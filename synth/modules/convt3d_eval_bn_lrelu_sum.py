import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """
    Transposed 3D convolution, batch normalisation in evaluation mode, leaky ReLU
    and a sum over the depth axis.

    Args:
        cin: channels of the input volume
        cout: channels of the output volume
        k: kernel edge
        s: stride
        p: padding
        slope: negative slope
    """

    def __init__(self, cin, cout, k, s, p, slope):
        super().__init__()
        self.up = nn.ConvTranspose3d(cin, cout, k, stride=s, padding=p)
        self.norm = nn.BatchNorm3d(cout).eval()
        self.slope = slope

    def forward(self, vol):
        vol = self.up(vol)
        # the statistics are frozen
        vol = F.batch_norm(vol, self.norm.running_mean, self.norm.running_var,
                           self.norm.weight, self.norm.bias, training=False, eps=self.norm.eps)
        vol = F.leaky_relu(vol, self.slope)
        return vol.sum(2)


def get_inputs():
    return [torch.randn(4, 12, 8, 16, 16)]


def get_init_inputs():
    return [12, 10, 4, 2, 1, 0.15]
