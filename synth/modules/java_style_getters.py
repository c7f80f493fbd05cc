import torch
import torch.nn as nn


class LayerFactory:
    def __init__(self, inputSize, outputSize):
        self._inputSize = inputSize
        self._outputSize = outputSize

    def getInputSize(self):
        return self._inputSize

    def createConvolution(self):
        return nn.Conv2d(self._inputSize, self._outputSize, kernel_size=3, padding=1)

    def createNormalisation(self):
        return nn.InstanceNorm2d(self._outputSize, affine=True)


class Model(nn.Module):
    def __init__(self, inputSize, outputSize):
        super().__init__()
        factory = LayerFactory(inputSize, outputSize)
        self.convolution = factory.createConvolution()
        self.normalisation = factory.createNormalisation()

    def applyActivation(self, tensor):
        return torch.nn.functional.selu(tensor)

    def forward(self, inputTensor):
        return self.applyActivation(self.normalisation(self.convolution(inputTensor)))


def get_inputs():
    return [torch.randn(6, 10, 72, 72)]


def get_init_inputs():
    return [10, 20]
