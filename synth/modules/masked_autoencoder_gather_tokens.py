import torch
import torch.nn as nn


class Model(nn.Module):
    # MAE decoder input: kept tokens, mask tokens, put back in order with the given permutation
    def __init__(self, enc_dim, dec_dim, n_tokens):
        super().__init__()
        self.decoder_embed = nn.Linear(enc_dim, dec_dim)
        self.mask_token = nn.Parameter(torch.randn(1, 1, dec_dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, n_tokens, dec_dim) * 0.02)

    def forward(self, x, ids_restore):
        x = self.decoder_embed(x)
        n_missing = ids_restore.shape[1] - x.shape[1]
        mask_tokens = self.mask_token.repeat(x.shape[0], n_missing, 1)
        x = torch.cat([x, mask_tokens], dim=1)
        x = torch.gather(x, dim=1, index=ids_restore.unsqueeze(-1).expand(-1, -1, x.size(2)))
        return x + self.pos


def get_inputs():
    ids = torch.stack([torch.randperm(196) for _ in range(16)])
    return [torch.randn(16, 49, 256), ids]


def get_init_inputs():
    return [256, 160, 196]
