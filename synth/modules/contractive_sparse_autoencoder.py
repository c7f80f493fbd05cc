import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Sparse autoencoder with ReLU features, as used to read the activations of a language model.

    Returns a dict: reconstruction, features, and the two terms of the loss.
    """

    def __init__(self, d_model, d_sae, l1_coefficient=1e-3):
        super().__init__()
        self.W_enc = nn.Parameter(torch.randn(d_model, d_sae) / d_model ** 0.5)
        self.b_enc = nn.Parameter(torch.zeros(d_sae))
        self.W_dec = nn.Parameter(torch.randn(d_sae, d_model) / d_sae ** 0.5)
        self.b_dec = nn.Parameter(torch.zeros(d_model))
        self.l1_coefficient = l1_coefficient

    def forward(self, acts):
        f = torch.relu((acts - self.b_dec) @ self.W_enc + self.b_enc)
        rec = f @ self.W_dec + self.b_dec
        mse = (rec - acts).pow(2).sum(-1).mean()
        l1 = self.l1_coefficient * f.abs().sum(-1).mean()
        return {"reconstruction": rec, "mse": mse, "l1": l1}


def get_inputs():
    return [torch.randn(1024, 256)]


def get_init_inputs():
    return [256, 2048, 4e-4]
