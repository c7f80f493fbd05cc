import torch
import torch.nn as nn


class Model(nn.Module):
    """Rotates every cloud of points around its own centroid and rescales it to unit radius."""

    def forward(self, cloud, angle):
        centroid = cloud.mean(1, keepdim=True)
        local = cloud - centroid
        radius = local.norm(dim=-1).amax(1).clamp(min=1e-6)
        local = local / radius[:, None, None]
        c, s = angle.cos(), angle.sin()
        x = local[..., 0] * c[:, None] - local[..., 1] * s[:, None]
        y = local[..., 0] * s[:, None] + local[..., 1] * c[:, None]
        return torch.stack([x, y], -1) + centroid


num_clouds, num_points = 80, 1500


def get_inputs():
    return [torch.randn(num_clouds, num_points, 2), torch.rand(num_clouds) * 6.28]


def get_init_inputs():
    return []
