import torch
import torch.nn as nn


class Model(nn.Module):
    """vLLM-like penalties from counts of prompt and output tokens.

    Args:
        vocab_size: number of tokens.
    Inputs:
        logits (S, V); prompt_ids (S, P); output_ids (S, O); three penalties (S,)
    """

    def __init__(self, vocab_size):
        super().__init__()
        self.vocab_size = vocab_size

    def bin_counts(self, ids):
        counts = torch.zeros(ids.shape[0], self.vocab_size, dtype=torch.float32, device=ids.device)
        return counts.scatter_add(1, ids, torch.ones_like(ids, dtype=torch.float32))

    def forward(self, logits, prompt_ids, output_ids, presence, frequency, repetition):
        output_counts = self.bin_counts(output_ids)
        seen = (self.bin_counts(prompt_ids) > 0) | (output_counts > 0)
        rep = torch.where(seen, repetition[:, None], 1.0)
        logits = torch.where(logits > 0, logits / rep, logits * rep)
        logits = logits - frequency.unsqueeze(1) * output_counts
        return logits - presence.unsqueeze(1) * (output_counts > 0)


def get_inputs():
    S, V = 16, 8000
    return [torch.randn(S, V), torch.randint(0, V, (S, 200)), torch.randint(0, V, (S, 64)),
            torch.rand(S), torch.rand(S), torch.rand(S) + 1.0]


def get_init_inputs():
    return [8000]
