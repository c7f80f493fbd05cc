import torch
import torch.nn as nn


class Model(nn.Module):
    # keys and values also come from the cached memory of the last segment
    def __init__(self, d_model, n_head, d_head):
        super().__init__()
        self.n_head, self.d_head = n_head, d_head
        self.q_net = nn.Linear(d_model, n_head * d_head, bias=False)
        self.kv_net = nn.Linear(d_model, 2 * n_head * d_head, bias=False)
        self.o_net = nn.Linear(n_head * d_head, d_model, bias=False)

    def forward(self, h, mems):
        c = torch.cat([mems, h], 0)
        qlen, klen, bsz = h.size(0), c.size(0), h.size(1)
        q = self.q_net(h).view(qlen, bsz, self.n_head, self.d_head)
        k, v = self.kv_net(c).view(klen, bsz, 2, self.n_head, self.d_head).unbind(2)
        score = torch.einsum("ibnd,jbnd->ijbn", (q, k)) / self.d_head ** 0.5
        mask = torch.ones(qlen, klen, dtype=torch.bool, device=h.device).triu(1 + klen - qlen)
        score = score.masked_fill(mask[:, :, None, None], -float("inf"))
        vec = torch.einsum("ijbn,jbnd->ibnd", (score.softmax(1), v))
        return h + self.o_net(vec.flatten(2))


def get_inputs():
    return [torch.randn(48, 6, 128), torch.randn(32, 6, 128)]


def get_init_inputs():
    return [128, 4, 24]
