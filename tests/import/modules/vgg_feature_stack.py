import torch
import torch.nn as nn

CFG = [16, 16, 'M', 32, 32, 'M', 64, 'M']
IMAGE = 32
CLASSES = 10

def make_layers(cfg, batch_norm=False):
    layers = []
    in_channels = 3
    for v in cfg:
        if v == 'M':
            layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
        else:
            conv2d = nn.Conv2d(in_channels, v, kernel_size=3, padding=1)
            if batch_norm:
                layers += [conv2d, nn.BatchNorm2d(v), nn.ReLU(inplace=True)]
            else:
                layers += [conv2d, nn.ReLU(inplace=True)]
            in_channels = v
    return nn.Sequential(*layers)

class Model(nn.Module):
    def __init__(self, cfg, num_classes, batch_norm):
        super(Model, self).__init__()
        self.features = make_layers(cfg, batch_norm)
        self.classifier = nn.Sequential(
            nn.Linear(64 * (IMAGE // 8) ** 2, 128),
            nn.ReLU(True),
            nn.Dropout(p=0.0),
            nn.Linear(128, num_classes),
        )
        self._initialize_weights()

    def forward(self, x):
        x = self.features(x)
        x = x.view(x.size(0), -1)
        x = self.classifier(x)
        return x

    def _initialize_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data.normal_(0, 0.05)
                m.bias.data.zero_()

def get_inputs():
    return [torch.rand(4, 3, IMAGE, IMAGE)]

def get_init_inputs():
    return [CFG, CLASSES, False]
