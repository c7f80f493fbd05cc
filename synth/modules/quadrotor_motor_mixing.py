import torch
import torch.nn as nn


class Model(nn.Module):
    """Thrust and torques to motor speeds by the inverse mixing matrix; square root with floor."""

    def __init__(self, arm, k_f, k_m):
        super().__init__()
        mix = torch.tensor(
            [
                [k_f, k_f, k_f, k_f],
                [0.0, -arm * k_f, 0.0, arm * k_f],
                [arm * k_f, 0.0, -arm * k_f, 0.0],
                [k_m, -k_m, k_m, -k_m],
            ]
        )
        self.register_buffer("inverse", torch.inverse(mix))

    def forward(self, thrust, torque):
        wrench = torch.cat([thrust.unsqueeze(-1), torque], dim=-1)
        squared = wrench @ self.inverse.transpose(0, 1)
        omega = torch.sqrt(squared.clamp(min=1e-4))
        return omega, (squared <= 0).any(dim=-1)


def get_inputs():
    return [torch.rand(60000) * 4 + 5, torch.randn(60000, 3) * 0.1]


def get_init_inputs():
    return [0.2, 1.0, 0.05]
