import torch
import torch.nn as nn


class Model(nn.Module):
    """CRC-8 of rows of four bytes by a 256-entry table."""

    def __init__(self, poly):
        super().__init__()
        table = []
        for byte in range(256):
            crc = byte
            for _ in range(8):
                crc = ((crc << 1) ^ poly) & 0xFF if crc & 0x80 else (crc << 1) & 0xFF
            table.append(crc)
        self.register_buffer("table", torch.tensor(table, dtype=torch.int64))

    def forward(self, data):
        crc = torch.zeros_like(data[:, 0])
        for i in range(4):
            crc = self.table[crc ^ data[:, i]]
        return crc


def get_inputs():
    return [torch.randint(0, 256, (200000, 4))]


def get_init_inputs():
    return [0x07]
