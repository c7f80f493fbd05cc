import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    """Box regression loss, summed over coordinates and divided by the number of boxes."""
    def __init__(self, beta: float):
        super().__init__()
        self.beta = beta

    def forward(self, pred_boxes, gt_boxes):
        total = F.smooth_l1_loss(pred_boxes, gt_boxes, beta=self.beta, reduction='sum')
        return total / pred_boxes.size(0)

def get_inputs():
    return [torch.rand(60000, 4), torch.rand(60000, 4)]

def get_init_inputs():
    return [1 / 9]
