import torch
import torch.nn as nn


def create_position_ids_from_input_ids(input_ids, padding_idx, past_key_values_length=0):
    mask = input_ids.ne(padding_idx).int()
    incremental_indices = (torch.cumsum(mask, dim=1).type_as(mask) + past_key_values_length) * mask
    return incremental_indices.long() + padding_idx


class Model(nn.Module):
    def __init__(self, vocab, dim, max_pos):
        super().__init__()
        self.padding_idx = 1
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_pos, dim)

    def forward(self, input_ids):
        ids = create_position_ids_from_input_ids(input_ids, self.padding_idx)
        return self.tok(input_ids) + self.pos(ids)


def get_inputs():
    x = torch.randint(2, 6000, (12, 300))
    x[4:, 210:] = 1
    return [x]


def get_init_inputs():
    return [6000, 320, 514]
