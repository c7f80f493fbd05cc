"""Triton kernels for interpreter_test.py: small ones, each about one thing."""
import triton
import triton.language as tl


@triton.jit
def binary(a_ptr, b_ptr, o_ptr, n, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(a_ptr + i, i < n), tl.load(b_ptr + i, i < n)
    if WHAT == "add":
        o = a + b
    elif WHAT == "sub":
        o = a - b
    elif WHAT == "mul":
        o = a * b
    elif WHAT == "maximum":
        o = tl.maximum(a, b)
    elif WHAT == "where_less":
        o = tl.where(a < b, a, b)
    elif WHAT == "less":
        o = (a < b).to(o_ptr.dtype.element_ty)
    elif WHAT == "neg_abs":
        o = -tl.abs(a)
    else:
        o = a * 0.1 + b
    tl.store(o_ptr + i, o, i < n)


@triton.jit
def convert(a_ptr, o_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(a_ptr + i).to(o_ptr.dtype.element_ty))


@triton.jit
def matmul(a_ptr, b_ptr, o_ptr, SIZE: tl.constexpr, PRECISION: tl.constexpr):
    r = tl.arange(0, SIZE)
    where = r[:, None] * SIZE + r[None, :]
    a, b = tl.load(a_ptr + where), tl.load(b_ptr + where)
    o = tl.dot(a, b) if PRECISION == "" else tl.dot(a, b, input_precision=PRECISION)
    tl.store(o_ptr + where, o.to(o_ptr.dtype.element_ty))


@triton.jit
def rows(x_ptr, o_ptr, n, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * n + c, c < n, other=float("-inf") if WHAT == "softmax" or WHAT == "max" else 0.0)
    if WHAT == "softmax":
        e = tl.exp((x - tl.max(x, 0)).to(tl.float32))
        tl.store(o_ptr + r * n + c, (e / tl.sum(e, 0)).to(x.dtype), c < n)
    elif WHAT == "cumsum":
        tl.store(o_ptr + r * n + c, tl.cumsum(x, 0), c < n)
    elif WHAT == "max":
        tl.store(o_ptr + r, tl.max(x, 0))
    elif WHAT == "argmax":
        tl.store(o_ptr + r, tl.argmax(x, 0))
    else:
        tl.store(o_ptr + r, tl.sum(x, 0))


@triton.jit
def merge(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    delta = mean_b - mean_a
    share = count_b / count
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def variance(x_ptr, o_ptr, BLOCK: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * BLOCK + c)
    mean, m2, count = tl.reduce((x, tl.zeros_like(x), tl.full((BLOCK,), 1.0, tl.float32)), 0, merge)
    tl.store(o_ptr + r, m2 / count)


@triton.jit
def affine(a_l, b_l, a_r, b_r):
    return a_l * a_r, b_l * a_r + b_r


@triton.jit
def recurrence(a_ptr, b_ptr, o_ptr, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, BLOCK)
    _, h = tl.associative_scan((tl.load(a_ptr + i), tl.load(b_ptr + i)), 0, affine, reverse=REVERSE)
    tl.store(o_ptr + i, h)


@triton.jit
def next_row(x_ptr, o_ptr, count, n, BLOCK: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (r + 1) * n + c, (c < n) & (r + 1 < count), other=0.0)
    tl.store(o_ptr + r * n + c, x, (r >= 0) & (c < n))


@triton.jit
def next_row_in_words(x_ptr, o_ptr, count, n, BLOCK: tl.constexpr):
    r, c = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (r + 1) * n + c, c < n and r + 1 < count, other=0.0)
    x += tl.load(x_ptr + r * n + c, not (c >= n or r + 1 < count), other=0.0)
    tl.store(o_ptr + r * n + c, x, r >= 0 and c < n)


@triton.jit
def doubled_tiles(x, o, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK
    o.store([p, 0], x.load([p, 0]) * 2)


# ---- programs and their order


@triton.jit
def after_the_left_one(x_ptr, o_ptr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = p * BLOCK + tl.arange(0, BLOCK)
    before = tl.load(o_ptr + p * BLOCK - 1, p > 0, other=0.0)
    tl.store(o_ptr + i, tl.cumsum(tl.load(x_ptr + i), 0) + before)


@triton.jit
def blur_in_place(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, i < n) + tl.load(x_ptr + i + 1, i + 1 < n, other=0.0), i < n)


@triton.jit
def first_one_clears(x_ptr, o_ptr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    if p == 0:
        tl.store(o_ptr, 0.0)
    tl.atomic_add(o_ptr, tl.sum(tl.load(x_ptr + p * BLOCK + tl.arange(0, BLOCK)), 0))


@triton.jit
def waits_for_its_turn(x_ptr, o_ptr, turn_ptr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    while tl.atomic_cas(turn_ptr, p, p) != p:
        pass
    total = tl.load(o_ptr) + tl.sum(tl.load(x_ptr + p * BLOCK + tl.arange(0, BLOCK)), 0)
    tl.store(o_ptr, total)
    tl.debug_barrier()
    tl.atomic_add(turn_ptr, 1)


@triton.jit
def meets_all_others(x_ptr, o_ptr, sum_ptr, count_ptr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = p * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.atomic_add(sum_ptr, tl.sum(x, 0))
    tl.atomic_add(count_ptr, 1)
    while tl.atomic_add(count_ptr, 0) < tl.num_programs(0):
        pass
    tl.store(o_ptr + i, x / tl.load(sum_ptr))


@triton.jit
def last_writes_win(o_ptr, BLOCK: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, BLOCK), tl.program_id(0).to(tl.float32))


@triton.jit
def split_k(a_ptr, b_ptr, o_ptr, K, SIZE: tl.constexpr, BK: tl.constexpr):
    r, k = tl.arange(0, SIZE), tl.program_id(0) * BK + tl.arange(0, BK)
    a = tl.load(a_ptr + r[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * SIZE + r[None, :])
    tl.atomic_add(o_ptr + r[:, None] * SIZE + r[None, :], tl.dot(a, b, input_precision="ieee"))


@triton.jit
def under_a_lock(x_ptr, o_ptr, lock_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(o_ptr + i, tl.load(o_ptr + i) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def first_under_a_lock_sets(x_ptr, o_ptr, lock_ptr, any_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if tl.load(any_ptr) == 0:
        tl.atomic_xchg(any_ptr, 1)
    else:
        x += tl.load(o_ptr + i)
    tl.store(o_ptr + i, x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def last_one_adds_up(x_ptr, part_ptr, count_ptr, o_ptr, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    tl.store(part_ptr + p, tl.sum(tl.load(x_ptr + p * BLOCK + tl.arange(0, BLOCK)), 0))
    tl.debug_barrier()
    if tl.atomic_add(count_ptr, 1) == PARTS - 1:
        tl.store(o_ptr, tl.sum(tl.load(part_ptr + tl.arange(0, PARTS)), 0))


@triton.jit
def all_write_the_same(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % n
    tl.store(o_ptr + i, tl.load(x_ptr + i) * 2)


@triton.jit
def add_rows(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(o_ptr + i % n, tl.load(x_ptr + tl.program_id(0) * BLOCK + i))


@triton.jit
def mark(o_ptr):
    tl.store(o_ptr + tl.program_id(0) + tl.program_id(1) + tl.program_id(2), 1.0)


def _sums(x_ptr, o_ptr, n, BLOCK):
    c = tl.arange(0, BLOCK)
    tl.store(o_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + tl.program_id(0) * n + c, c < n, other=0.0), 0))


# Constants of a kernel that its text does not declare, as the prelude of short replies does.
_sums.__annotations__["BLOCK"] = tl.constexpr
row_sums = triton.jit(_sums)
