import torch
import torch.nn as nn


class Model(nn.Module):
    """Class and box sub-nets of a single-stage detector, shared over two pyramid levels."""

    def __init__(self, channels, num_anchors, num_classes):
        super().__init__()
        self.K = num_classes
        self.cls_tower = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.box_tower = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU())
        self.cls_score = nn.Conv2d(channels, num_anchors * num_classes, 3, padding=1)
        self.bbox_pred = nn.Conv2d(channels, num_anchors * 4, 3, padding=1)

    def _flat(self, t, k):
        return t.permute(0, 2, 3, 1).reshape(t.size(0), -1, k)

    def forward(self, p3, p4):
        logits, boxes = [], []
        for f in (p3, p4):
            logits.append(self._flat(self.cls_score(self.cls_tower(f)), self.K))
            boxes.append(self._flat(self.bbox_pred(self.box_tower(f)), 4))
        return {"scores": torch.cat(logits, 1).sigmoid(), "deltas": torch.cat(boxes, 1)}


def get_inputs():
    return [torch.randn(2, 48, 32, 32), torch.randn(2, 48, 16, 16)]


def get_init_inputs():
    return [48, 3, 10]
