import torch
from torch import nn

KEYS, HASHES, BITS = 20000, 3, 1 << 16

class Model(nn.Module):
    '''xorshift-multiply mixing in int64, then a membership test in a bit table'''
    def __init__(self, hashes, bits):
        super().__init__()
        self.bits = bits
        self.seeds = [0x9E3779B1 + 0x85EBCA6B * i for i in range(hashes)]
    @staticmethod
    def mix(x, seed):
        x = (x ^ (x >> 16)) * 0x45D9F3B & 0xFFFFFFFF
        x = (x ^ (x >> 16)) * (seed & 0x7FFFFFF) & 0xFFFFFFFF
        return x ^ (x >> 16)
    def forward(self, members, queries):
        table = torch.zeros(self.bits, dtype=torch.uint8, device=members.device)
        present = torch.ones_like(queries, dtype=torch.bool)
        for s in self.seeds:
            slot = self.mix(members, s) % self.bits
            table = table.scatter(0, slot, torch.ones_like(slot, dtype=torch.uint8))
        for s in self.seeds:
            present = present & table[self.mix(queries, s) % self.bits].bool()
        return present, table.sum(dtype=torch.int64), self.mix(queries, 7).to(torch.int32)

def get_inputs():
    return [torch.randint(0, 2**31, (KEYS,)), torch.randint(0, 2**31, (KEYS,))]
def get_init_inputs():
    return [HASHES, BITS]
