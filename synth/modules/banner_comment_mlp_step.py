# ============================================================
#  Two-layer perceptron, ReLU in between, no output activation
# ============================================================
import torch
import torch.nn as nn

# ---- sizes -------------------------------------------------
BATCH = 640
IN, HID, OUT = 300, 512, 77


# ---- model -------------------------------------------------
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(IN, HID) * 0.05)
        self.b1 = nn.Parameter(torch.zeros(HID))
        self.w2 = nn.Parameter(torch.randn(HID, OUT) * 0.05)

    def forward(self, x):
        h = (x @ self.w1 + self.b1).clamp(min=0.0)  # hidden
        return h @ self.w2                          # scores


# ---- data --------------------------------------------------
def get_inputs():
    return [torch.randn(BATCH, IN)]


def get_init_inputs():
    return []
