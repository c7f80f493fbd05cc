import torch
import torch.nn.functional as F
from torch import nn

N_RESIDUES = 2000

def quat_multiply(q, r):
    w1, x1, y1, z1 = q.unbind(-1)
    w2, x2, y2, z2 = r.unbind(-1)
    return torch.stack([
        w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
        w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
        w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2], dim=-1)

def quat_to_rot(q):
    q = F.normalize(q, dim=-1)
    w, x, y, z = [c.squeeze(-1) for c in q.split(1, dim=-1)]
    rows = [
        torch.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
        torch.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
        torch.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1)]
    return torch.stack(rows, -2)

class Frames:
    """A bundle of rotations and translations."""
    def __init__(self, rots, trans):
        self.rots, self.trans = rots, trans
    def __matmul__(self, other):
        return Frames(self.rots @ other.rots, self.apply(other.trans))
    def apply(self, pts):
        return (self.rots @ pts.unsqueeze(-1)).squeeze(-1) + self.trans
    def invert(self):
        inv = self.rots.transpose(-1, -2)
        return Frames(inv, -(inv @ self.trans.unsqueeze(-1)).squeeze(-1))

class Model(nn.Module):
    def forward(self, quat, trans, update, points):
        frames = Frames(quat_to_rot(quat), trans)
        dq = F.pad(update[..., :3], (1, 0), value=1.0)
        new = Frames(quat_to_rot(quat_multiply(quat, dq)), frames.apply(update[..., 3:]))
        rel = frames.invert() @ new
        return new.apply(points), rel.rots, torch.cross(rel.trans, points, dim=-1)

def get_inputs():
    n = N_RESIDUES
    return [torch.randn(n, 4), torch.randn(n, 3), torch.randn(n, 6) * .1, torch.randn(n, 3)]
def get_init_inputs():
    return []
