import torch
import torch.nn as nn


class Model(nn.Module):
    """Demucs-like 1d encoder/decoder with summed skips and GLU in the encoder."""

    def __init__(self, audio_channels=2, channels=16, depth=3, kernel=8, stride=4):
        super().__init__()
        self.encoder = nn.ModuleList()
        self.decoder = nn.ModuleList()
        in_ch, ch = audio_channels, channels
        for index in range(depth):
            self.encoder.append(nn.Sequential(
                nn.Conv1d(in_ch, ch, kernel, stride, padding=2), nn.ReLU(),
                nn.Conv1d(ch, 2 * ch, 1), nn.GLU(dim=1),
            ))
            dec = [nn.ConvTranspose1d(ch, in_ch, kernel, stride, padding=2)]
            if index > 0:
                dec.append(nn.ReLU())
            self.decoder.insert(0, nn.Sequential(*dec))
            in_ch, ch = ch, 2 * ch

    def forward(self, mix):
        x, saved = mix, []
        for encode in self.encoder:
            x = encode(x)
            saved.append(x)
        for decode in self.decoder:
            x = decode(x + saved.pop(-1))
        return x


def get_inputs():
    return [torch.randn(12, 2, 6400)]


def get_init_inputs():
    return [2, 16, 3, 8, 4]
