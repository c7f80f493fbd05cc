"""Which program of a launch touches which memory, seen by Triton's interpreter. Programs are interpreted one after another, on a device
they run at the same time: a program that reads or overwrites what another one writes has an answer that depends on their order.

| two programs, one address | |
|---|---|
| both read; both write the same value; both operate atomically | allowed |
| one changes the value, the other one reads it or writes another value | ``OrderMatters`` |
| the same, ordered by an atomic operation that releases and one at the same address that acquires | allowed |
| one waits in a loop for a value that only another program can write | ``OrderMatters`` |

A program is a row of segments; every atomic operation that releases ends one. ``_known`` is the set of segments, as bits, that are known to
be over. Addresses outside the tensors of the launch are not looked at.
"""

import bisect

import numpy as np

from davinci_worker.undecided import OrderMatters

_SEVERAL = -1
_MOST_SEGMENTS = 20000      # bits of a set; beyond it an atomic operation orders nothing
_MOST_REPETITIONS = 2000    # of one access that changes nothing
_SMALL_ACCESS = 32          # elements; what waits looks at few


class Launch:
    """Memory of one launch on ``tensors``; ``shape`` is its grid."""

    def __init__(self, kernel, tensors, shape):
        self._kernel, self._shape = kernel, shape
        regions = {}
        for tensor in tensors:
            storage = tensor.untyped_storage()
            begin, size = storage.data_ptr(), storage.nbytes()
            if size:
                regions[begin] = (max(size, regions.get(begin, (0, 1))[0]), min(tensor.element_size(), regions.get(begin, (0, 16))[1]))
        self._begins, self._ends, self._shifts, self._offsets = sorted(regions), [], [], []
        total = 0
        for begin in self._begins:
            size, width = regions[begin]
            shift = width.bit_length() - 1
            self._ends.append(begin + size)
            self._shifts.append(shift)
            self._offsets.append(total)
            total += (size >> shift) + 1
        self._table = [np.array(x, dtype=np.uint64) for x in (self._begins, self._ends, self._shifts, self._offsets)]
        # Of each element: the segment that wrote it last, whether its value has changed, and the segment that read it.
        self._writer, self._reader = np.zeros(total, np.int32), np.zeros(total, np.int32)
        self._changed, self._atomic = np.zeros(total, np.bool_), np.zeros(total, np.bool_)  # the last write was an atomic operation
        self._clock, self._clocks = np.zeros(total, np.int32), [0]
        self._program_of, self._segments = np.full(1024, -1, np.int32), 0
        self._program, self._known, self._segment = -1, 0, 0
        self._last, self._repetitions = None, 0

    def begin(self, program):
        self._program, self._known = program, 0
        self._last, self._repetitions = None, 0
        self._next_segment()

    def _next_segment(self):
        self._segments += 1
        if self._segments >= self._program_of.size:
            self._program_of = np.concatenate([self._program_of, np.full_like(self._program_of, -1)])
        self._segment = self._segments
        self._program_of[self._segment] = self._program

    def _name(self, program):
        x, rest = divmod(int(program), self._shape[1] * self._shape[2])
        return f"program ({x}, {rest // self._shape[2]}, {rest % self._shape[2]})"

    def _elements(self, addresses, width):
        """Positions of the elements at ``addresses``, in our arrays, and the index of the address of each; None where all is outside."""
        if not addresses.size or not self._begins:
            return None, None
        low, high = int(addresses.min()), int(addresses.max())
        region = bisect.bisect_right(self._begins, low) - 1
        if region >= 0 and high < self._ends[region]:
            shift = self._shifts[region]
            found = ((addresses - np.uint64(self._begins[region])) >> np.uint64(shift)).astype(np.int64) + self._offsets[region]
            index = None
        else:
            begins, ends, shifts, offsets = self._table
            which = np.searchsorted(begins, addresses, side="right") - 1
            inside = (which >= 0) & (addresses < ends[which])
            index = np.flatnonzero(inside)
            if not index.size:
                return None, None
            which, addresses = which[index], addresses[index]
            found = (((addresses - begins[which]) >> shifts[which]) + offsets[which]).astype(np.int64)
            shift = int(shifts[which].min())
        covered = width >> shift
        if covered > 1:
            index = np.repeat(np.arange(found.size) if index is None else index, covered)
            found = np.minimum((found[:, None] + np.arange(covered)).reshape(-1), self._writer.size - 1)
        return found, index

    def _unordered(self, segments):
        """The distinct segments of other programs among ``segments`` that are not known to be over."""
        if not segments.any():
            return []
        others = segments[(segments != 0) & (self._program_of[segments] != self._program)]
        return [int(s) for s in np.unique(others) if s == _SEVERAL or not (self._known >> int(s)) & 1] if others.size else []

    def _foreign(self, segments):
        """The first of those; 0 for none."""
        unordered = self._unordered(segments)
        return unordered[0] if unordered else 0

    def _object(self, does, segment, did):
        other = "other programs" if segment == _SEVERAL else self._name(self._program_of[segment])
        raise OrderMatters(f"{self._kernel}: {self._name(self._program)} {does} what {other} {did}, and nothing orders them; "
                           "a device runs them at the same time")

    def _repeats(self, kind, addresses, values):
        """Objects to an access that is repeated without an end in sight."""
        same = (kind, addresses.tobytes(), values.tobytes()) if addresses.size <= _SMALL_ACCESS else None
        self._repetitions = self._repetitions + 1 if same is not None and same == self._last else 0
        self._last = same
        if self._repetitions > _MOST_REPETITIONS:
            raise OrderMatters(f"{self._kernel}: {self._name(self._program)} waits for what another program writes; whether that one runs at "
                               "the same time is up to the device")

    def _note_read(self, elements):
        before = self._reader[elements]
        if (before == _SEVERAL).all():
            return
        unordered = self._unordered(before)
        several = np.isin(before, unordered) if unordered else False
        self._reader[elements] = np.where(several, np.int32(_SEVERAL), np.int32(self._segment))

    def loaded(self, addresses, values):
        """``addresses`` (flat, not masked) were read."""
        self._repeats("load", addresses, values)
        elements, _ = self._elements(addresses, values.itemsize)
        if elements is None:
            return
        changed = self._changed[elements]
        if changed.any():
            writer = self._foreign(self._writer[elements[changed]])
            if writer:
                self._object("reads", writer, "writes")
        self._note_read(elements)

    def stored(self, addresses, before, after):
        """``after`` takes the place of ``before``; both flat, of one type."""
        self._last = None
        elements, index = self._elements(addresses, after.itemsize)
        if elements is None:
            return
        bits = np.dtype(f"u{after.itemsize}")
        differs = before.view(bits) != after.view(bits)
        if index is not None:
            differs = differs[index]
        writers = self._writer[elements]
        if differs.any():
            if writer := self._foreign(writers[differs]):
                self._object("overwrites", writer, "writes")
            if reader := self._foreign(self._reader[elements[differs]]):
                self._object("changes", reader, "reads" if reader != _SEVERAL else "read")
        mine = elements if not self._foreign(writers) else elements[differs]
        self._writer[mine] = self._segment
        self._atomic[mine] = False
        self._changed[elements[differs]] = True

    def operated(self, kind, addresses, before, after, operand, acquires, releases):
        """An atomic operation on ``addresses`` made ``after`` of ``before``."""
        bits = np.dtype(f"u{after.itemsize}")
        differs = before.view(bits) != after.view(bits)
        if differs.any():
            self._last = None
        else:
            self._repeats(kind, addresses, operand)
        elements, index = self._elements(addresses, after.itemsize)
        if elements is None:
            return
        if acquires:
            for clock in np.unique(self._clock[elements]):
                self._known |= self._clocks[clock]
        changed = differs if index is None else differs[index]
        # Plain accesses of other programs do not go together with an atomic one, atomic ones do.
        plain = ~self._atomic[elements]
        if plain.any() and (writer := self._foreign(self._writer[elements[plain]])):
            self._object("operates on", writer, "writes")
        changed = differs if index is None else differs[index]
        if changed.any() and (reader := self._foreign(self._reader[elements[changed]])):
            self._object("changes", reader, "reads")
        self._writer[elements] = self._segment
        self._atomic[elements] = True
        self._changed[elements[changed]] = True
        if self._segments >= _MOST_SEGMENTS:
            return
        clock = self._known | (1 << self._segment) if releases else 0
        for one in np.unique(self._clock[elements]):
            clock |= self._clocks[one]
        self._clocks.append(clock)
        self._clock[elements] = len(self._clocks) - 1
        if releases:
            self._known |= 1 << self._segment
            self._next_segment()


def install(interpreter, watched, check):
    """Patches the module ``triton.runtime.interpreter``: every access goes to ``watched()``, a Launch or None, after ``check()``."""
    Handle, builder, native = interpreter.TensorHandle, interpreter.InterpreterBuilder, interpreter._interpreter
    order = interpreter._ir.MEM_SEMANTIC
    acquiring, releasing = (order.ACQUIRE, order.ACQUIRE_RELEASE), (order.RELEASE, order.ACQUIRE_RELEASE)
    load, store = builder.create_masked_load, builder.create_masked_store
    swap, compare = builder.create_atomic_rmw, builder.create_atomic_cas

    def chosen(mask, pointers, *values):
        """The lanes that ``mask`` (None for all) lets through, flat."""
        every = (pointers.data, *values)
        if mask is None or mask.data.all():
            return [np.ascontiguousarray(v).reshape(-1) for v in every]
        lanes = np.broadcast_to(mask.data, pointers.data.shape)
        return [np.broadcast_to(v, pointers.data.shape)[lanes] for v in every]

    def content(addresses, dtype):
        return native.load(addresses, np.ones(addresses.shape, bool), np.zeros(addresses.shape, dtype), dtype)

    def masked_load(self, pointers, mask, other, *rest, **named):
        check()
        result = load(self, pointers, mask, other, *rest, **named)
        if (launch := watched()) is not None:
            launch.loaded(*chosen(mask, pointers, result.data))
        return result

    def masked_store(self, pointers, value, mask, *rest, **named):
        check()
        if (launch := watched()) is not None:
            addresses, after = chosen(mask, pointers, value.data)
            launch.stored(addresses, content(addresses, after.dtype), after)
        return store(self, pointers, value, mask, *rest, **named)

    def atomic(kind, pointers, mask, value, sem, operate):
        check()
        launch = watched()
        if launch is None:
            return operate()
        addresses, operand = chosen(mask, pointers, value)
        before = content(addresses, operand.dtype)
        result = operate()
        launch.operated(kind, addresses, before, content(addresses, operand.dtype), operand, sem in acquiring, sem in releasing)
        return result

    def atomic_rmw(self, operation, pointers, value, mask, sem, scope):
        return atomic(operation, pointers, mask, value.data, sem, lambda: swap(self, operation, pointers, value, mask, sem, scope))

    def atomic_cas(self, pointers, expected, value, sem, scope):
        return atomic("cas", pointers, None, value.data, sem, lambda: compare(self, pointers, expected, value, sem, scope))

    def atomic_load(self, pointers, mask, sem, scope):
        zeros = np.zeros(pointers.data.shape, interpreter._get_np_dtype(pointers.get_element_ty()))
        return atomic("load", pointers, mask, zeros, sem, lambda: load(self, pointers, mask, Handle(zeros, pointers.get_element_ty()), None, True))

    def atomic_store(self, pointers, value, mask, sem, scope):
        return atomic("store", pointers, mask, value.data, sem, lambda: store(self, pointers, value, mask, None))

    def atomic_poll(self, pointers, expected, timeout_ns, sem, scope):
        found = atomic("poll", pointers, None, np.broadcast_to(expected.data, pointers.data.shape), sem,
                       lambda: content(pointers.data, expected.data.dtype))
        if timeout_ns is None and not (found == expected.data).all():
            raise OrderMatters("a program waits for what another program writes; whether that one runs at the same time is up to the device")
        return Handle(found == expected.data, interpreter.tl.int1)

    builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
    builder.create_atomic_rmw, builder.create_atomic_cas = atomic_rmw, atomic_cas
    for name, method in (("load", atomic_load), ("store", atomic_store), ("poll", atomic_poll)):
        if hasattr(builder, f"create_atomic_{name}"):
            setattr(builder, f"create_atomic_{name}", method)
