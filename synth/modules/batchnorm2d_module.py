import torch

class Model(torch.nn.Module):
    def __init__(self, num_features: int, eps: float, momentum: float):
        super().__init__()
        self.bn = torch.nn.BatchNorm2d(num_features, eps=eps, momentum=momentum)

    def forward(self, x):
        return self.bn(x)

NUM_FEATURES = 44

def get_inputs():
    return [torch.randn(13, NUM_FEATURES, 40, 44)]

def get_init_inputs():
    return [NUM_FEATURES, 1e-4, 0.05]
