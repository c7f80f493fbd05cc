import torch
import torch.nn as nn


class Model(nn.Module):
    """Reward model head: score at the last non-padding token, then the pairwise ranking loss."""

    def __init__(self, hidden_size, pad_token_id):
        super().__init__()
        self.v_head = nn.Linear(hidden_size, 1, bias=False)
        self.pad_token_id = pad_token_id

    def forward(self, hidden_states, input_ids):
        rewards = self.v_head(hidden_states).squeeze(-1)
        ends = input_ids.ne(self.pad_token_id).sum(dim=1) - 1
        scores = rewards.gather(1, ends.unsqueeze(1)).squeeze(1)
        half = scores.shape[0] // 2
        chosen, rejected = scores[:half], scores[half:]
        loss = -torch.log(torch.sigmoid(chosen - rejected)).mean()
        return loss, chosen, rejected


def get_inputs():
    ids = torch.randint(1, 1000, (32, 200))
    ids[::3, 150:] = 0
    ids[1::3, 90:] = 0
    return [torch.randn(32, 200, 256), ids]


def get_init_inputs():
    return [256, 0]
