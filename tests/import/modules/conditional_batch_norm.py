import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_CLASSES = 20
FEATS = 64
BATCH = 16

class ConditionalBatchNorm2d(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.num_features = num_features
        self.bn = nn.BatchNorm2d(num_features, affine=False)
        self.embed = nn.Embedding(num_classes, num_features * 2)
        self.embed.weight.data[:, :num_features].normal_(1, 0.02)
        self.embed.weight.data[:, num_features:].zero_()

    def forward(self, x, y):
        out = self.bn(x)
        gamma, beta = self.embed(y).chunk(2, 1)
        out = gamma.view(-1, self.num_features, 1, 1) * out + beta.view(-1, self.num_features, 1, 1)
        return out

class Model(nn.Module):
    """Generator up block of a class-conditional GAN."""
    def __init__(self, feats, classes):
        super().__init__()
        self.cbn1 = ConditionalBatchNorm2d(feats, classes)
        self.cbn2 = ConditionalBatchNorm2d(feats // 2, classes)
        self.c1 = nn.Conv2d(feats, feats // 2, 3, 1, 1)
        self.c2 = nn.Conv2d(feats // 2, feats // 2, 3, 1, 1)
        self.c_sc = nn.Conv2d(feats, feats // 2, 1)

    def _upsample(self, x):
        h, w = x.size()[2:]
        return F.interpolate(x, size=(h * 2, w * 2), mode='nearest')

    def shortcut(self, x):
        return self.c_sc(self._upsample(x))

    def residual(self, x, y):
        h = self.c1(self._upsample(F.relu(self.cbn1(x, y))))
        return self.c2(F.relu(self.cbn2(h, y)))

    def forward(self, x, y):
        return self.residual(x, y) + self.shortcut(x)

def get_inputs():
    return [torch.randn(BATCH, FEATS, 8, 8), torch.randint(0, NUM_CLASSES, (BATCH,))]
def get_init_inputs():
    return [FEATS, NUM_CLASSES]
