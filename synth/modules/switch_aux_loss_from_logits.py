import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    """Load-balancing loss over all layers' router logits, padding left out."""

    def __init__(self, num_experts, top_k, coef):
        super().__init__()
        self.num_experts = num_experts
        self.top_k = top_k
        self.coef = coef

    def forward(self, gate_logits, attention_mask):
        layers = gate_logits.size(0)
        routing_weights = torch.softmax(gate_logits, dim=-1)
        _, selected = torch.topk(routing_weights, self.top_k, dim=-1)
        expert_mask = F.one_hot(selected, self.num_experts).float().sum(dim=-2)

        m = attention_mask.reshape(1, -1, 1).float()
        denom = m.sum() * layers
        tokens_per_expert = (expert_mask * m).sum((0, 1)) / denom
        prob_per_expert = (routing_weights * m).sum((0, 1)) / denom
        return self.coef * self.num_experts * (tokens_per_expert * prob_per_expert).sum()


def get_inputs():
    return [torch.randn(4, 6 * 200, 16), (torch.rand(6, 200) > 0.2).long()]


def get_init_inputs():
    return [16, 2, 0.02]
