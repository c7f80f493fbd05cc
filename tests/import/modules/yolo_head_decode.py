import torch
import torch.nn as nn

STRIDES = (8, 16, 32)
IMAGE, CLASSES, REG_MAX, CH = 160, 6, 8, 16


def make_anchors(feats, strides, grid_cell_offset=0.5):
    """Generate anchors from features."""
    anchor_points, stride_tensor = [], []
    assert feats is not None
    dtype, device = feats[0].dtype, feats[0].device
    for i, stride in enumerate(strides):
        h, w = feats[i].shape[2:]
        sx = torch.arange(end=w, device=device, dtype=dtype) + grid_cell_offset
        sy = torch.arange(end=h, device=device, dtype=dtype) + grid_cell_offset
        sy, sx = torch.meshgrid(sy, sx, indexing="ij")
        anchor_points.append(torch.stack((sx, sy), -1).view(-1, 2))
        stride_tensor.append(torch.full((h * w, 1), stride, dtype=dtype, device=device))
    return torch.cat(anchor_points), torch.cat(stride_tensor)


class DFL(nn.Module):
    def __init__(self, c1=16):
        super().__init__()
        self.conv = nn.Conv2d(c1, 1, 1, bias=False).requires_grad_(False)
        x = torch.arange(c1, dtype=torch.float)
        self.conv.weight.data[:] = nn.Parameter(x.view(1, c1, 1, 1))
        self.c1 = c1

    def forward(self, x):
        b, _, a = x.shape
        return self.conv(x.view(b, 4, self.c1, a).transpose(2, 1).softmax(1)).view(b, 4, a)


class Model(nn.Module):
    """Decoupled detection head; candidates are kept by a fixed top-k instead of suppression."""

    def __init__(self, ch, nc, reg_max, strides, max_det=50):
        super().__init__()
        self.nc, self.reg_max, self.strides, self.max_det = nc, reg_max, strides, max_det
        self.no = nc + reg_max * 4
        self.heads = nn.ModuleList(nn.Conv2d(ch, self.no, 1) for _ in strides)
        self.dfl = DFL(reg_max)

    def forward(self, feats):
        feats = [head(f) for head, f in zip(self.heads, feats)]
        shape = feats[0].shape
        x_cat = torch.cat([xi.view(shape[0], self.no, -1) for xi in feats], 2)
        anchors, strides = (x.transpose(0, 1) for x in make_anchors(feats, self.strides))
        box, cls = x_cat.split((self.reg_max * 4, self.nc), 1)
        lt, rb = self.dfl(box).chunk(2, 1)
        x1y1, x2y2 = anchors.unsqueeze(0) - lt, anchors.unsqueeze(0) + rb
        dbox = torch.cat((x1y1, x2y2), 1) * strides
        scores = cls.sigmoid().permute(0, 2, 1)
        best, _ = scores.amax(dim=-1).topk(self.max_det, dim=-1)
        index = scores.amax(dim=-1).argsort(dim=-1, descending=True, stable=True)[:, :self.max_det]
        boxes = dbox.permute(0, 2, 1).gather(1, index.unsqueeze(-1).repeat(1, 1, 4))
        return boxes, best


def get_inputs():
    return [[torch.randn(2, CH, IMAGE // s, IMAGE // s) for s in STRIDES]]


def get_init_inputs():
    return [CH, CLASSES, REG_MAX, STRIDES]
