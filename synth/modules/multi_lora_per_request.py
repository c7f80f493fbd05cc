import torch
import torch.nn as nn


class Model(nn.Module):
    """S-LoRA / punica: each request of a batch picks its adapter by id."""

    def __init__(self, num_adapters, rank, in_dim, out_dim):
        super().__init__()
        self.lora_a = nn.Parameter(torch.randn(num_adapters, in_dim, rank) * 0.03)
        self.lora_b = nn.Parameter(torch.randn(num_adapters, rank, out_dim) * 0.03)
        self.register_buffer("scale", torch.linspace(0.5, 2.0, num_adapters))

    def forward(self, y, x, adapter_ids):
        a = self.lora_a.index_select(0, adapter_ids)
        b = self.lora_b.index_select(0, adapter_ids)
        delta = torch.einsum("bi,bir->br", x, a)
        delta = torch.einsum("br,bro->bo", delta, b)
        return y + delta * self.scale[adapter_ids].unsqueeze(-1)


def get_inputs():
    n = 96
    return [torch.randn(n, 512), torch.randn(n, 768), torch.randint(0, 10, (n,))]


def get_init_inputs():
    return [10, 16, 768, 512]
