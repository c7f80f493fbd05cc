import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Passive dendrite: axial current between compartments, leak, alpha synapse."""

    def __init__(self, g_axial, g_leak, e_leak, e_syn):
        super().__init__()
        self.g_axial = g_axial
        self.g_leak = g_leak
        self.e_leak = e_leak
        self.e_syn = e_syn

    def forward(self, volts, g_syn, dt=0.025):
        sealed = F.pad(volts.unsqueeze(1), (1, 1), mode="replicate").squeeze(1)
        axial = self.g_axial * (sealed[:, 2:] - 2 * volts + sealed[:, :-2])
        leak = self.g_leak * (self.e_leak - volts)
        syn = g_syn * (self.e_syn - volts)
        return volts + dt * (axial + leak + syn)


def get_inputs():
    return [torch.randn(512, 1001) * 5 - 65, torch.rand(512, 1001) * 0.1]


def get_init_inputs():
    return [0.5, 0.05, -65.0, 0.0]
