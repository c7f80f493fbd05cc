"""Local causal attention over blocks (look one block back)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SEQ, DIM, HEADS, BLOCK = 250, 64, 4, 32


def pad_to_multiple(tensor, multiple, dim=-2, value=0):
    seqlen = tensor.shape[dim]
    m = seqlen / multiple
    if m.is_integer():
        return False, tensor
    remainder = -(-seqlen // multiple) * multiple - seqlen
    pad_offset = (0,) * (-1 - dim) * 2
    return True, F.pad(tensor, (*pad_offset, 0, remainder), value=value)


def look_around(x, backward=1, forward=0, pad_value=-1, dim=2):
    t = x.shape[1]
    dims = (len(x.shape) - dim) * (0, 0)
    padded_x = F.pad(x, (*dims, backward, forward), value=pad_value)
    tensors = [padded_x[:, ind:(ind + t), ...] for ind in range(forward + backward + 1)]
    return torch.cat(tensors, dim=dim)


class Model(nn.Module):
    def __init__(self, dim, heads, window_size):
        super().__init__()
        self.heads, self.window_size = heads, window_size
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, n0, d = x.shape
        h, w = self.heads, self.window_size
        q, k, v = (t.reshape(b, n0, h, d // h).transpose(1, 2).reshape(b * h, n0, -1)
                   for t in self.qkv(x).chunk(3, dim=-1))
        (_, q), (_, k), (_, v) = map(lambda t: pad_to_multiple(t, w, dim=-2), (q, k, v))
        n = q.shape[1]
        windows = n // w
        seq = torch.arange(n, device=x.device).reshape(1, windows, w)
        bq, bk, bv = map(lambda t: t.reshape(b * h, windows, w, -1), (q, k, v))
        bk, bv = look_around(bk, pad_value=-1.0), look_around(bv, pad_value=-1.0)
        bq_k = look_around(seq, pad_value=-1)
        sim = torch.einsum('bhie,bhje->bhij', bq * (d // h) ** -0.5, bk)
        pos_q, pos_k = seq[..., :, None], bq_k[..., None, :]
        mask = (pos_q < pos_k) | (pos_q > pos_k + w) | (pos_k == -1)
        sim = sim.masked_fill(mask, -1e9)
        out = torch.einsum('bhij,bhje->bhie', sim.softmax(-1), bv).reshape(b * h, n, -1)[:, :n0]
        return self.out(out.reshape(b, h, n0, -1).transpose(1, 2).reshape(b, n0, d))


def get_inputs():
    return [torch.randn(2, SEQ, DIM)]


def get_init_inputs():
    return [DIM, HEADS, BLOCK]
