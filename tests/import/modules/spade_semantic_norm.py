import re
import torch
import torch.nn as nn
import torch.nn.functional as F

NORM_NC, LABEL_NC, SIZE = 32, 12, 24

class SPADE(nn.Module):
    def __init__(self, config_text, norm_nc, label_nc):
        super().__init__()
        assert config_text.startswith('spade')
        parsed = re.search(r'spade(\D+)(\d)x\d', config_text)
        param_free_norm_type = str(parsed.group(1))
        ks = int(parsed.group(2))
        if param_free_norm_type == 'instance':
            self.param_free_norm = nn.InstanceNorm2d(norm_nc, affine=False)
        elif param_free_norm_type == 'batch':
            self.param_free_norm = nn.BatchNorm2d(norm_nc, affine=False)
        else:
            raise ValueError('%s is not a recognized param-free norm type in SPADE' % param_free_norm_type)
        nhidden = 32
        pw = ks // 2
        self.mlp_shared = nn.Sequential(nn.Conv2d(label_nc, nhidden, kernel_size=ks, padding=pw), nn.ReLU())
        self.mlp_gamma = nn.Conv2d(nhidden, norm_nc, kernel_size=ks, padding=pw)
        self.mlp_beta = nn.Conv2d(nhidden, norm_nc, kernel_size=ks, padding=pw)

    def forward(self, x, segmap):
        # Part 1. generate parameter-free normalized activations
        normalized = self.param_free_norm(x)
        # Part 2. produce scaling and bias conditioned on semantic map
        segmap = F.interpolate(segmap, size=x.size()[2:], mode='nearest')
        actv = self.mlp_shared(segmap)
        gamma = self.mlp_gamma(actv)
        beta = self.mlp_beta(actv)
        return normalized * (1 + gamma) + beta

class Model(nn.Module):
    def __init__(self, norm_nc, label_nc):
        super().__init__()
        self.a = SPADE('spadeinstance3x3', norm_nc, label_nc)
        self.b = SPADE('spadebatch3x3', norm_nc, label_nc)
    def forward(self, x, labels):
        seg = torch.zeros(labels.size(0), LABEL_NC, *labels.shape[1:], device=x.device).scatter_(1, labels.unsqueeze(1), 1.0)
        return self.b(F.leaky_relu(self.a(x, seg), 2e-1), seg)

def get_inputs():
    return [torch.randn(2, NORM_NC, SIZE, SIZE), torch.randint(0, LABEL_NC, (2, SIZE * 2, SIZE * 2))]
def get_init_inputs():
    return [NORM_NC, LABEL_NC]
