import torch

N_BODIES = 256
STEPS = 4
DT = 0.01
SOFTENING = 0.1
G = 1.0

def getAcc(pos, mass, G, softening):
    x = pos[:, 0:1]; y = pos[:, 1:2]; z = pos[:, 2:3]
    # matrix that stores all pairwise particle separations: r_j - r_i
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = (dx**2 + dy**2 + dz**2 + softening**2)
    inv_r3 = inv_r3 ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return torch.hstack((ax, ay, az))

def getEnergy(pos, vel, mass, G):
    KE = 0.5 * torch.sum(torch.sum(mass * vel**2))
    d = torch.cdist(pos, pos, compute_mode='donot_use_mm_for_euclid_dist')
    inv_r = torch.where(d > 0, 1.0 / (d + 1e-12), torch.zeros_like(d))
    PE = G * torch.sum(torch.triu(-(mass * mass.T) * inv_r, 1))
    return KE, PE

class Model(torch.nn.Module):
    def __init__(self, steps, dt):
        super().__init__()
        self.steps, self.dt = steps, dt

    def forward(self, pos, vel, mass):
        vel = vel - torch.mean(mass * vel, 0) / torch.mean(mass)
        acc = getAcc(pos, mass, G, SOFTENING)
        for i in range(self.steps):
            vel = vel + acc * self.dt / 2.0
            pos = pos + vel * self.dt
            acc = getAcc(pos, mass, G, SOFTENING)
            vel = vel + acc * self.dt / 2.0
        KE, PE = getEnergy(pos, vel, mass, G)
        return pos, vel, KE + PE

def get_inputs():
    return [torch.randn(N_BODIES, 3), torch.randn(N_BODIES, 3), 20.0 * torch.ones(N_BODIES, 1) / N_BODIES]

def get_init_inputs():
    return [STEPS, DT]
