import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, digits):
        # every second digit from the right is doubled; nine is taken off above nine
        even = digits[:, 0::2] * 2
        even = torch.where(even > 9, even - 9, even)
        total = even.sum(1) + digits[:, 1::2].sum(1)
        check = (10 - total % 10) % 10
        return check, total % 10 == 0

def get_inputs():
    return [torch.randint(0, 10, (50000, 16))]

def get_init_inputs():
    return []
