# ---------------------------------------------------------------
#  Convolution -> InstanceNorm2d -> scale -> MaxPool2d -> clamp
# ---------------------------------------------------------------
import torch


class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, scale_shape, pool, lo, hi):
        super(Model, self).__init__()
        self.conv = torch.nn.Conv2d(in_channels, out_channels, kernel_size)
        self.norm = torch.nn.InstanceNorm2d(out_channels, affine=True)
        self.scale = torch.nn.Parameter(torch.full(scale_shape, 1.3))
        self.maxpool = torch.nn.MaxPool2d(kernel_size=pool)
        self.lo, self.hi = lo, hi

    def forward(self, x):
        out = self.norm(self.conv(x))
        out = self.maxpool(out * self.scale)
        return torch.clamp(out, self.lo, self.hi)


# ------------------------------ sizes ---------------------------
BATCH, CIN, COUT, SIDE = 8, 9, 27, 65


def get_inputs():
    return [torch.randn(BATCH, CIN, SIDE, SIDE)]


def get_init_inputs():
    return [CIN, COUT, 3, (COUT, 1, 1), 3, 0.0, 2.0]
