import torch
import torch.nn as nn


class Model(nn.Module):
    """Set abstraction with given neighbour ids: relative coordinates + features, shared MLP, max."""

    def __init__(self, c_in, c_out):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(c_in + 3, c_out), nn.ReLU(inplace=True), nn.Linear(c_out, c_out))

    def forward(self, xyz, feats, centre_idx, group_idx):
        b = torch.arange(xyz.shape[0], device=xyz.device)
        centres = xyz[b[:, None], centre_idx]
        grouped_xyz = xyz[b[:, None, None], group_idx] - centres[:, :, None]
        grouped = torch.cat([grouped_xyz, feats[b[:, None, None], group_idx]], dim=-1)
        return centres, self.mlp(grouped).max(dim=2).values


def get_inputs():
    return [torch.randn(4, 1024, 3), torch.randn(4, 1024, 32), torch.randint(0, 1024, (4, 256)), torch.randint(0, 1024, (4, 256, 16))]


def get_init_inputs():
    return [32, 64]
