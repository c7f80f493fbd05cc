import torch
import torch.nn as nn
import torch.nn.functional as F

CHANNELS, RES = 32, 28
DEPLOY = False


def conv_bn(in_channels, out_channels, kernel_size, stride, padding, groups=1):
    result = nn.Sequential()
    result.add_module('conv', nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding, groups=groups, bias=False))
    result.add_module('bn', nn.BatchNorm2d(num_features=out_channels))
    return result


class Model(nn.Module):
    """Train-time form and merged form of the same block; the merged kernel is computed on the fly."""

    def __init__(self, channels, deploy=False):
        super().__init__()
        self.deploy = deploy
        self.nonlinearity = nn.ReLU()
        if deploy:
            self.rbr_reparam = nn.Conv2d(channels, channels, 3, 1, 1)
        else:
            self.rbr_identity = nn.BatchNorm2d(num_features=channels)
            self.rbr_dense = conv_bn(channels, channels, 3, 1, 1)
            self.rbr_1x1 = conv_bn(channels, channels, 1, 1, 0)

    def _fuse_bn_tensor(self, branch):
        if branch is None:
            return 0, 0
        if isinstance(branch, nn.Sequential):
            kernel, bn = branch.conv.weight, branch.bn
        else:
            assert isinstance(branch, nn.BatchNorm2d)
            kernel = torch.zeros(branch.num_features, branch.num_features, 3, 3)
            kernel[:, :, 1, 1] = torch.eye(branch.num_features)
            bn = branch
        std = (bn.running_var + bn.eps).sqrt()
        t = (bn.weight / std).reshape(-1, 1, 1, 1)
        return kernel * t, bn.bias - bn.running_mean * bn.weight / std

    def get_equivalent_kernel_bias(self):
        kernel3x3, bias3x3 = self._fuse_bn_tensor(self.rbr_dense)
        kernel1x1, bias1x1 = self._fuse_bn_tensor(self.rbr_1x1)
        kernelid, biasid = self._fuse_bn_tensor(self.rbr_identity)
        return kernel3x3 + F.pad(kernel1x1, [1, 1, 1, 1]) + kernelid, bias3x3 + bias1x1 + biasid

    def forward(self, inputs):
        if hasattr(self, 'rbr_reparam'):
            return self.nonlinearity(self.rbr_reparam(inputs))
        if not self.training:
            kernel, bias = self.get_equivalent_kernel_bias()
            return self.nonlinearity(F.conv2d(inputs, kernel, bias, padding=1))
        id_out = 0 if self.rbr_identity is None else self.rbr_identity(inputs)
        return self.nonlinearity(self.rbr_dense(inputs) + self.rbr_1x1(inputs) + id_out)


def get_inputs():
    return [torch.randn(2, CHANNELS, RES, RES)]


def get_init_inputs():
    return [CHANNELS, DEPLOY]
