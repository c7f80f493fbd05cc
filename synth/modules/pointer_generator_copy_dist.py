import torch
import torch.nn as nn


class Model(nn.Module):
    """Pointer-generator: vocabulary softmax times p_gen plus attention copied to source ids."""

    def __init__(self, hidden, vocab, extra):
        super().__init__()
        self.out = nn.Linear(hidden, vocab)
        self.p_gen_linear = nn.Linear(2 * hidden, 1)
        self.extra = extra

    def forward(self, state, context, attn_dist, enc_extended):
        p_gen = torch.sigmoid(self.p_gen_linear(torch.cat((context, state), 1)))
        vocab_dist = p_gen * torch.softmax(self.out(state), dim=1)
        zeros = torch.zeros(state.size(0), self.extra, device=state.device)
        extended = torch.cat([vocab_dist, zeros], 1)
        return extended.scatter_add(1, enc_extended, (1 - p_gen) * attn_dist)


def get_inputs():
    return [torch.randn(64, 256), torch.randn(64, 256), torch.softmax(torch.randn(64, 400), 1), torch.randint(0, 8050, (64, 400))]


def get_init_inputs():
    return [256, 8000, 50]
