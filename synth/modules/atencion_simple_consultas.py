import torch
from torch import nn


class Atencion(nn.Module):
    def __init__(self, dimension):
        super().__init__()
        self.consulta = nn.Linear(dimension, dimension, bias=False)
        self.clave = nn.Linear(dimension, dimension, bias=False)
        self.valor = nn.Linear(dimension, dimension, bias=False)
        self.escala = 1.0 / dimension ** 0.5

    def forward(self, entrada):
        q, k, v = self.consulta(entrada), self.clave(entrada), self.valor(entrada)
        puntajes = torch.bmm(q, k.transpose(1, 2)) * self.escala
        pesos = torch.softmax(puntajes, dim=2)
        return torch.bmm(pesos, v)


class Model(nn.Module):
    def __init__(self, dimension):
        super().__init__()
        self.atencion = Atencion(dimension)
        self.normalizacion = nn.LayerNorm(dimension)

    def forward(self, secuencia):
        return self.normalizacion(secuencia + self.atencion(secuencia))


def get_inputs():
    return [torch.randn(6, 180, 128)]


def get_init_inputs():
    return [128]
