"""Batch normalisation: each element finds its image by a division."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def first_mean(x_ptr, area, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    return tl.sum(tl.load(x_ptr + i, mask=i < area, other=0.0), axis=0) / tl.minimum(area, BLOCK)


@triton.jit
def statistics(x_ptr, sums_ptr, channels, batch, area, BLOCK: tl.constexpr, SPLITS: tl.constexpr):
    channel, split = tl.program_id(0), tl.program_id(1)
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    shift = first_mean(x_ptr + channel * area, area, BLOCK)
    for start in range(split * BLOCK, batch * area, SPLITS * BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < batch * area
        at = (i // area * channels + channel) * area + i % area
        x = tl.load(x_ptr + at, mask=inside, other=0.0)
        away = tl.where(inside, x - shift, 0.0)
        total += away
        squares += away * away
    at = (channel * SPLITS + split) * 2
    tl.store(sums_ptr + at, tl.sum(total, axis=0))
    tl.store(sums_ptr + at + 1, tl.sum(squares, axis=0))


@triton.jit
def normalise(x_ptr, sums_ptr, weight_ptr, bias_ptr, out_ptr, channels, batch, area, BLOCK: tl.constexpr, SPLITS: tl.constexpr):
    channel, split = tl.program_id(0), tl.program_id(1)
    part = (channel * SPLITS + tl.arange(0, SPLITS)) * 2
    count = batch * area
    away = tl.sum(tl.load(sums_ptr + part), axis=0) / count
    var = tl.sum(tl.load(sums_ptr + part + 1), axis=0) / count - away * away
    mean = first_mean(x_ptr + channel * area, area, BLOCK) + away
    scale = tl.load(weight_ptr + channel) / tl.sqrt(var + 1e-5)
    bias = tl.load(bias_ptr + channel)
    for start in range(split * BLOCK, batch * area, SPLITS * BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < batch * area
        at = (i // area * channels + channel) * area + i % area
        x = tl.load(x_ptr + at, mask=inside, other=0.0)
        y = (x - mean) * scale + bias
        tl.store(out_ptr + at, tl.where(y < 0.0, 0.0, y), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        x = x.contiguous()
        batch, channels, area = x.shape[0], x.shape[1], x.shape[2] * x.shape[3]
        sums = torch.empty(channels, 16, 2, device=x.device)
        out = torch.empty_like(x)
        grid = (channels, 16)
        statistics[grid](x, sums, channels, batch, area, BLOCK=2048, SPLITS=16, num_warps=8)
        normalise[grid](x, sums, self.weight, self.bias, out, channels, batch, area, BLOCK=2048, SPLITS=16, num_warps=8)
        return out
