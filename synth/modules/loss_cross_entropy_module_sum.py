import torch
import torch.nn as nn

class Model(nn.Module):
    """
    Cross entropy for multi-class classification.

    Parameters:
        reduction (str): "mean", "sum" or "none"
    """
    def __init__(self, reduction: str = "mean"):
        super(Model, self).__init__()
        self.criterion = nn.CrossEntropyLoss(reduction=reduction)

    def forward(self, predictions, targets):
        return self.criterion(predictions, targets)

batch_size = 3000
num_classes = 350

def get_inputs():
    return [torch.randn(batch_size, num_classes), torch.randint(0, num_classes, (batch_size,))]

def get_init_inputs():
    return ["sum"]
