import torch
import torch.nn as nn


class Model(nn.Module):
    """Une porte d'oubli et une porte d'entrée, un seul pas de temps."""

    def __init__(self, taille_entree, taille_etat):
        super().__init__()
        self.porte_oubli = nn.Linear(taille_entree + taille_etat, taille_etat)
        self.porte_entree = nn.Linear(taille_entree + taille_etat, taille_etat)
        self.candidat = nn.Linear(taille_entree + taille_etat, taille_etat)

    def forward(self, x, etat, memoire):
        ensemble = torch.cat((x, etat), dim=1)
        f = torch.sigmoid(self.porte_oubli(ensemble))
        i = torch.sigmoid(self.porte_entree(ensemble))
        c = torch.tanh(self.candidat(ensemble))
        nouvelle_memoire = f * memoire + i * c
        return torch.tanh(nouvelle_memoire), nouvelle_memoire


def get_inputs():
    lot = 900
    return [torch.randn(lot, 100), torch.randn(lot, 160), torch.randn(lot, 160)]


def get_init_inputs():
    return [100, 160]
