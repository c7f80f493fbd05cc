import torch
import torch.nn as nn


class Model(nn.Module):
    """
    Speech enhancement by a bounded Wiener gain.

    The noise level is the mean of the first frames. The gain is smoothed
    over neighbouring frequencies before it is applied to both parts of the spectrum.
    """

    def __init__(self, noise_frames=10, floor=0.1, smooth=5):
        super().__init__()
        self.noise_frames = noise_frames
        self.floor = floor
        self.smooth = nn.AvgPool1d(smooth, stride=1, padding=smooth // 2, count_include_pad=False)

    def forward(self, re, im):
        power = re.square() + im.square()
        noise = power[:, : self.noise_frames].mean(1, keepdim=True)
        snr = (power / (noise + 1e-8) - 1.0).clamp(min=0.0)
        gain = (snr / (1.0 + snr)).clamp(min=self.floor)
        gain = self.smooth(gain)
        return re * gain, im * gain


def get_inputs():
    return [torch.randn(7, 400, 257), torch.randn(7, 400, 257)]


def get_init_inputs():
    return [12]
