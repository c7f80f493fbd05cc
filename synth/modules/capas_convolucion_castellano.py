import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Una convolución, un sesgo aprendido y el promedio global de cada canal."""

    def __init__(self, canales_entrada, canales_salida, tamano_nucleo):
        super(Model, self).__init__()
        self.convolucion = nn.Conv2d(canales_entrada, canales_salida, tamano_nucleo, padding=tamano_nucleo // 2)
        self.sesgo = nn.Parameter(torch.randn(canales_salida, 1, 1) * 0.1)

    def forward(self, imagen):
        mapa = self.convolucion(imagen)      # mapa de características
        mapa = mapa + self.sesgo
        activado = F.leaky_relu(mapa, negative_slope=0.2)
        promedio = activado.mean(dim=(2, 3))
        return promedio


tamano_lote = 16


def get_inputs():
    return [torch.randn(tamano_lote, 8, 64, 64)]


def get_init_inputs():
    return [8, 32, 5]
