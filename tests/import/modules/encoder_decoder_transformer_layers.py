"""Stock nn.TransformerEncoderLayer and nn.TransformerDecoderLayer with masks."""
import torch
import torch.nn as nn

D, HEADS, FF = 64, 4, 128
SRC, TGT = 24, 18


class Model(nn.Module):
    def __init__(self, d: int, heads: int, ff: int, norm_first: bool = True):
        super().__init__()
        self.enc = nn.TransformerEncoderLayer(d, heads, ff, dropout=0.0, activation="gelu", batch_first=True,
                                              norm_first=norm_first)
        self.dec = nn.TransformerDecoderLayer(d, heads, ff, dropout=0.0, batch_first=True, norm_first=norm_first)
        self.final = nn.LayerNorm(d)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device):
        mask = (torch.triu(torch.ones(sz, sz, device=device)) == 1).transpose(0, 1)
        return mask.float().masked_fill(mask == 0, float('-inf')).masked_fill(mask == 1, float(0.0))

    def forward(self, src, tgt, src_padding=None):
        float_padding = None
        if src_padding is not None:
            float_padding = torch.zeros_like(src_padding, dtype=src.dtype).masked_fill(src_padding, float("-inf"))
        memory = self.enc(src, src_key_padding_mask=float_padding)
        out = self.dec(tgt, memory, tgt_mask=self.generate_square_subsequent_mask(tgt.size(1), tgt.device),
                       memory_key_padding_mask=float_padding)
        return self.final(out)


def get_inputs():
    pad = torch.zeros(4, SRC, dtype=torch.bool)
    pad[1, -6:] = True
    return [torch.randn(4, SRC, D), torch.randn(4, TGT, D), pad]


def get_init_inputs():
    return [D, HEADS, FF]
