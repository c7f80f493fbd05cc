import triton
import triton.language as tl

# davinci: out = torch.empty_like(x)
# davinci: scaled[(x.shape[0],)](x, self.weight, out, x.shape[1], self.alpha, BLOCK=64)


@triton.jit
def scaled(x, w, out, cols, alpha, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * cols
    inside = at < cols
    v = tl.load(x + row + at, inside) * tl.load(w + at, inside)
    tl.store(out + row + at, tl.maximum(v, 0.0) * alpha, inside)
