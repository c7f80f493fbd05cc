import torch
import torch.nn as nn

BATCH = 8
BEAMS = 4
VOCAB = 10000


class Model(nn.Module):
    """One expansion of beam search; eos is forbidden while the length is below the minimum."""

    def __init__(self, num_beams, eos_token_id):
        super().__init__()
        self.num_beams = num_beams
        self.eos_token_id = eos_token_id

    def forward(self, next_token_logits, beam_scores):
        vocab_size = next_token_logits.shape[-1]
        scores = torch.log_softmax(next_token_logits, dim=-1)
        is_eos = torch.arange(vocab_size, device=scores.device) == self.eos_token_id
        scores = scores.masked_fill(is_eos, -1e9)
        scores = scores + beam_scores[:, None].expand_as(scores)
        scores = scores.view(-1, self.num_beams * vocab_size)
        values, tokens = torch.topk(scores, 2 * self.num_beams, dim=1, largest=True, sorted=True)
        next_indices = torch.div(tokens, vocab_size, rounding_mode="floor")
        return values, next_indices, tokens % vocab_size


def get_inputs():
    return [torch.randn(BATCH * BEAMS, VOCAB), torch.randn(BATCH * BEAMS)]


def get_init_inputs():
    return [BEAMS, 2]
