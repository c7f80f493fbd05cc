import torch
import torch.nn as nn


class Model(nn.Module):
    """Sakamoto's rule, leap years and day of the year, for batches of dates."""

    OFFSETS = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4]
    BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]

    def __init__(self):
        super().__init__()
        self.register_buffer("offsets", torch.tensor(self.OFFSETS))
        self.register_buffer("before", torch.tensor(self.BEFORE))

    def forward(self, year, month, day):
        y = year - (month < 3).long()
        weekday = (y + y // 4 - y // 100 + y // 400 + self.offsets[month - 1] + day) % 7
        leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
        ordinal = self.before[month - 1] + day + (leap & (month > 2)).long()
        return weekday, ordinal


def get_inputs():
    n = 200000
    return [torch.randint(1900, 2100, (n,)), torch.randint(1, 13, (n,)), torch.randint(1, 29, (n,))]


def get_init_inputs():
    return []
