import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Zwei Zweige mit verschiedenen Kernen, Summe, Schwelle und Mittelwert."""

    def __init__(self, kanaele_ein, kanaele_aus, schwelle=0.1):
        super().__init__()
        self.zweig_links = nn.Conv2d(kanaele_ein, kanaele_aus, (1, 5), padding=(0, 2))
        self.zweig_rechts = nn.Conv2d(kanaele_ein, kanaele_aus, (5, 1), padding=(2, 0))
        self.schwelle = schwelle

    def forward(self, bild):
        summe = self.zweig_links(bild) + self.zweig_rechts(bild)
        gefiltert = torch.where(summe > self.schwelle, summe, torch.zeros_like(summe))
        return F.adaptive_avg_pool2d(gefiltert, (4, 4)).flatten(start_dim=1)


def get_inputs():
    return [torch.randn(8, 6, 64, 96)]


def get_init_inputs():
    return [6, 20]
