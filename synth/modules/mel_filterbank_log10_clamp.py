import torch
import torch.nn as nn


def hz_to_mel(f):
    return 2595.0 * torch.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10 ** (m / 2595.0) - 1.0)


def mel_matrix(n_freqs, n_mels, sample_rate):
    all_freqs = torch.linspace(0, sample_rate // 2, n_freqs)
    pts = mel_to_hz(torch.linspace(0, hz_to_mel(torch.tensor(sample_rate / 2.0)).item(), n_mels + 2))
    diff = pts[1:] - pts[:-1]
    slopes = pts.unsqueeze(0) - all_freqs.unsqueeze(1)
    down, up = -slopes[:, :-2] / diff[:-1], slopes[:, 2:] / diff[1:]
    return torch.minimum(down, up).clamp(min=0)


class Model(nn.Module):
    """Whisper-like features from real and imaginary spectrogram parts."""

    def __init__(self, n_freqs=201, n_mels=80, sample_rate=16000):
        super().__init__()
        self.register_buffer("fb", mel_matrix(n_freqs, n_mels, sample_rate))

    def forward(self, real, imag):
        magnitudes = real**2 + imag**2
        mel_spec = magnitudes @ self.fb
        log_spec = torch.clamp(mel_spec, min=1e-10).log10()
        peak = log_spec.amax(dim=(1, 2), keepdim=True)
        log_spec = torch.maximum(log_spec, peak - 8.0)
        return (log_spec + 4.0) / 4.0


def get_inputs():
    return [torch.randn(4, 1000, 201), torch.randn(4, 1000, 201)]


def get_init_inputs():
    return []
