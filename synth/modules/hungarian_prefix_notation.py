import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, nInDim, nHidDim, fDropRate, bUseBias):
        super(Model, self).__init__()
        self.m_fcInput = nn.Linear(nInDim, nHidDim, bias=bUseBias)
        self.m_fcOutput = nn.Linear(nHidDim, nInDim, bias=bUseBias)
        self.m_dropOut = nn.Dropout(p=fDropRate)
        self.m_actFunc = nn.ELU(alpha=0.5)

    def forward(self, tInput):
        tHidden = self.m_actFunc(self.m_fcInput(tInput))
        tHidden = self.m_dropOut(tHidden)
        tOutput = self.m_fcOutput(tHidden)
        tResult = torch.mul(tOutput, tInput)
        return tResult


nBatch = 777


def get_inputs():
    return [torch.randn(nBatch, 200)]


def get_init_inputs():
    return [200, 256, 0.0, True]
