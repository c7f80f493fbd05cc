import torch
import torch.nn as nn


class Model(nn.Module):
    """quan lianjie wangluo: gongxiang ceng, liang ge shuchu tou"""

    def __init__(self, tezheng_shu, yincang_shu, leibie_shu):
        super(Model, self).__init__()
        self.gongxiang = nn.Sequential(
            nn.Linear(tezheng_shu, yincang_shu),
            nn.ReLU(),
        )
        self.fenlei_tou = nn.Linear(yincang_shu, leibie_shu)
        self.huigui_tou = nn.Linear(yincang_shu, 1)

    def forward(self, shuru):
        yincang = self.gongxiang(shuru)
        gailv = torch.softmax(self.fenlei_tou(yincang), dim=1)
        zhi = self.huigui_tou(yincang).squeeze(1)
        return gailv, zhi


def get_inputs():
    return [torch.randn(1500, 120)]


def get_init_inputs():
    return [120, 300, 25]
