import torch
import torch.nn as nn

CFG = {"tiny": [24, "M", 48, 48, "M"], "small": [32, 32, "M", 64, "M"]}


def make_layers(cfg, cin=3, batch_norm=False):
    layers = []
    for v in cfg:
        if v == "M":
            layers.append(nn.MaxPool2d(2, 2))
            continue
        conv = nn.Conv2d(cin, v, 3, padding=1)
        layers += [conv, nn.BatchNorm2d(v), nn.ReLU()] if batch_norm else [conv, nn.ReLU()]
        cin = v
    return nn.Sequential(*layers)


class Model(nn.Module):
    def __init__(self, variant, classes):
        super().__init__()
        self.features = make_layers(CFG[variant])
        self.classifier = nn.Linear(48, classes)

    def forward(self, x):
        x = self.features(x)
        x = x.mean((2, 3))
        return self.classifier(x)


def get_inputs():
    return [torch.randn(16, 3, 40, 40)]


def get_init_inputs():
    return ["tiny", 100]
