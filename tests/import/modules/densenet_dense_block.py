import torch
import torch.nn as nn
import torch.nn.functional as F

GROWTH_RATE = 12
NUM_LAYERS = 5
INIT_FEATURES = 24
BATCH = 2
SIDE = 24


class DenseLayer(nn.Module):
    def __init__(self, num_input_features, growth_rate, bn_size):
        super().__init__()
        self.add_module('norm1', nn.BatchNorm2d(num_input_features))
        self.add_module('relu1', nn.ReLU(inplace=True))
        self.add_module('conv1', nn.Conv2d(num_input_features, bn_size * growth_rate, kernel_size=1, bias=False))
        self.add_module('norm2', nn.BatchNorm2d(bn_size * growth_rate))
        self.add_module('relu2', nn.ReLU(inplace=True))
        self.add_module('conv2', nn.Conv2d(bn_size * growth_rate, growth_rate, kernel_size=3, padding=1, bias=False))

    def forward(self, *prev_features):
        concated = torch.cat(prev_features, 1)
        bottleneck = self.conv1(self.relu1(self.norm1(concated)))
        return self.conv2(self.relu2(self.norm2(bottleneck)))


class Transition(nn.Sequential):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.add_module('norm', nn.BatchNorm2d(n_in))
        self.add_module('relu', nn.ReLU(inplace=True))
        self.add_module('conv', nn.Conv2d(n_in, n_out, kernel_size=1, bias=False))
        self.add_module('pool', nn.AvgPool2d(kernel_size=2, stride=2))


class Model(nn.Module):
    def __init__(self, num_layers, num_features, growth_rate):
        super().__init__()
        self.block = nn.ModuleDict()
        for i in range(num_layers):
            self.block['denselayer%d' % (i + 1)] = DenseLayer(num_features + i * growth_rate, growth_rate, 4)
        total = num_features + num_layers * growth_rate
        self.trans = Transition(total, total // 2)

    def forward(self, init_features):
        features = [init_features]
        for name, layer in self.block.items():
            new = layer(*features)
            features.append(new)
        return self.trans(torch.cat(features, 1))


def get_inputs():
    return [torch.randn(BATCH, INIT_FEATURES, SIDE, SIDE)]


def get_init_inputs():
    return [NUM_LAYERS, INIT_FEATURES, GROWTH_RATE]
