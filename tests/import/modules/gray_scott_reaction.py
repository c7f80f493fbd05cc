import torch
import torch.nn.functional as F

GRID = 96
N_ITER = 6

class Model(torch.nn.Module):
    def __init__(self, n_iter, Du=0.16, Dv=0.08, feed=0.060, kill=0.062):
        super().__init__()
        self.n_iter = n_iter
        self.Du, self.Dv, self.F, self.k = Du, Dv, feed, kill
        lap = torch.tensor([[0.05, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]])
        self.register_buffer('L', lap[None, None].repeat(2, 1, 1, 1))

    def step(self, uv):
        l = F.conv2d(F.pad(uv, (1, 1, 1, 1), mode='circular'), self.L, groups=2)
        U, V = uv[:, 0], uv[:, 1]
        lu, lv = l[:, 0], l[:, 1]
        uvv = U * V * V
        dU = self.Du * lu - uvv + self.F * (1 - U)
        dV = self.Dv * lv + uvv - (self.F + self.k) * V
        return uv + torch.stack((dU, dV), 1)

    def forward(self, uv):
        for i in range(self.n_iter):
            uv = self.step(uv)
        return uv.clamp(0, 1)

def get_inputs():
    return [torch.rand(2, 2, GRID, GRID)]

def get_init_inputs():
    return [N_ITER]
