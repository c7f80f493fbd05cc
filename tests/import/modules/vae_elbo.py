from __future__ import print_function
import torch
from torch import nn
from torch.nn import functional as F

PIXELS, HID, Z = 784, 200, 20
BATCH_SIZE = 32


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(PIXELS, HID)
        self.fc21 = nn.Linear(HID, Z)
        self.fc22 = nn.Linear(HID, Z)
        self.fc3 = nn.Linear(Z, HID)
        self.fc4 = nn.Linear(HID, PIXELS)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar, eps):
        std = torch.exp(0.5*logvar)
        return mu + eps*std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x, eps):
        mu, logvar = self.encode(x.view(-1, PIXELS))
        z = self.reparameterize(mu, logvar, eps)
        return self.decode(z), mu, logvar


# Reconstruction + KL divergence losses summed over all elements and batch
def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, PIXELS), reduction='sum')
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


class Model(VAE):
    def forward(self, x, eps):
        recon, mu, logvar = super().forward(x, eps)
        return loss_function(recon, x, mu, logvar) / x.size(0), recon


def get_inputs():
    return [torch.rand(BATCH_SIZE, 1, 28, 28), torch.randn(BATCH_SIZE, Z)]


def get_init_inputs():
    return []
