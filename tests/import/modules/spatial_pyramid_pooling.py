import math
import torch
import torch.nn as nn

LEVELS = [4, 2, 1]
CHANNELS = 64
HEIGHT, WIDTH = 27, 33


def spatial_pyramid_pool(previous_conv, num_sample, previous_conv_size, out_pool_size):
    '''
    previous_conv: a tensor vector of previous convolution layer
    num_sample: an int number of image in the batch
    previous_conv_size: an int vector [height, width] of the feature map
    out_pool_size: a int vector of expected output size of max pooling layer
    '''
    for i in range(len(out_pool_size)):
        h_wid = int(math.ceil(previous_conv_size[0] / out_pool_size[i]))
        w_wid = int(math.ceil(previous_conv_size[1] / out_pool_size[i]))
        h_pad = (h_wid*out_pool_size[i] - previous_conv_size[0] + 1)//2
        w_pad = (w_wid*out_pool_size[i] - previous_conv_size[1] + 1)//2
        maxpool = nn.MaxPool2d((h_wid, w_wid), stride=(h_wid, w_wid), padding=(h_pad, w_pad))
        x = maxpool(previous_conv)
        if(i == 0):
            spp = x.view(num_sample, -1)
        else:
            spp = torch.cat((spp, x.view(num_sample, -1)), 1)
    return spp


class Model(nn.Module):
    def __init__(self, levels, channels):
        super().__init__()
        self.output_num = levels
        self.conv = nn.Conv2d(channels, channels, 3, 1, 1, bias=True)
        self.act = nn.LeakyReLU(0.2, inplace=True)

    def forward(self, x):
        x = self.act(self.conv(x))
        return spatial_pyramid_pool(x, x.size(0), [int(x.size(2)), int(x.size(3))], self.output_num)


def get_inputs():
    return [torch.randn(2, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [LEVELS, CHANNELS]
