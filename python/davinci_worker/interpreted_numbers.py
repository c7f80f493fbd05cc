"""Arithmetic of Triton's interpreter as a device does it. The interpreter keeps a bf16 number as its 16 bits and adds, compares
and multiplies those bits; its conversions to bf16 and fp8 do not round to nearest even; a product of fp32 blocks is exact.

| here | what a device does |
|---|---|
| an operation on bf16 | fp32, then rounded to nearest even |
| a conversion to bf16 or fp8 | rounded to nearest even; fp8 saturates |
| a sum or a scan in bf16 or fp16 | pairwise, every partial result rounded |
| ``tl.dot`` of fp32 as TF32 | the low 13 bits of the operands are cut off, as tensor cores do |
"""

import dataclasses

import numpy as np
import torch

_LOW_BITS_OF_TF32 = np.uint32(0xFFFFE000)
# Operations of InterpreterBuilder on floating-point handles. Selections, shapes and bits need no arithmetic.
_ARITHMETIC = ("fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "precise_divf", "approx_divf", "minimumf", "minnumf", "maximumf", "maxnumf",
               "clampf", "fma", "cos", "sin", "exp", "exp2", "log", "log2", "sqrt", "precise_sqrt", "rsqrt", "floor", "ceil", "erf")
_COMPARISONS = tuple(f"icmp{name}" for name in ("SLE", "SLT", "SGE", "SGT", "ULE", "ULT", "UGE", "UGT", "EQ", "NE")) + tuple(
    f"fcmp{order}{name}" for order in "OU" for name in ("LT", "GT", "LE", "GE", "EQ", "NE"))
_FP8 = {"fp8e4nv": (torch.float8_e4m3fn, 448.0), "fp8e5": (torch.float8_e5m2, 57344.0)}
# Of a product: how many parts an operand is split into, and how a part is cut off.
_SPLIT = {"TF32": (1, "tf32"), "TF32x3": (2, "tf32"), "BF16x3": (2, "bf16"), "BF16x6": (3, "bf16")}


def widened(bits):
    """bf16 bits as float32."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def rounded(values, toward_zero=False):
    """float32 as bf16 bits, rounded to nearest even."""
    values = np.ascontiguousarray(values, dtype=np.float32)
    bits = values.view(np.uint32)
    if toward_zero:
        result = bits >> np.uint32(16)
    else:
        result = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), np.uint16(0x7FFF), result.astype(np.uint16))


def as_tf32(values):
    """What a tensor core reads of a float32: NaN and infinity stay as they are."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    special = (bits & np.uint32(0x7F800000)) == np.uint32(0x7F800000)
    return np.where(special, bits, bits & _LOW_BITS_OF_TF32).view(np.float32)


def _from_fp8(bits, name):
    values = torch.arange(256, dtype=torch.uint8).view(_FP8[name][0]).float().numpy()
    return values[np.asarray(bits).view(np.uint8)]


def _to_fp8(values, name):
    kind, largest = _FP8[name]
    values = np.ascontiguousarray(values, dtype=np.float32)
    held = np.where(np.isnan(values), values, np.clip(values, -largest, largest)).astype(np.float32)
    return torch.from_numpy(held.reshape(-1)).to(kind).view(torch.uint8).numpy().reshape(held.shape)


def _parts(values, count, kind):
    """``values`` as a sum of ``count`` numbers of a narrower type, the largest first."""
    parts, rest = [], np.asarray(values, dtype=np.float32)
    for _ in range(count):
        parts.append(as_tf32(rest) if kind == "tf32" else widened(rounded(rest)))
        rest = rest - parts[-1]
    return parts


def product(a, b, precision):
    """The product of float32 blocks under Triton's ``input_precision``."""
    if precision not in _SPLIT:
        return np.matmul(a, b)
    count, kind = _SPLIT[precision]
    left, right = _parts(a, count, kind), _parts(b, count, kind)
    pairs = [(i, j) for i in range(count) for j in range(count) if i + j < count]
    # The smallest first, as the device adds them.
    return sum(np.matmul(left[i], right[j]) for i, j in sorted(pairs, key=sum, reverse=True))


def _reduced(data, axis, combine):
    """Neighbours are combined, then the results of neighbours: ``axis`` shrinks to one element."""
    data = [np.moveaxis(d, axis, -1) for d in data]
    while data[0].shape[-1] > 1:
        even = data[0].shape[-1] // 2 * 2
        last = [d[..., even:] for d in data]
        data = combine([d[..., :even:2] for d in data], [d[..., 1:even:2] for d in data])
        data = [np.concatenate([d, rest], axis=-1) for d, rest in zip(data, last)]
    return [np.moveaxis(d, -1, axis) for d in data]


def _scanned(data, axis, combine):
    """Inclusive: every element takes in what lies 1, 2, 4, … elements before it."""
    data = [np.moveaxis(d, axis, -1) for d in data]
    step, place = 1, np.arange(data[0].shape[-1])
    while step < place.size:
        # Blocks have a power of two of elements; what the first ones are combined with is not used.
        combined = combine([np.roll(d, step, axis=-1) for d in data], data)
        data = [np.where(place < step, d, c) for d, c in zip(data, combined)]
        step *= 2
    return [np.moveaxis(d, -1, axis) for d in data]


class _Blocks:
    """Blocks of the module ``triton.runtime.interpreter``, whose bf16 and fp8 numpy does not know."""

    def __init__(self, interpreter):
        import triton.language as tl

        self.interpreter, self.tl = interpreter, tl
        self.Handle, self.builder = interpreter.TensorHandle, interpreter.InterpreterBuilder

    def is_bf16(self, handle):
        return isinstance(handle, self.Handle) and handle.dtype.scalar == self.tl.bfloat16 and handle.data.dtype == np.uint16

    def numbers(self, handle):
        """The values of a handle in a type that numpy can calculate with."""
        if self.is_bf16(handle):
            return widened(handle.data)
        name = "" if isinstance(handle.dtype, self.tl.pointer_type) else handle.dtype.scalar.name
        return _from_fp8(handle.data, name) if name in _FP8 and handle.data.dtype == np.uint8 else handle.data

    def wide(self, handle):
        return self.Handle(widened(handle.data), self.tl.float32) if self.is_bf16(handle) else handle

    def narrow(self, handle):
        return self.Handle(rounded(handle.data), self.tl.bfloat16)


def install(interpreter, multiplied):
    """Patches the module ``triton.runtime.interpreter``. ``multiplied(precision)`` is called with the precision of every product of fp32."""
    instance = interpreter.interpreter_builder
    instance.options = dataclasses.replace(instance.options, allowed_dot_input_precisions=("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"))
    blocks = _Blocks(interpreter)
    _install_arithmetic(blocks)
    _install_casts(blocks)
    _install_products(blocks, multiplied)
    _install_descriptor_loads(blocks)
    _install_atomics(blocks)
    _install_reductions(blocks)


def _install_arithmetic(blocks):
    builder = blocks.builder

    def arithmetic(method):
        def operate(self, *given):
            result = method(self, *map(blocks.wide, given))
            return blocks.narrow(result) if any(map(blocks.is_bf16, given)) else result

        return operate

    def comparison(method):
        def compare(self, *given):
            result = method(self, *map(blocks.wide, given))
            return blocks.Handle(result.data.astype(np.bool_, copy=False), blocks.tl.int1)

        return compare

    def get_bf16(self, value):
        return blocks.narrow(self.get_fp32(value))

    for names, kind in ((_ARITHMETIC, arithmetic), (_COMPARISONS, comparison)):
        for name in names:
            if hasattr(builder, "create_" + name):
                setattr(builder, "create_" + name, kind(getattr(builder, "create_" + name)))
    builder.get_bf16 = get_bf16


def _install_casts(blocks):
    interpreter, tl, Handle, builder = blocks.interpreter, blocks.tl, blocks.Handle, blocks.builder
    native = interpreter._get_np_dtype

    def cast(self, src, dst_type, rounding_mode=None):
        target = dst_type.scalar
        toward_zero = rounding_mode is not None and rounding_mode == interpreter._ir.ROUNDING_MODE.RTZ
        if target == tl.bfloat16:
            return Handle(rounded(blocks.numbers(src), toward_zero), target)
        if target.name in _FP8:
            if toward_zero:
                raise NotImplementedError(f"rounding toward zero to {target.name}")
            return Handle(_to_fp8(blocks.numbers(src), target.name), target)
        if target.is_fp8():
            raise NotImplementedError(f"conversion to {target.name}")
        values = blocks.numbers(src)
        with np.errstate(invalid="ignore", over="ignore"):
            result = values.astype(native(dst_type))
        if toward_zero and target == tl.float16:
            with np.errstate(invalid="ignore"):
                beyond = np.abs(result.astype(np.float64)) > np.abs(values.astype(np.float64))
            result = np.where(beyond, np.nextafter(result, np.float16(0)), result).astype(np.float16)
        return Handle(result, target)

    builder.cast_impl = cast
    builder.create_fp_to_fp = cast


def _install_products(blocks, multiplied):
    tl, Handle = blocks.tl, blocks.Handle

    def dot(self, a, b, d, input_precision, max_num_imprecise_acc):
        left, right, added = blocks.numbers(a), blocks.numbers(b), blocks.numbers(d)
        if a.dtype.scalar.is_floating() and left.dtype != np.float64:
            precision = "IEEE"
            if a.dtype.scalar == tl.float32:
                precision = getattr(input_precision, "name", str(input_precision))
                multiplied(precision)
            result = product(left.astype(np.float32), right.astype(np.float32), precision) + added
        else:
            result = np.matmul(left, right, dtype=added.dtype) + added
        return Handle(result.astype(d.data.dtype), d.dtype.scalar)

    blocks.builder.create_dot = dot


def _install_descriptor_loads(blocks):
    interpreter, tl, Handle, builder = blocks.interpreter, blocks.tl, blocks.Handle, blocks.builder
    plain_load = getattr(builder, "create_descriptor_load", None)

    def descriptor_load(self, descriptor, indices, cache_policy):
        element = descriptor.base.dtype.element_ty
        if element != tl.bfloat16 or descriptor.padding != interpreter._ir.PADDING_OPTION.PAD_NAN:
            return plain_load(self, descriptor, indices, cache_policy)
        pointers, mask = descriptor.materialize_pointers(indices)
        padding = Handle(rounded(np.full(pointers.data.shape, np.nan)), element)
        return self.create_masked_load(pointers, mask, padding, cache_policy, False)

    if plain_load is not None:
        builder.create_descriptor_load = descriptor_load


def _install_atomics(blocks):
    interpreter, Handle, builder = blocks.interpreter, blocks.Handle, blocks.builder
    swap = builder.create_atomic_rmw

    def atomic_rmw(self, operation, pointers, value, mask, *rest):
        if not blocks.is_bf16(value) or operation != interpreter._ir.ATOMIC_OP.FADD:
            return swap(self, operation, pointers, value, mask, *rest)
        # Lanes with the same address take their turns.
        where, old = pointers.data.reshape(-1), np.zeros(pointers.data.size, dtype=np.uint16)
        added, waiting = np.broadcast_to(value.data, pointers.data.shape).reshape(-1), np.broadcast_to(mask.data, pointers.data.shape).reshape(-1)
        lanes = np.flatnonzero(waiting)
        while lanes.size:
            addresses, first = np.unique(where[lanes], return_index=True)
            now = lanes[first]
            every = np.ones(addresses.shape, dtype=bool)
            before = interpreter._interpreter.load(addresses, every, np.zeros(addresses.shape, np.uint16), np.dtype(np.uint16))
            old[now] = before
            interpreter._interpreter.store(addresses, rounded(widened(before) + widened(added[now])), every)
            lanes = np.delete(lanes, first)
        return Handle(old.reshape(pointers.data.shape), value.dtype.scalar)

    builder.create_atomic_rmw = atomic_rmw


def _install_reductions(blocks):
    interpreter, tl, Handle = blocks.interpreter, blocks.tl, blocks.Handle

    def tensor(data, dtype):
        shape = list(data.shape)
        return tl.core.tensor(Handle(np.ascontiguousarray(data), dtype.scalar), tl.block_type(dtype.scalar, shape) if shape else dtype.scalar)

    def combiner(function, types):
        def combine(left, right):
            got = function(*(tensor(d, t) for d, t in zip(left, types)), *(tensor(d, t) for d, t in zip(right, types)))
            got = got if isinstance(got, tuple) else (got,)
            return [np.broadcast_to(g.handle.data, d.shape).astype(d.dtype, copy=False) for g, d in zip(got, left)]

        return combine

    low = (tl.bfloat16, tl.float16)
    known = [getattr(tl.standard, name, None) for name in (
        "_argmin_combine_tie_break_left", "_argmin_combine_tie_break_fast", "_argmax_combine_tie_break_left",
        "_argmax_combine_tie_break_fast", "_elementwise_max", "_elementwise_min", "_sum_combine", "_prod_combine")]

    def is_known(function):
        return any(function is k for k in known if k is not None)

    reduce_impl, scan_impl = interpreter.ReduceOps.apply_impl, interpreter.ScanOps.apply_impl

    def reduce(self, given):
        types = [g.dtype for g in given]
        numeric = types[0] if types[0] in low else None
        if is_known(self.combine_fn) and numeric is None:
            return reduce_impl(self, given)
        data, axis = [g.handle.data for g in given], self.axis
        rank = data[0].ndim
        if axis is None:
            data, axis = [d.reshape(-1) for d in data], 0
        axis = axis % data[0].ndim
        done = _reduced(data, axis, combiner(self.combine_fn.fn, types))
        if self.keep_dims:
            done = [d.reshape((1,) * rank) if self.axis is None else d for d in done]
        else:
            done = [np.squeeze(d, axis=axis) for d in done]
        return [self.to_tensor(d if d.ndim else d[()], t) for d, t in zip(done, types)]

    def scan(self, given):
        types = [g.dtype for g in given]
        if is_known(self.combine_fn) and types[0] not in low:
            return scan_impl(self, given)
        axis = self.axis % given[0].handle.data.ndim
        data = [np.flip(g.handle.data, axis) if self.reverse else g.handle.data for g in given]
        done = _scanned(data, axis, combiner(self.combine_fn.fn, types))
        return [self.to_tensor(np.ascontiguousarray(np.flip(d, axis)) if self.reverse else d, t) for d, t in zip(done, types)]

    interpreter.ReduceOps.apply_impl, interpreter.ScanOps.apply_impl = reduce, scan
