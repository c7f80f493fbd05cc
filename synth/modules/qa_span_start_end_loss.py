import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.qa_outputs = nn.Linear(hidden, 2)

    def forward(self, sequence_output, p_mask, start_positions, end_positions):
        logits = self.qa_outputs(sequence_output)
        start_logits, end_logits = logits.split(1, dim=-1)
        start_logits = start_logits.squeeze(-1) * (1 - p_mask) - 1e30 * p_mask
        end_logits = end_logits.squeeze(-1) * (1 - p_mask) - 1e30 * p_mask
        loss_fct = nn.CrossEntropyLoss()
        loss = (loss_fct(start_logits, start_positions) + loss_fct(end_logits, end_positions)) / 2
        return loss, start_logits.argmax(dim=-1), end_logits.argmax(dim=-1)


def get_inputs():
    p = torch.zeros(16, 384)
    p[:, 300:] = 1.0
    return [torch.randn(16, 384, 256), p, torch.randint(0, 300, (16,)), torch.randint(0, 300, (16,))]


def get_init_inputs():
    return [256]
