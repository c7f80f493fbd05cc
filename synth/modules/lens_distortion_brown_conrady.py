import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, k1, k2, p1, p2, fx=800.0, fy=800.0, cx=320.0, cy=240.0):
        super().__init__()
        self.k1, self.k2, self.p1, self.p2 = k1, k2, p1, p2
        self.fx, self.fy, self.cx, self.cy = fx, fy, cx, cy

    def forward(self, uv):
        x = (uv[..., 0] - self.cx) / self.fx
        y = (uv[..., 1] - self.cy) / self.fy
        r2 = x * x + y * y
        radial = 1 + r2 * (self.k1 + r2 * self.k2)
        xd = x * radial + 2 * self.p1 * x * y + self.p2 * (r2 + 2 * x * x)
        yd = y * radial + self.p1 * (r2 + 2 * y * y) + 2 * self.p2 * x * y
        return torch.stack([xd * self.fx + self.cx, yd * self.fy + self.cy], dim=-1)

def get_inputs():
    return [torch.rand(480, 640, 2) * 600]

def get_init_inputs():
    return [-0.28, 0.07, 1e-4, -2e-4]
