import torch
import torch.nn as nn

class Model(nn.Module):
    '''Attention without parameters, after an energy of each pixel.

    The energy compares the squared distance of a pixel to the mean of its
    plane with the variance of the plane.
    '''

    def __init__(self, e_lambda=1e-4):
        super().__init__()
        self.activation = nn.Sigmoid()
        self.e_lambda = e_lambda

    def __repr__(self):
        return "%s(lambda=%f)" % (self.__class__.__name__, self.e_lambda)

    def forward(self, x):
        _, _, h, w = x.size()
        n = w * h - 1
        d = (x - x.mean(dim=[2, 3], keepdim=True)).pow(2)
        v = d.sum(dim=[2, 3], keepdim=True) / n
        y = d / (4 * (v + self.e_lambda)) + 0.5
        return x * self.activation(y)

def get_inputs():
    return [torch.randn(5, 50, 52, 54)]

def get_init_inputs():
    return [1e-3]
