import collections
import torch
from torch import nn
from torch.nn import functional as F

BlockArgs = collections.namedtuple('BlockArgs', [
    'num_repeat', 'kernel_size', 'stride', 'expand_ratio', 'input_filters', 'output_filters', 'se_ratio', 'id_skip'])
BlockArgs.__new__.__defaults__ = (None,) * len(BlockArgs._fields)

ARGS = BlockArgs(2, 5, 1, 4, 24, 24, 0.25, True)
IMAGE_SIZE = 24


class Conv2dStaticSamePadding(nn.Conv2d):
    """'SAME' padding as in TensorFlow, computed once from the image size."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, image_size=None, **kwargs):
        super().__init__(in_channels, out_channels, kernel_size, stride, **kwargs)
        self.stride = self.stride if len(self.stride) == 2 else [self.stride[0]] * 2
        assert image_size is not None
        ih, iw = (image_size, image_size) if isinstance(image_size, int) else image_size
        kh, kw = self.weight.size()[-2:]
        sh, sw = self.stride
        oh, ow = -(-ih // sh), -(-iw // sw)
        pad_h = max((oh - 1) * self.stride[0] + (kh - 1) * self.dilation[0] + 1 - ih, 0)
        pad_w = max((ow - 1) * self.stride[1] + (kw - 1) * self.dilation[1] + 1 - iw, 0)
        if pad_h > 0 or pad_w > 0:
            self.static_padding = nn.ZeroPad2d((pad_w // 2, pad_w - pad_w // 2, pad_h // 2, pad_h - pad_h // 2))
        else:
            self.static_padding = nn.Identity()

    def forward(self, x):
        x = self.static_padding(x)
        return F.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class MBConvBlock(nn.Module):
    def __init__(self, block_args, image_size):
        super().__init__()
        self._block_args = block_args
        self._bn_mom, self._bn_eps = 0.01, 1e-3
        self.has_se = (block_args.se_ratio is not None) and (0 < block_args.se_ratio <= 1)
        inp = block_args.input_filters
        oup = inp * block_args.expand_ratio
        if block_args.expand_ratio != 1:
            self._expand_conv = Conv2dStaticSamePadding(inp, oup, 1, image_size=image_size, bias=False)
            self._bn0 = nn.BatchNorm2d(oup, momentum=self._bn_mom, eps=self._bn_eps)
        self._depthwise_conv = Conv2dStaticSamePadding(oup, oup, block_args.kernel_size, block_args.stride,
                                                       image_size=image_size, groups=oup, bias=False)
        self._bn1 = nn.BatchNorm2d(oup, momentum=self._bn_mom, eps=self._bn_eps)
        if self.has_se:
            squeezed = max(1, int(inp * block_args.se_ratio))
            self._se_reduce = nn.Conv2d(oup, squeezed, 1)
            self._se_expand = nn.Conv2d(squeezed, oup, 1)
        self._project_conv = nn.Conv2d(oup, block_args.output_filters, 1, bias=False)
        self._bn2 = nn.BatchNorm2d(block_args.output_filters, momentum=self._bn_mom, eps=self._bn_eps)
        self._swish = nn.SiLU()

    def forward(self, inputs, drop_connect_rate=None):
        x = inputs
        if self._block_args.expand_ratio != 1:
            x = self._swish(self._bn0(self._expand_conv(inputs)))
        x = self._swish(self._bn1(self._depthwise_conv(x)))
        if self.has_se:
            x_squeezed = F.adaptive_avg_pool2d(x, 1)
            x_squeezed = self._se_expand(self._swish(self._se_reduce(x_squeezed)))
            x = torch.sigmoid(x_squeezed) * x
        x = self._bn2(self._project_conv(x))
        a = self._block_args
        if a.id_skip and a.stride == 1 and a.input_filters == a.output_filters:
            if drop_connect_rate:
                raise NotImplementedError
            x = x + inputs
        return x


class Model(nn.Module):
    def __init__(self, args, image_size):
        super().__init__()
        self._blocks = nn.ModuleList([MBConvBlock(args, image_size)])
        for _ in range(args.num_repeat - 1):
            self._blocks.append(MBConvBlock(args._replace(stride=2, expand_ratio=1, output_filters=40), image_size))

    def forward(self, x):
        for idx, block in enumerate(self._blocks):
            x = block(x, drop_connect_rate=0.0 * idx)
        return x


def get_inputs():
    return [torch.randn(2, ARGS.input_filters, IMAGE_SIZE, IMAGE_SIZE)]


def get_init_inputs():
    return [ARGS, IMAGE_SIZE]
