import torch
import torch.nn as nn

INPUT_SIZE = 32
HIDDEN_SIZE = 64
STEPS = 12

class LSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(LSTMCell, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, 4 * hidden_size)
        self.h2h = nn.Linear(hidden_size, 4 * hidden_size)
        self.reset_parameters()

    def reset_parameters(self):
        std = 1.0 / self.hidden_size ** 0.5
        for w in self.parameters():
            w.data.uniform_(-std, std)

    def forward(self, x, state):
        h, c = state
        preact = self.i2h(x) + self.h2h(h)
        # activations
        gates = preact[:, :3 * self.hidden_size].sigmoid()
        g_t = preact[:, 3 * self.hidden_size:].tanh()
        i_t = gates[:, :self.hidden_size]
        f_t = gates[:, self.hidden_size:2 * self.hidden_size]
        o_t = gates[:, -self.hidden_size:]
        c_t = torch.mul(c, f_t) + torch.mul(i_t, g_t)
        h_t = torch.mul(o_t, c_t.tanh())
        return h_t, c_t

class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(Model, self).__init__()
        self.cell = LSTMCell(input_size, hidden_size)

    def forward(self, xs):
        T, B, _ = xs.shape
        h = xs.new_zeros(B, self.cell.hidden_size)
        c = xs.new_zeros(B, self.cell.hidden_size)
        outs = []
        for t in range(T):
            h, c = self.cell(xs[t], (h, c))
            outs.append(h)
        return torch.stack(outs), (h, c)

def get_inputs():
    return [torch.randn(STEPS, 4, INPUT_SIZE)]

def get_init_inputs():
    return [INPUT_SIZE, HIDDEN_SIZE]
