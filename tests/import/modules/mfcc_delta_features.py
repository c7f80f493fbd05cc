import torch, math
from torch import nn

N_MFCC, N_MEL, FRAMES = 13, 40, 1500

def create_dct(n_mfcc, n_mels, norm="ortho"):
    n = torch.arange(float(n_mels))
    k = torch.arange(float(n_mfcc)).unsqueeze(1)
    dct = torch.cos(math.pi / float(n_mels) * (n + 0.5) * k)
    if norm is None:
        dct *= 2.0
    else:
        assert norm == "ortho"
        dct[0] *= 1.0 / math.sqrt(2.0)
        dct *= math.sqrt(2.0 / float(n_mels))
    return dct.t()

def compute_deltas(specgram, win_length=5, mode="replicate"):
    shape = specgram.size()
    specgram = specgram.reshape(1, -1, shape[-1])
    assert win_length >= 3
    n = (win_length - 1) // 2
    denom = n * (n + 1) * (2 * n + 1) / 3
    specgram = nn.functional.pad(specgram, (n, n), mode=mode)
    kernel = torch.arange(-n, n + 1, 1, dtype=specgram.dtype, device=specgram.device).repeat(specgram.shape[1], 1, 1)
    output = nn.functional.conv1d(specgram, kernel, groups=specgram.shape[1]) / denom
    return output.reshape(shape)

class Model(nn.Module):
    def __init__(self, n_mfcc, n_mel):
        super().__init__()
        self.register_buffer("dct_mat", create_dct(n_mfcc, n_mel))
        lifter = 1 + 11 * torch.sin(math.pi * torch.arange(n_mfcc) / 22)
        self.register_buffer("lifter", lifter)

    def forward(self, mel_specgram):
        log_mel = torch.log(mel_specgram + 1e-6)
        mfcc = torch.matmul(log_mel.transpose(-1, -2), self.dct_mat) * self.lifter
        mfcc = mfcc.transpose(-1, -2)
        d1 = compute_deltas(mfcc); d2 = compute_deltas(d1)
        feats = torch.cat([mfcc, d1, d2], dim=-2)
        # cepstral mean and variance normalisation
        return (feats - feats.mean(-1, keepdim=True)) / (feats.std(-1, keepdim=True) + 1e-5)

def get_inputs():
    return [torch.rand(4, N_MEL, FRAMES)]

def get_init_inputs():
    return [N_MFCC, N_MEL]
