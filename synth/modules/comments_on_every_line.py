# ---------------------------------------------------------------
#  A projection, a gate and a reduction. Comments explain it all.
# ---------------------------------------------------------------
import torch  # the tensor library
import torch.nn as nn  # layers


# The model itself.
class Model(nn.Module):
    # width: features of each token; inner: width inside the gate
    def __init__(self, width, inner):
        super().__init__()  # always first
        self.up = nn.Linear(width, inner, bias=False)  # values
        self.gate = nn.Linear(width, inner, bias=True)  # gate logits, these do have a bias
        self.down = nn.Linear(inner, width, bias=False)  # back to the width we started from

    # tokens: (batch, time, width)
    def forward(self, tokens):
        values = self.up(tokens)  # (batch, time, inner)
        logits = self.gate(tokens)  # (batch, time, inner)
        # hard sigmoid by hand: 0 below -3, 1 above +3, a line between
        opened = torch.clamp(logits / 6 + 0.5, 0.0, 1.0)
        mixed = values * opened  # elementwise
        out = self.down(mixed)  # (batch, time, width)
        # one vector a sequence: the mean over time
        return out.mean(1)  # (batch, width)


# what the benchmark calls
def get_inputs():
    return [torch.randn(8, 197, 192)]  # 197 = 14 * 14 + 1


# what the constructor gets
def get_init_inputs():
    return [192, 384]
