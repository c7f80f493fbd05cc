"""Losses of three arguments, with the options that papers set."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, FEATURES, CLASSES = 24, 40, 10


class Model(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin
        self.triplet = nn.TripletMarginLoss(margin=margin, p=1, swap=True)

    def forward(self, anchor, positive, negative, sign, scores, labels):
        near, far = anchor[:, 0], positive[:, 0]
        return {
            "triplet": F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, reduction="sum"),
            "swapped": self.triplet(anchor, positive, negative),
            "ranking": F.margin_ranking_loss(near, far, sign, margin=self.margin, reduction="none"),
            "cosine": F.cosine_embedding_loss(anchor, positive, sign, margin=0.2),
            "hinge": F.hinge_embedding_loss(near, sign, margin=2.0, reduction="sum"),
            "soft": F.soft_margin_loss(near, sign, reduction="none"),
            "multi": F.multi_margin_loss(scores, labels, margin=0.7),
        }


def get_inputs():
    rows = [torch.randn(ROWS, FEATURES) for _ in range(3)]
    return [*rows, torch.randint(0, 2, (ROWS,)).float() * 2 - 1, torch.randn(ROWS, CLASSES), torch.randint(0, CLASSES, (ROWS,))]


def get_init_inputs():
    return [0.5]
