import torch
import torch.nn as nn


class Zwischenschicht(nn.Module):
    """Lineare Abbildung, danach Normierung und Aktivierung."""

    def __init__(self, eingang, ausgang):
        super().__init__()
        self.abbildung = nn.Linear(eingang, ausgang)
        self.normierung = nn.LayerNorm(ausgang)

    def forward(self, eingabe):
        return torch.relu(self.normierung(self.abbildung(eingabe)))


class Model(nn.Module):
    def __init__(self, merkmale, verborgen, klassen):
        super().__init__()
        self.erste = Zwischenschicht(merkmale, verborgen)
        self.zweite = Zwischenschicht(verborgen, verborgen)
        self.ausgabe = nn.Linear(verborgen, klassen)

    def forward(self, eingabe):
        zwischenwert = self.erste(eingabe)
        zwischenwert = zwischenwert + self.zweite(zwischenwert)
        return self.ausgabe(zwischenwert)


stapelgroesse = 512


def get_inputs():
    return [torch.randn(stapelgroesse, 300)]


def get_init_inputs():
    return [300, 256, 40]
