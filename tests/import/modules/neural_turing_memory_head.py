import torch
from torch import nn
import torch.nn.functional as F

N, M, BATCH, CONTROLLER, STEPS = 64, 20, 8, 48, 4


def _convolve(w, s):
    """Circular convolution of the weights with the shift distribution."""
    assert s.size(1) == 3
    t = torch.cat([w[:, -1:], w, w[:, :1]], dim=1)
    return torch.einsum('bnk,bk->bn', t.unfold(1, 3, 1), s)


class Head(nn.Module):
    def __init__(self, controller, m, write=False):
        super().__init__()
        self.sizes = [m, 1, 1, 3, 1] + ([m, m] if write else [])
        self.fc = nn.Linear(controller, sum(self.sizes))

    def address(self, memory, out, w_prev):
        k, beta, g, s, gamma = out[:5]
        beta, g = F.softplus(beta), torch.sigmoid(g)
        s, gamma = F.softmax(s, dim=1), 1 + F.softplus(gamma)
        k = k.unsqueeze(1)
        wc = F.softmax(beta * F.cosine_similarity(memory + 1e-16, k + 1e-16, dim=-1), dim=1)
        wg = g * wc + (1 - g) * w_prev
        w_hat = _convolve(wg, s)
        w = w_hat ** gamma
        return torch.div(w, torch.sum(w, dim=1).view(-1, 1) + 1e-16)

    def forward(self, memory, h, w_prev):
        out = torch.split(self.fc(h), self.sizes, dim=1)
        w = self.address(memory, out, w_prev)
        if len(out) > 5:
            e, a = torch.sigmoid(out[5]), torch.tanh(out[6])
            erase = torch.matmul(w.unsqueeze(-1), e.unsqueeze(1))
            add = torch.matmul(w.unsqueeze(-1), a.unsqueeze(1))
            return memory * (1 - erase) + add, w
        return torch.matmul(w.unsqueeze(1), memory).squeeze(1), w


class Model(nn.Module):
    def __init__(self, controller, n, m):
        super().__init__()
        self.read, self.write = Head(controller, m), Head(controller, m, write=True)
        self.cell = nn.LSTMCell(controller + m, controller)
        self.n, self.m = n, m
        self.register_buffer('mem_bias', torch.empty(n, m).uniform_(-0.2, 0.2))

    def forward(self, xs):
        b = xs.size(1)
        memory = self.mem_bias.clone().repeat(b, 1, 1)
        wr = ww = torch.full((b, self.n), 1.0 / self.n, device=xs.device)
        r = xs.new_zeros(b, self.m)
        state = None
        reads = []
        for x in xs:
            state = self.cell(torch.cat([x, r], dim=1), state)
            memory, ww = self.write(memory, state[0], ww)
            r, wr = self.read(memory, state[0], wr)
            reads.append(r)
        return torch.stack(reads), memory


def get_inputs():
    return [torch.randn(STEPS, BATCH, CONTROLLER)]


def get_init_inputs():
    return [CONTROLLER, N, M]
