import torch
import torch.nn as nn

BATCH, VOCAB, HISTORY = 16, 8000, 64
TOP_K, TOP_P, TEMPERATURE, PENALTY = 50, 0.9, 0.8, 1.2


class Model(nn.Module):
    """Logit processors of a sampler in a fixed order: penalty, temperature, top-k, top-p."""

    def __init__(self, top_k, top_p, temperature, penalty, filter_value=-float("Inf")):
        super().__init__()
        self.processors = [
            lambda ids, s: self.repetition(ids, s, penalty),
            lambda ids, s: s / temperature,
            lambda ids, s: self.topk(s, top_k),
            lambda ids, s: self.topp(s, top_p),
        ]
        self.filter_value = filter_value

    def repetition(self, input_ids, scores, penalty):
        score = torch.gather(scores, 1, input_ids)
        score = torch.where(score < 0, score * penalty, score / penalty)
        return scores.scatter(1, input_ids, score)

    def topk(self, scores, k):
        k = min(k, scores.size(-1))
        indices_to_remove = scores < torch.topk(scores, k)[0][..., -1, None]
        return scores.masked_fill(indices_to_remove, self.filter_value)

    def topp(self, scores, p, min_tokens_to_keep=1):
        sorted_logits, sorted_indices = torch.sort(scores, descending=False)
        cumulative_probs = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
        sorted_indices_to_remove = cumulative_probs <= (1 - p)
        sorted_indices_to_remove[..., -min_tokens_to_keep:] = 0
        indices_to_remove = sorted_indices_to_remove.scatter(1, sorted_indices, sorted_indices_to_remove)
        return scores.masked_fill(indices_to_remove, self.filter_value)

    def forward(self, input_ids, scores):
        for p in self.processors:
            scores = p(input_ids, scores)
        probs = scores.softmax(-1)
        return probs, probs.argmax(-1, keepdim=True)


def get_inputs():
    ids = torch.stack([torch.randperm(VOCAB)[:HISTORY] for _ in range(BATCH)])
    return [ids, torch.randn(BATCH, VOCAB) * 4]


def get_init_inputs():
    return [TOP_K, TOP_P, TEMPERATURE, PENALTY]
