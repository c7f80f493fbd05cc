import torch
import torch.nn as nn
import torch.nn.functional as F

DIM, K, T, BATCH = 64, 2048, 0.07, 64


class Model(nn.Module):
    """Momentum contrast: the queue and the key encoder's moving average are read, the new ones are returned."""

    def __init__(self, base_encoder=None, dim=64, K=2048, m=0.999, T=0.07):
        super(Model, self).__init__()
        self.K, self.m, self.T = K, m, T
        make = base_encoder or (lambda: nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, dim)))
        self.encoder_q, self.encoder_k = make(), make()
        for param_q, param_k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            param_k.data.copy_(param_q.data)
            param_k.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("queue_ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _key(self, x):
        params = {n: self.m * k + (1 - self.m) * q for (n, k), q in
                  zip(self.encoder_k.named_parameters(), self.encoder_q.parameters())}
        return F.normalize(torch.func.functional_call(self.encoder_k, params, (x,)), dim=1)

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        k = self._key(im_k)
        l_pos = torch.einsum('nc,nc->n', [q, k]).unsqueeze(-1)
        l_neg = torch.einsum('nc,ck->nk', [q, self.queue.clone().detach()])
        logits = torch.cat([l_pos, l_neg], dim=1)
        logits /= self.T
        labels = torch.zeros(logits.shape[0], dtype=torch.long, device=logits.device)
        new_queue = torch.cat([k.T, self.queue[:, :-k.shape[0]]], dim=1)
        return F.cross_entropy(logits, labels), new_queue


def get_inputs():
    return [torch.randn(BATCH, 2 * DIM), torch.randn(BATCH, 2 * DIM)]


def get_init_inputs():
    return [None, DIM, K, 0.999, T]
