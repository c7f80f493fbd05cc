"""Likelihoods with weights, ignored classes and full constants."""
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS, CLASSES, SIDE = 16, 7, 6


class Model(nn.Module):
    def __init__(self, classes, ignored):
        super().__init__()
        self.ignored = ignored
        self.register_buffer("share", torch.linspace(0.5, 2.0, classes))

    def forward(self, scores, labels, image, mask, mean, counts, spread):
        chance = torch.sigmoid(mean)
        return (
            F.cross_entropy(scores, labels, weight=self.share),
            F.cross_entropy(scores, labels, weight=self.share, ignore_index=self.ignored, reduction="sum"),
            F.cross_entropy(image, mask, ignore_index=self.ignored),
            F.nll_loss(F.log_softmax(scores, dim=1), labels, weight=self.share, reduction="none"),
            F.binary_cross_entropy(chance, spread / 2, weight=counts),
            F.binary_cross_entropy_with_logits(mean, spread / 2),
            F.binary_cross_entropy_with_logits(mean, spread / 2, pos_weight=counts[0]),
            F.binary_cross_entropy_with_logits(mean, spread / 2, weight=counts, reduction="none"),
            F.poisson_nll_loss(mean, counts, full=True),
            F.poisson_nll_loss(chance, counts, log_input=False, reduction="sum"),
            F.gaussian_nll_loss(mean, counts, spread, full=True, eps=1e-3),
            F.logsigmoid(mean),
        )


def get_inputs():
    values = torch.rand(3, ROWS, CLASSES)
    return [torch.randn(ROWS, CLASSES), torch.randint(0, CLASSES, (ROWS,)), torch.randn(2, CLASSES, SIDE, SIDE), torch.randint(0, CLASSES, (2, SIDE, SIDE)),
            torch.randn(ROWS, CLASSES), 5 * values[1], 0.1 + values[2]]


def get_init_inputs():
    return [CLASSES, 3]
