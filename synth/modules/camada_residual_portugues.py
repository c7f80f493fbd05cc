import torch
import torch.nn as nn


class BlocoResidual(nn.Module):
    def __init__(self, canais):
        super().__init__()
        self.conv_a = nn.Conv1d(canais, canais, 3, padding=1)
        self.conv_b = nn.Conv1d(canais, canais, 3, padding=1)
        self.ganho = nn.Parameter(torch.tensor(0.2))

    def forward(self, sinal):
        saida = torch.relu(self.conv_a(sinal))
        saida = self.conv_b(saida)
        return sinal + self.ganho * saida


class Model(nn.Module):
    def __init__(self, canais, blocos):
        super().__init__()
        self.blocos = nn.ModuleList([BlocoResidual(canais) for _ in range(blocos)])

    def forward(self, sinal):
        for bloco in self.blocos:
            sinal = bloco(sinal)
        return sinal


def get_inputs():
    return [torch.randn(8, 24, 1000)]


def get_init_inputs():
    return [24, 2]
