import torch
import torch.nn as nn

ACTS = {
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "selu": nn.SELU,
    "mish": nn.Mish,
    "softplus": nn.Softplus,
}


class Model(nn.Module):
    def __init__(self, config: dict):
        super().__init__()
        act = ACTS[config["activation"]]
        dims = config["dims"]
        self.layers = nn.ModuleDict()
        for i in range(len(dims) - 1):
            self.layers[f"dense_{i}"] = nn.Linear(dims[i], dims[i + 1], bias=config.get("bias", True))
            self.layers[f"act_{i}"] = act()

    def forward(self, x):
        for name, layer in self.layers.items():
            x = layer(x)
        return x


def get_inputs():
    return [torch.randn(700, 150)]


def get_init_inputs():
    return [{"activation": "selu", "dims": [150, 300, 60], "bias": False}]
