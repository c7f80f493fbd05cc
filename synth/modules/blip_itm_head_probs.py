import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, hidden, heads=2):
        super().__init__()
        self.itm_head = nn.Linear(hidden, heads)
        self.vision_proj = nn.Linear(hidden, 256)

    def forward(self, question_states, image_states):
        # Q-Former: match score is the mean over the query tokens
        itm = self.itm_head(question_states).mean(dim=1)
        match = torch.softmax(itm, dim=1)[:, 1]

        # ITC: the best query against the class token
        q = nn.functional.normalize(self.vision_proj(question_states), dim=-1)
        c = nn.functional.normalize(self.vision_proj(image_states[:, 0]), dim=-1)
        sim, _ = torch.einsum("bqd,bd->bq", q, c).max(dim=-1)
        return dict(match=match, similarity=sim)


def get_inputs():
    return [torch.randn(48, 32, 384), torch.randn(48, 50, 384)]


def get_init_inputs():
    return [384]
