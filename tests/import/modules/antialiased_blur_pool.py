import torch
import torch.nn.functional as F
import torch.nn as nn

CHANNELS = 32
SIDE = 64

class BlurPool(nn.Module):
    def __init__(self, channels, pad_type='reflect', filt_size=4, stride=2, pad_off=0):
        super(BlurPool, self).__init__()
        self.filt_size = filt_size
        self.pad_off = pad_off
        self.pad_sizes = [int(1.*(filt_size-1)/2), -(-(filt_size-1)//2), int(1.*(filt_size-1)/2), -(-(filt_size-1)//2)]
        self.pad_sizes = [pad_size+pad_off for pad_size in self.pad_sizes]
        self.stride = stride
        self.channels = channels

        if(self.filt_size==3):
            a = torch.tensor([1., 2., 1.])
        elif(self.filt_size==4):
            a = torch.tensor([1., 3., 3., 1.])
        elif(self.filt_size==5):
            a = torch.tensor([1., 4., 6., 4., 1.])
        filt = a[:,None]*a[None,:]
        filt = filt/torch.sum(filt)
        self.register_buffer('filt', filt[None,None,:,:].repeat((self.channels,1,1,1)))
        self.pad = {'reflect': nn.ReflectionPad2d, 'replicate': nn.ReplicationPad2d, 'zero': nn.ZeroPad2d}[pad_type](self.pad_sizes)

    def forward(self, inp):
        if(self.filt_size==1):
            if(self.pad_off==0):
                return inp[:,:,::self.stride,::self.stride]
            else:
                return self.pad(inp)[:,:,::self.stride,::self.stride]
        else:
            return F.conv2d(self.pad(inp), self.filt, stride=self.stride, groups=inp.shape[1])

class Model(nn.Module):
    def __init__(self, c):
        super(Model, self).__init__()
        self.body = nn.Sequential(nn.MaxPool2d(kernel_size=2, stride=1), BlurPool(c, filt_size=4), BlurPool(c, 'replicate', 3))
    def forward(self, x):
        return self.body(x)

def get_inputs():
    return [torch.randn(4, CHANNELS, SIDE, SIDE)]

def get_init_inputs():
    return [CHANNELS]
