import torch, torch.nn as nn, torch.nn.functional as F
SMOOTH=1.
SHAPE=(8,1,160,160)
class Model(nn.Module):
    def __init__(self, weight=None, size_average=True):
        super().__init__()
    def forward(self, inputs, targets, smooth=SMOOTH):
        # sigmoid in case the model does not contain one
        inputs = F.sigmoid(inputs)
        inputs = inputs.view(-1)
        targets = targets.view(-1)
        intersection = (inputs * targets).sum()
        dice_loss = 1 - (2.*intersection + smooth)/(inputs.sum() + targets.sum() + smooth)
        BCE = F.binary_cross_entropy(inputs, targets, reduction='mean')
        Dice_BCE = BCE + dice_loss
        return Dice_BCE
def get_inputs():
    return [torch.randn(*SHAPE), (torch.rand(*SHAPE)>.5).float()]
def get_init_inputs():
    return []
