import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, entree: int, sortie: int, temperature: float):
        super().__init__()
        self.poids = nn.Parameter(torch.randn(sortie, entree) / entree ** 0.5)
        self.biais = nn.Parameter(torch.zeros(sortie))
        self.temperature = temperature

    def forward(self, donnees):
        # produit, décalage, puis distribution adoucie
        resultat = donnees @ self.poids.T
        resultat = resultat + self.biais
        resultat = resultat / self.temperature
        probabilites = torch.softmax(resultat, dim=-1)
        confiance, _ = probabilites.max(dim=-1)
        return probabilites, confiance


taille_du_lot = 700


def get_inputs():
    return [torch.randn(taille_du_lot, 384)]


def get_init_inputs():
    return [384, 252, 1.7]
