import torch
import torch.nn as nn


class ConvLayer(nn.Module):
    def __init__(self, cin, cout, k, s):
        super().__init__()
        self.conv = nn.Conv1d(cin, cout, k, stride=s, bias=False)
        self.layer_norm = nn.LayerNorm(cout)

    def forward(self, x):
        x = self.conv(x)
        x = self.layer_norm(x.transpose(-2, -1)).transpose(-2, -1)
        return nn.functional.gelu(x)


class Model(nn.Module):
    def __init__(self, specs):
        super().__init__()
        dims = [1] + [dim for dim, _, _ in specs]
        self.conv_layers = nn.ModuleList(
            ConvLayer(dims[i], dim, k, s) for i, (dim, k, s) in enumerate(specs)
        )

    def forward(self, input_values):
        hidden = input_values[:, None]
        for layer in self.conv_layers:
            hidden = layer(hidden)
        return hidden.transpose(1, 2)


def get_inputs():
    return [torch.randn(4, 16000)]


def get_init_inputs():
    return [[(64, 10, 5), (96, 3, 2), (128, 3, 2)]]
