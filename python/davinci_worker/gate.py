"""The gate of a timed call: words in a page of memory that the supervisor, the oracle, one runner and the device share
(judge/gate_page.h). The oracle's stream opens it, the runner's stream says when its work is done, and the oracle's stream
looks at the device then.
"""

import ctypes
import mmap
import statistics
import time

import torch

from davinci_worker import device, packing
from davinci_worker.compare import bits_of

# gate_page.h
READY, OPEN, RESIDENT, DONE = 0, 16, 32, 48
_HELD = 64  # on the oracle's own page
_PAGE_BYTES = 4096
_LINGER_NS = 100_000  # between letting go of the device and the first look at outputs
_LONGEST_HOLD_NS = 1_500_000
_WITHHELD = 1024  # elements of every input
_u32, _u64 = ctypes.c_uint32, ctypes.c_uint64


class Page:
    def __init__(self, fd):
        self._map = mmap.mmap(fd, _PAGE_BYTES)
        self.words = memoryview(self._map).cast("I")
        self._anchor = ctypes.c_char.from_buffer(self._map)
        self._address = ctypes.c_void_p(ctypes.addressof(self._anchor))
        self._device = _u64()
        device.check(device.library().dv_cuda_map_words(self._address, _u64(_PAGE_BYTES), ctypes.byref(self._device)))

    def close(self):
        device.library().dv_cuda_unmap_words(self._address)

    def at(self, word):
        return _u64(self._device.value + 4 * word)

    def wait(self, word, value):
        """On the current stream."""
        device.check(device.library().dv_cuda_wait_word(self.at(word), _u32(value), device.stream()))

    def write(self, word, value):
        device.check(device.library().dv_cuda_write_word(self.at(word), _u32(value), device.stream()))

    def spin(self, word, value, seconds):
        """Whether the word came to be ``value`` in time."""
        words, clock = self.words, time.monotonic
        if words[word] == value:
            return True
        until = clock() + seconds
        while words[word] != value:
            if clock() > until:
                return False
        return True


class Runner:
    """A runner's side of it."""

    def __init__(self, fd):
        self.page = Page(fd)
        self._scratch = torch.zeros(1, device="cuda")

    def heat(self, model, arguments, times):
        """Host code that has just run takes a third of the time. On whatever the last inputs left behind."""
        for _ in range(times):
            try:
                model(*arguments)
            except Exception:  # noqa: BLE001  it may not be inputs
                break
        torch.cuda.synchronize()

    def enter(self, gated):
        """Waits for the gate. When it opens the device turns to this process at once; the host goes on then, or, from an idle queue,
        when that has happened."""
        number, words = gated["number"], self.page.words
        self.page.wait(OPEN, number)
        self._scratch.fill_(1)
        if gated["from_idle"]:
            self.page.write(RESIDENT, number)
        words[READY] = number
        word = RESIDENT if gated["from_idle"] else OPEN
        while words[word] != number:
            pass

    def constant(self, what):
        """What stands for a forward when the constant of the protocol is measured."""
        if what == "one":
            self._scratch.fill_(2)

    def leave(self, gated):
        self.page.write(DONE, gated["number"])


def _is_plain(tensor):
    return tensor.element_size() <= 8 and packing.span_elements(tensor.shape, tensor.stride()) >= tensor.numel()


class Withheld:
    """Elements of the inputs, at secret places, that are written when everything else has been: whoever starts on inputs
    before the gate opens starts on others."""

    def __init__(self, tensors, seed):
        self._places = []
        generator = torch.Generator(device="cuda").manual_seed(seed)
        for i, tensor in enumerate(tensors):
            if tensor.device.type == "cuda" and tensor.numel() > 1 and _is_plain(tensor):
                at = torch.randint(tensor.numel(), (min(_WITHHELD, tensor.numel()),), generator=generator, device="cuda")
                where = packing.coordinates(at, tensor.shape)
                true = bits_of(tensor)[where]
                self._places.append((i, where, true, true.roll(1)))

    def hide(self, views):
        for i, where, _, other in self._places:
            bits_of(views[i])[where] = other

    def reveal(self, views):
        for i, where, true, _ in self._places:
            bits_of(views[i])[where] = true


class Oracle:
    """The oracle's side. Its stamps are the device's own, taken in its own stream."""

    def __init__(self, fd):
        self._pages = {}
        self._own = Page(fd)  # no runner has it
        self._stamps = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self._number = 0

    def add(self, name, fd):
        self.remove(name)
        self._pages[name] = Page(fd)

    def remove(self, name):
        self.let_go()
        page = self._pages.pop(name, None)
        if page is not None:
            torch.cuda.synchronize()
            page.close()

    def open(self, name, number, reveal):
        """Queues: what was withheld, the gate, and once the runner's stream is done the first look at the device, which nobody
        else gets from there until ``let_go``."""
        page, stream, lib = self._pages[name], device.stream(), device.library()
        self._number = number
        reveal()
        self._stamps[0].record()
        self._own.write(OPEN, number)
        page.write(OPEN, number)
        page.wait(DONE, number)
        device.check(lib.dv_cuda_knock(stream))
        self._stamps[1].record()
        device.check(lib.dv_cuda_hold(self._own.at(_HELD), _u32(number), _u64(_LINGER_NS), _u64(_LONGEST_HOLD_NS), stream))

    def give_up(self, name, number):
        """Lets a runner in whose inputs are not there."""
        for page in (self._own, self._pages[name]):
            page.words[OPEN] = number

    def ready(self, name, number, seconds):
        return self._pages[name].spin(READY, number, seconds)

    def let_go(self):
        """Lets the device go, in a moment. Work of a runner that was not done by the time its stream said so has not been done
        since, and what is queued here first comes first."""
        self._own.words[_HELD] = self._number

    def knocked_ns(self):
        """From the gate to the first look."""
        self._stamps[1].synchronize()
        return int(1e6 * self._stamps[0].elapsed_time(self._stamps[1]))


def calibrate():
    """What two events say of a kernel that does nothing, in a queue that is never empty; and by how much a host that flushes the
    L2 before each call runs ahead of the device: in seconds."""
    lib, start, end = device.library(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    scratch = torch.zeros(1, device="cuda")
    free, _ = torch.cuda.mem_get_info()
    flushed = torch.empty(min(256 << 20, free // 4), dtype=torch.uint8, device="cuda")

    def between(function, before=lambda: None):
        seconds = []
        for _ in range(30):
            before()
            start.record()
            function()
            end.record()
            torch.cuda.synchronize()
            seconds.append(1e-3 * start.elapsed_time(end))
        return statistics.median(seconds)

    empty, flush = between(lambda: scratch.fill_(1), flushed.zero_), between(flushed.zero_)
    hosts = []
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(4):
            flushed.zero_()
            start.record()
            end.record()
        hosts.append((time.perf_counter() - started) / 4)
        torch.cuda.synchronize()
    del flushed, lib
    torch.cuda.empty_cache()
    return {"empty_seconds": empty, "ahead_seconds": max(0.0, flush - min(hosts))}
