"""Log-mel features with the DFT written as two real matrix products."""
import math

import torch
import torch.nn as nn

SAMPLE_RATE = 16_000
N_FFT = 400
HOP = 160
N_MELS = 40
SECONDS = 1.0


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filters(sr, n_fft, n_mels):
    n_freqs = n_fft // 2 + 1
    all_freqs = torch.linspace(0, sr // 2, n_freqs)
    m_pts = torch.linspace(hz_to_mel(0.0), hz_to_mel(sr / 2), n_mels + 2)
    f_pts = mel_to_hz(m_pts)
    f_diff = f_pts[1:] - f_pts[:-1]
    slopes = f_pts.unsqueeze(0) - all_freqs.unsqueeze(1)
    down = (-1.0 * slopes[:, :-2]) / f_diff[:-1]
    up = slopes[:, 2:] / f_diff[1:]
    return torch.max(torch.zeros(1), torch.min(down, up))


class Model(nn.Module):
    def __init__(self, sr, n_fft, hop, n_mels):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        n = torch.arange(n_fft, dtype=torch.float64)
        k = torch.arange(n_fft // 2 + 1, dtype=torch.float64)
        phase = 2 * math.pi * torch.outer(n, k) / n_fft
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("cos", phase.cos().float(), persistent=False)
        self.register_buffer("sin", phase.sin().neg().float(), persistent=False)
        self.register_buffer("fb", mel_filters(sr, n_fft, n_mels))

    def forward(self, wav):
        pad = self.n_fft // 2
        wav = nn.functional.pad(wav.unsqueeze(1), (pad, pad), mode="reflect").squeeze(1)
        frames = wav.unfold(-1, self.n_fft, self.hop) * self.window
        real, imag = frames @ self.cos, frames @ self.sin
        power = real.square() + imag.square()
        mel = power @ self.fb
        log_spec = torch.clamp(mel, min=1e-10).log10()
        log_spec = torch.maximum(log_spec, log_spec.amax() - 8.0)
        return ((log_spec + 4.0) / 4.0).transpose(1, 2)


def get_inputs():
    return [torch.randn(2, int(SAMPLE_RATE * SECONDS)) * 0.1]


def get_init_inputs():
    return [SAMPLE_RATE, N_FFT, HOP, N_MELS]
