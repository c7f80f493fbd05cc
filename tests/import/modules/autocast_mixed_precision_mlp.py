import torch
import torch.nn as nn

FEATURES = 256
BATCH = 256


class Model(nn.Module):
    """The middle of the network runs in bfloat16, the loss in float32."""

    def __init__(self, features: int, enabled: bool = True):
        super().__init__()
        self.enabled = enabled
        self.stem = nn.Linear(features, features)
        self.body = nn.Sequential(nn.Linear(features, 2 * features), nn.ReLU(), nn.Linear(2 * features, features))
        self.head = nn.Linear(features, 10)

    def forward(self, x, target):
        x = self.stem(x)
        with torch.autocast(device_type=x.device.type, dtype=torch.bfloat16, enabled=self.enabled):
            x = x + self.body(x)
        with torch.autocast(device_type=x.device.type, enabled=False):
            logits = self.head(x.float())
            loss = nn.functional.cross_entropy(logits, target)
        return loss, logits.to(torch.float16)


def get_inputs():
    return [torch.randn(BATCH, FEATURES), torch.randint(10, (BATCH,))]


def get_init_inputs():
    return [FEATURES]
