import torch
import torch.nn as nn


class Model(nn.Module):
    """Quaternion and log scale to a 3-D covariance, six unique entries kept."""

    def __init__(self):
        super().__init__()

    def forward(self, quat, log_scale):
        q = quat / quat.norm(dim=-1, keepdim=True)
        w, x, y, z = q.unbind(-1)
        R = torch.stack(
            [
                1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
            ],
            dim=-1,
        ).view(-1, 3, 3)
        L = R * torch.exp(log_scale).unsqueeze(1)
        S = L @ L.transpose(1, 2)
        return torch.stack([S[:, 0, 0], S[:, 0, 1], S[:, 0, 2], S[:, 1, 1], S[:, 1, 2], S[:, 2, 2]], dim=1)


def get_inputs():
    return [torch.randn(100000, 4), torch.randn(100000, 3) * 0.3 - 2]


def get_init_inputs():
    return []
