from typing import Optional

import torch
import torch.nn as nn

NUM_TAGS, SEQ_LENGTH, BATCH_SIZE = 9, 24, 32


class Model(nn.Module):
    """Linear-chain conditional random field: log likelihood and best path."""

    def __init__(self, num_tags: int, batch_first: bool = False) -> None:
        if num_tags <= 0:
            raise ValueError(f'invalid number of tags: {num_tags}')
        super().__init__()
        self.num_tags = num_tags
        self.batch_first = batch_first
        self.start_transitions = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.end_transitions = nn.Parameter(torch.empty(num_tags).uniform_(-0.1, 0.1))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags).uniform_(-0.1, 0.1))

    def forward(self, emissions, tags, mask: Optional[torch.ByteTensor] = None):
        if mask is None:
            mask = torch.ones_like(tags, dtype=torch.uint8)
        if mask.dtype != torch.uint8:
            mask = mask.byte()
        if self.batch_first:
            emissions, tags, mask = emissions.transpose(0, 1), tags.transpose(0, 1), mask.transpose(0, 1)
        llh = self._compute_score(emissions, tags, mask) - self._compute_normalizer(emissions, mask)
        return llh.sum() / mask.float().sum(), self._best_score(emissions, mask)

    def _compute_score(self, emissions, tags, mask):
        seq_length, batch_size = tags.shape
        mask = mask.float()
        score = self.start_transitions[tags[0]]
        score = score + emissions[0, torch.arange(batch_size, device=tags.device), tags[0]]
        for i in range(1, seq_length):
            score = score + self.transitions[tags[i - 1], tags[i]] * mask[i]
            score = score + emissions[i, torch.arange(batch_size, device=tags.device), tags[i]] * mask[i]
        seq_ends = mask.long().sum(dim=0) - 1
        last_tags = tags[seq_ends, torch.arange(batch_size, device=tags.device)]
        return score + self.end_transitions[last_tags]

    def _compute_normalizer(self, emissions, mask):
        score = self.start_transitions + emissions[0]
        for i in range(1, emissions.size(0)):
            next_score = score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)
            next_score = torch.logsumexp(next_score, dim=1)
            score = torch.where(mask[i].unsqueeze(1).bool(), next_score, score)
        return torch.logsumexp(score + self.end_transitions, dim=1)

    def _best_score(self, emissions, mask):
        score = self.start_transitions + emissions[0]
        for i in range(1, emissions.size(0)):
            best, _ = (score.unsqueeze(2) + self.transitions + emissions[i].unsqueeze(1)).max(dim=1)
            score = torch.where(mask[i].unsqueeze(1).bool(), best, score)
        return (score + self.end_transitions).max(dim=1)


def get_inputs():
    lengths = torch.randint(SEQ_LENGTH // 2, SEQ_LENGTH + 1, (BATCH_SIZE,))
    mask = (torch.arange(SEQ_LENGTH)[None] < lengths[:, None]).to(torch.uint8)
    return [torch.randn(BATCH_SIZE, SEQ_LENGTH, NUM_TAGS), torch.randint(0, NUM_TAGS, (BATCH_SIZE, SEQ_LENGTH)), mask]


def get_init_inputs():
    return [NUM_TAGS, True]
