import torch
import torch.nn as nn
from torch import einsum


class Model(nn.Module):
    """Soft MoE: every slot is a softmax mix of tokens, every token a softmax mix of slot outputs."""

    def __init__(self, dim, num_experts, slots, hidden):
        super().__init__()
        self.phi = nn.Parameter(torch.randn(num_experts, slots, dim) * dim ** -0.5)
        self.w1 = nn.Parameter(torch.randn(num_experts, dim, hidden) * dim ** -0.5)
        self.w2 = nn.Parameter(torch.randn(num_experts, hidden, dim) * hidden ** -0.5)

    def forward(self, x):
        e, s, d = self.phi.shape
        logits = einsum('bnd,esd->bnes', x, self.phi)
        dispatch = logits.softmax(dim=1)
        combine = logits.flatten(2).softmax(dim=-1)

        slots = einsum('bnd,bnes->ebsd', x, dispatch)
        hidden = einsum('ebsd,edh->ebsh', slots, self.w1).relu()
        out = einsum('ebsh,ehd->besd', hidden, self.w2)
        return einsum('bmd,bnm->bnd', out.flatten(1, 2), combine)


def get_inputs():
    return [torch.randn(4, 196, 192)]


def get_init_inputs():
    return [192, 8, 12, 256]
