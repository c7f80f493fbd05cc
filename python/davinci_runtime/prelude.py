"""What a reply of the form "delta" may use without defining it: davinci puts the definitions that a reply names into its file, in front of it,
so the file needs nothing of this package. Every definition stands alone or names others of this file.

    @kernel                                  # @triton.jit; parameters in capitals are constants
    def k1(x, o, N):
        i = ids(1024)
        inside = i < N
        st(o + i, ld(x + i, inside) * 2.0, inside)

    k1(x, out)                               # programs of 1,024 for the elements of the last tensor, which are N
    k2[cdiv(n, 64)](x, out)                  # a grid of one axis needs no tuple
"""

import functools
import inspect
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.runtime import driver


def cdiv(a, b):
    return -(-a // b)


def pow2(n):
    return 1 << (n - 1).bit_length()


class direct:
    """Launches a kernel that was compiled for such arguments without Triton's look-up."""

    def __init__(self, kernel):
        self.kernel, self.compiled = kernel, {}

    def __getitem__(self, grid):
        grid = grid if isinstance(grid, tuple) else (grid,)

        def launch(*args, **constants):
            # A kernel is compiled for types, alignment of addresses, sizes and constants.
            key = tuple([(a.dtype, a.data_ptr() % 16) if hasattr(a, "data_ptr") else a for a in args])
            key = (args[0].device, key, *constants.values())
            if key in self.compiled:
                made, fixed = self.compiled[key]
                stream = driver.active.get_current_stream(args[0].device.index)
                place = (*grid, 1, 1)[:3]
                made[place](*args, *fixed, stream=stream)
                return
            made = self.kernel[grid](*args, **constants)
            if made is not None:  # Triton's interpreter compiles nothing
                self.compiled[key] = made, [constants[name] for name in self.kernel.arg_names[len(args) :]]

        return launch

    def __call__(self, *args):
        elements = next(a for a in reversed(args) if hasattr(a, "numel")).numel()
        self[cdiv(elements, 1024)](*args, elements)


def kernel(function):
    """@triton.jit and `direct`; parameters in capitals are constants."""
    for name in inspect.signature(function).parameters:
        if name.isupper():
            function.__annotations__[name] = tl.constexpr
    made = triton.jit(function)
    if hasattr(made, "rewrite"):  # Triton's interpreter runs a copy
        made.rewrite().__annotations__.update(function.__annotations__)
    return direct(made)


def copied(result):
    if isinstance(result, dict):
        return {name: copied(value) for name, value in result.items()}
    if isinstance(result, (list, tuple)):
        return type(result)([copied(value) for value in result])
    return result.clone()


def replay(forward):
    """Captures the launches of forward as a graph, for each shape of its inputs and place of its weights, and replays it."""

    def capture(self, key, inputs):
        weights = [*self.parameters(), *self.buffers()]
        with torch.inference_mode(False), torch.no_grad():
            inputs = [x.clone() for x in inputs]
            state = [value.clone() for value in self.buffers()]
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                forward(self, *inputs)  # compiles, and lets libraries choose
            torch.cuda.current_stream().wait_stream(stream)
            # The first run must leave no trace.
            for value, before in zip(self.buffers(), state):
                value.copy_(before)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = forward(self, *inputs)
        # The graph reads weights where they lie: other places or other shapes need another one.
        key = [*key, *map(torch.Tensor.data_ptr, weights)]
        self.__dict__["captured"] = weights, key, inputs, graph, result

    @functools.wraps(forward)
    def replayed(self, *inputs, **named):
        if named:
            inputs = inspect.signature(forward).bind(self, *inputs, **named).args[1:]
        if not inputs[0].is_cuda:
            return forward(self, *inputs)
        key = [x.shape for x in inputs]
        known = self.__dict__.get("captured")
        if known is None or [*key, *map(torch.Tensor.data_ptr, known[0])] != known[1]:
            capture(self, key, inputs)
            known = self.__dict__["captured"]
        for own, x in zip(known[2], inputs):
            own.copy_(x)
        known[3].replay()
        return copied(known[4])

    return replayed


@triton.jit
def ids(BLOCK: tl.constexpr):
    return tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)


@triton.jit
def ids64(BLOCK: tl.constexpr):
    return tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)


@triton.jit
def rows(ROWS: tl.constexpr):
    return (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]


@triton.jit
def cols(BLOCK: tl.constexpr):
    return tl.arange(0, BLOCK)[None, :]


@triton.jit
def ld(place, inside):
    return tl.load(place, mask=inside, other=0.0).to(tl.float32)


@triton.jit
def st(place, value, inside):
    tl.store(place, value, mask=inside)


@triton.jit
def with_bias(total, bias, col, inside):
    # The bias of a layer that has none is None.
    if bias is not None:
        total += ld(bias + col, inside)
    return total


@triton.jit
def row_sum(x, inside):
    return tl.sum(tl.where(inside, x, 0.0), axis=1)[:, None]


@triton.jit
def row_max(x, inside):
    return tl.max(tl.where(inside, x, float("-inf")), axis=1)[:, None]


@triton.jit
def row_min(x, inside):
    return tl.min(tl.where(inside, x, float("inf")), axis=1)[:, None]


@triton.jit
def row_max_nan(x, inside):
    return tl.reduce(tl.where(inside, x, float("-inf")), 1, larger)[:, None]


@triton.jit
def row_min_nan(x, inside):
    return tl.reduce(tl.where(inside, x, float("inf")), 1, smaller)[:, None]


@triton.jit
def row_prod(x, inside):
    return tl.reduce(tl.where(inside, x, 1.0), 1, times)[:, None]


@triton.jit
def row_any(x, inside):
    return tl.max(tl.where(inside, x, 0.0), axis=1)[:, None]


@triton.jit
def row_all(x, inside):
    return tl.min(tl.where(inside, x, 1.0), axis=1)[:, None]


@triton.jit
def tile_of(R: tl.constexpr, C: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    # The rows and columns of a program; programs that run together share strips of both operands.
    tiles_m = tl.cdiv(R, ROWS)
    tiles_n = tl.cdiv(C, BLOCK)
    if R >= 8 * ROWS and C >= 8 * BLOCK:
        group = tl.program_id(0) // (8 * tiles_n)
        height = tl.minimum(tiles_m - group * 8, 8)
        place = tl.program_id(0) % (8 * tiles_n)
        tile_m = group * 8 + place % height
        tile_n = place // height
    else:
        tile_m = tl.program_id(0) // tiles_n
        tile_n = tl.program_id(0) % tiles_n
    return (tile_m * ROWS + tl.arange(0, ROWS))[:, None], (tile_n * BLOCK + tl.arange(0, BLOCK))[None, :]


@triton.jit
def dot_step(a, b, total):
    # In fp32 three products of TF32 numbers; tensor cores would keep 11 bits of each.
    if a.dtype == tl.float32:
        return tl.dot(a, b, total, input_precision="tf32x3")
    else:
        return tl.dot(a, b, total)


@triton.jit
def dot_nt(x, y, R: tl.constexpr, C: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    # A tile of x (R, K) times the transpose of y (C, K): its rows, columns and values.
    row, col = tile_of(R, C, ROWS, BLOCK)
    k = tl.arange(0, DEPTH)
    left = row * K + k[None, :]
    right = col * K + k[:, None]
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, K, DEPTH):
        in_k = start + k < K
        a = tl.load(x + left + start, mask=(row < R) & in_k[None, :], other=0.0)
        b = tl.load(y + right + start, mask=in_k[:, None] & (col < C), other=0.0)
        total = dot_step(a, b, total)
    return row, col, total


@triton.jit
def dot_nn(x, y, R: tl.constexpr, C: tl.constexpr, K: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    # A tile of x (R, K) times y (K, C): its rows, columns and values.
    row, col = tile_of(R, C, ROWS, BLOCK)
    k = tl.arange(0, DEPTH)
    left = row * K + k[None, :]
    right = k[:, None] * C + col
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, K, DEPTH):
        in_k = start + k < K
        a = tl.load(x + left + start, mask=(row < R) & in_k[None, :], other=0.0)
        b = tl.load(y + right + start * C, mask=in_k[:, None] & (col < C), other=0.0)
        total = dot_step(a, b, total)
    return row, col, total


@triton.jit
def lanes(ROWS: tl.constexpr, BLOCK: tl.constexpr):
    # Each lane has its first element, and number, sum and sum of squares of the distances from it.
    zero = tl.zeros((ROWS, BLOCK), tl.float32)
    return zero, zero, zero, zero


@triton.jit
def spread(x, inside, first, count, away, square):
    first = tl.where((count == 0.0) & inside, x, first)
    d = tl.where(inside, x - first, 0.0)
    return first, count + tl.where(inside, 1.0, 0.0), away + d, square + d * d


@triton.jit
def squares_of(total, first, count, away, square):
    # About the mean of all lanes, whose elements have the sum `total`; and the number of elements.
    n = tl.sum(count, axis=1)[:, None]
    away = away / tl.maximum(count, 1.0)
    d = first + away - total / tl.maximum(n, 1.0)
    return tl.sum(square + count * (d * d - away * away), axis=1)[:, None], n


@triton.jit
def tanh(x):
    # Away from 0 by an exponential that cannot overflow, near 0 by a series.
    a = tl.abs(x)
    e = tl.exp(-2.0 * a)
    large = (1.0 - e) / (1.0 + e)
    s = a * a
    small = a * (1.0 + s * (-0.33333334 + s * (0.13333334 + s * (-0.053968254 + s * 0.021869488))))
    y = tl.where(a < 0.25, small, large)
    return tl.where(x < 0.0, -y, y)


@triton.jit
def log1p(x):
    # The rounding of 1 + x, corrected to first order.
    u = 1.0 + x
    return tl.where((u == 1.0) | (u == float("inf")), x, tl.log(u) * (x / (u - 1.0)))


@triton.jit
def expm1(x):
    small = x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666668 + x * (0.008333334 + x * (0.0013888889 + x * 0.0001984127))))))
    return tl.where(tl.abs(x) < 0.5, small, tl.exp(x) - 1.0)


@triton.jit
def round_even(x):
    f = tl.floor(x)
    d = x - f
    odd = f - 2.0 * tl.floor(f * 0.5)
    up = (d > 0.5) | ((d == 0.5) & (odd == 1.0))
    return tl.where(up, f + 1.0, f)


@triton.jit
def atan(x):
    # By tan(pi / 8): a series there, the rest by the sum of two angles.
    a = tl.abs(x)
    far = a > 2.4142135
    middle = a > 0.41421357
    t = tl.where(far, -1.0 / a, tl.where(middle, (a - 1.0) / (a + 1.0), a))
    s = t * t
    p = -0.13879850506782532 + s * 0.08060308545827866
    p = t + t * s * (-0.33332955837249756 + s * (0.19977925717830658 + s * p))
    y = p + tl.where(far, 1.5707963267948966, tl.where(middle, 0.7853981633974483, 0.0))
    return tl.where(x < 0.0, -y, tl.where(x == 0.0, x, y))


@triton.jit
def atan2(y, x):
    a = tl.abs(x)
    b = tl.abs(y)
    most = tl.where(a > b, a, b)
    t = tl.where(a == b, 1.0, tl.where(a > b, b, a) / most)
    t = atan(tl.where(most == 0.0, 0.0, t))
    t = tl.where(b > a, 1.5707963267948966 - t, t)
    t = tl.where(x < 0.0, 3.141592653589793 - t, t)
    return tl.where((x != x) | (y != y), x + y, tl.where(y < 0.0, -t, t))


@triton.jit
def log_add(a, b):
    high = tl.maximum(a, b, tl.PropagateNan.ALL)
    low = tl.minimum(a, b, tl.PropagateNan.ALL)
    e = tl.exp(low - high)
    # Below 2^-12 the logarithm of 1 + e is e - e e / 2 up to rounding.
    more = tl.where(e < 0.000244140625, e - 0.5 * e * e, tl.log(1.0 + e))
    return high + tl.where(high == low, 0.6931471805599453, more)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b, tl.PropagateNan.ALL)


@triton.jit
def smaller(a, b):
    return tl.minimum(a, b, tl.PropagateNan.ALL)


@triton.jit
def times(a, b):
    return a * b
