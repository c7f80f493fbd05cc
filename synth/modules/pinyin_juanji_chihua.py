import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, shuru, shuchu, he=3):
        super().__init__()
        self.juanji = nn.Conv2d(shuru, shuchu, he, padding=1)
        self.guiyihua = nn.BatchNorm2d(shuchu)
        self.jihuo = nn.ReLU()
        self.chihua = nn.MaxPool2d(2)

    def forward(self, tupian):
        tezheng = self.juanji(tupian)
        tezheng = self.guiyihua(tezheng)
        tezheng = self.jihuo(tezheng)
        jieguo = self.chihua(tezheng)
        return jieguo


pici = 8


def get_inputs():
    return [torch.rand(pici, 3, 96, 96)]


def get_init_inputs():
    return [3, 24]
