import torch
import torch.nn as nn

LATENTS, CATEGORIES, HIDDEN, BATCH = 16, 12, 128, 128

def gumbel_softmax(logits, uniform, tau=1.0, hard=False, eps=1e-10, dim=-1):
    gumbels = -torch.log(-torch.log(uniform.clamp(eps, 1 - 1e-6)) + eps)
    y_soft = ((logits + gumbels) / tau).softmax(dim)
    if hard:
        index = y_soft.max(dim, keepdim=True)[1]
        y_hard = torch.zeros_like(logits, memory_format=torch.legacy_contiguous_format).scatter_(dim, index, 1.0)
        return y_hard - y_soft.detach() + y_soft
    return y_soft

class Model(nn.Module):
    tau: float = 0.67

    def __init__(self, hidden, latents, categories):
        super().__init__()
        self.enc = nn.Linear(hidden, latents * categories)
        self.codebook = nn.Parameter(torch.randn(latents, categories, 8))
        self.dec = nn.Linear(latents * 8, hidden)
        self.shape = (latents, categories)

    def forward(self, x, u):
        logits = self.enc(x).unflatten(-1, self.shape)
        q = logits.log_softmax(-1)
        z = gumbel_softmax(q, u, tau=self.tau, hard=not self.training)
        picked = torch.einsum('blc,lcd->bld', z, self.codebook)
        kl = (q.exp() * (q + torch.log(torch.tensor(float(self.shape[1]))))).sum((-1, -2))
        return self.dec(picked.flatten(-2)), kl.mean()

def get_inputs():
    return [torch.randn(BATCH, HIDDEN), torch.rand(BATCH, LATENTS, CATEGORIES)]
def get_init_inputs():
    return [HIDDEN, LATENTS, CATEGORIES]
