import torch
import torch.nn as nn
import torch.nn.functional as F

IN_CAPS, IN_DIM, OUT_CAPS, OUT_DIM = 128, 8, 10, 16
ROUTINGS = 3
BATCH = 8

def squash(inputs, axis=-1):
    norm = torch.norm(inputs, p=2, dim=axis, keepdim=True)
    scale = norm**2 / (1 + norm**2) / (norm + 1e-8)
    return scale * inputs

class Model(nn.Module):
    def __init__(self, in_num_caps, in_dim_caps, out_num_caps, out_dim_caps, routings=3):
        super(Model, self).__init__()
        self.in_num_caps = in_num_caps
        self.out_num_caps = out_num_caps
        self.routings = routings
        self.weight = nn.Parameter(0.05 * torch.randn(out_num_caps, in_num_caps, out_dim_caps, in_dim_caps))

    def forward(self, x):
        x_hat = torch.squeeze(torch.matmul(self.weight, x[:, None, :, :, None]), dim=-1)
        x_hat_detached = x_hat.detach()
        b = torch.zeros(x.size(0), self.out_num_caps, self.in_num_caps, device=x.device)
        assert self.routings > 0, 'The \'routings\' should be > 0.'
        for i in range(self.routings):
            c = F.softmax(b, dim=1)
            if i == self.routings - 1:
                outputs = squash(torch.sum(c[:, :, :, None] * x_hat, dim=-2, keepdim=True))
            else:
                outputs = squash(torch.sum(c[:, :, :, None] * x_hat_detached, dim=-2, keepdim=True))
                b = b + torch.sum(outputs * x_hat_detached, dim=-1)
        outputs = torch.squeeze(outputs, dim=-2)
        return outputs, outputs.norm(dim=-1)

def get_inputs():
    return [torch.randn(BATCH, IN_CAPS, IN_DIM)]

def get_init_inputs():
    return [IN_CAPS, IN_DIM, OUT_CAPS, OUT_DIM, ROUTINGS]
