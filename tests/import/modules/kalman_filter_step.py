import torch
from torch import nn, Tensor

BATCH: int = 512
STATE: int = 6
OBS: int = 3


class Model(nn.Module):
    """Predict/update of a batched linear Kalman filter with a constant-velocity model."""

    def __init__(self, dt: float = 0.1, q: float = 1e-2, r: float = 1e-1) -> None:
        super().__init__()
        eye, zero = torch.eye(OBS), torch.zeros(OBS, OBS)
        self.register_buffer("F", torch.cat([torch.cat([eye, dt * eye], 1), torch.cat([zero, eye], 1)], 0))
        self.register_buffer("H", torch.cat([eye, zero], 1))
        self.log_q = nn.Parameter(torch.full((STATE,), q).log())
        self.log_r = nn.Parameter(torch.full((OBS,), r).log())

    def predict(self, x: Tensor, P: Tensor) -> tuple[Tensor, Tensor]:
        x = x @ self.F.T
        P = self.F @ P @ self.F.mT + torch.diag_embed(self.log_q.exp())
        return x, P

    def update(self, x: Tensor, P: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        innovation = z - x @ self.H.T
        S = self.H @ P @ self.H.mT + self.log_r.exp().diag()
        K = torch.linalg.solve(S, self.H @ P).mT
        x = x + (K @ innovation[..., None]).squeeze(-1)
        identity = torch.eye(STATE, device=P.device).expand_as(P)
        P = (identity - K @ self.H) @ P
        return x, 0.5 * (P + P.mT)

    def forward(self, x: Tensor, P: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        return self.update(*self.predict(x, P), z)


def get_inputs():
    a = torch.randn(BATCH, STATE, STATE) * 0.2
    return [torch.randn(BATCH, STATE), a @ a.mT + torch.eye(STATE), torch.randn(BATCH, OBS)]


def get_init_inputs():
    return []
