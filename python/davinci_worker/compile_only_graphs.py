"""Streams, events and CUDA graphs where there is no device.

There is one stream, and whatever is asked of it has happened by then. A graph holds the operations of PyTorch and the launches of Triton
that were captured, with the tensors that they read and wrote, and a replay does them again. As on a device, capturing computes nothing:
memory that was there before is as it was, and floating-point memory of the graph is NaN until a replay writes it.
"""

import contextlib

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from davinci_worker.compile_only_state import is_on_host, state
from davinci_worker.undecided import NeedsDevice

# Operations that make the host wait for the device.
_WAITING = frozenset(("_local_scalar_dense", "nonzero", "masked_select", "equal", "unique_dim", "unique_consecutive", "_unique2"))
# Operations that change a batch norm's statistics, which their schemas do not say.
_CHANGING = frozenset(("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"))
_UNWRITTEN = frozenset(("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"))


def _tensors(value):
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _memory(tensor):
    return tensor.untyped_storage().data_ptr()


class _Capture(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.steps = []    # what a replay calls
        self._made = []    # tensors that the graph owns
        self._owned = set()
        self._before = {}  # memory -> (storage, its bytes before the capture)

    def _keep(self, tensors):
        for tensor in tensors:
            if (place := _memory(tensor)) not in self._owned and place not in self._before:
                storage = tensor.untyped_storage()
                self._before[place] = storage, storage.clone()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = _tensors((args, kwargs))
        name = func.overloadpacket.__name__
        if name in _WAITING and not all(map(is_on_host, given)):
            raise RuntimeError(f"CUDA error: operation not permitted when stream is capturing: {name} waits for the device")
        changes = func._schema.is_mutable or name in _CHANGING
        if changes:
            self._keep(given)
        places = set(map(_memory, given))
        # Shapes as they are now: a later operation may change them in place.
        again, named = pytree.tree_map_only(torch.Tensor, torch.ops.aten.alias, (args, kwargs))
        result = func(*args, **kwargs)
        if name in _UNWRITTEN:
            result.zero_()  # a launch, which does not run yet, writes it; operations that read indices there run
        made = [tensor for tensor in _tensors(result) if _memory(tensor) not in places]
        self._made += made
        self._owned.update(map(_memory, made))
        shaped = torch.Tag.inplace_view in func.tags
        if (made or changes) and not shaped and name not in _UNWRITTEN and not (given and all(map(is_on_host, given))):
            written = [torch.ops.aten.alias(t) if _memory(t) not in places else None for t in _tensors(result)]
            self.steps.append(lambda: self._again(func, again, named, written))
        return result

    @staticmethod
    def _again(func, args, kwargs, written):
        for old, new in zip(written, _tensors(func(*args, **kwargs))):
            if old is not None:
                old.copy_(new)

    def forget_values(self):
        for storage, before in self._before.values():
            storage.copy_(before)
        for tensor in self._made:
            if tensor.is_floating_point() or tensor.is_complex():
                tensor.fill_(float("nan"))
        self._before, self._made, self._owned = {}, [], set()


def _end_capture():
    capture, state.capture = state.capture, None
    capture.__exit__(None, None, None)
    return capture


def forget():
    """Ends a capture that a call of the candidate has left open."""
    if state.capture is not None:
        _end_capture()


class Stream:
    cuda_stream = 0
    device_index = 0
    device_type = 1

    def __init__(self, device=None, priority=0, **_):
        self.priority = priority

    @property
    def device(self):
        return torch.device("cuda", 0)

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        return event or Event()

    def synchronize(self):
        pass

    def query(self):
        return True


class Event:
    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        pass

    def record(self, stream=None):
        pass

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass

    def query(self):
        return True

    def elapsed_time(self, end):
        raise NeedsDevice("the candidate takes times of its own")


class CUDAGraph:
    def __init__(self, keep_graph=False):
        self._capture = None

    def capture_begin(self, pool=None, capture_error_mode="global"):
        if state.capture is not None:
            raise RuntimeError("CUDA error: a graph is being captured already")
        state.capture = self._capture = _Capture()
        self._capture.__enter__()

    def capture_end(self):
        if state.capture is not self._capture or self._capture is None:
            raise RuntimeError("CUDA error: this graph is not being captured")
        with torch.no_grad():
            _end_capture().forget_values()

    def instantiate(self):
        pass

    def replay(self):
        if self._capture is None:
            raise RuntimeError("called CUDAGraph::replay without a preceding successful capture.")
        with torch.no_grad():
            for step in self._capture.steps:
                step()

    def reset(self):
        self._capture = None

    def pool(self):
        return 0, 1


class _Graph:
    """``with torch.cuda.graph(graph):``"""

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        self._graph = cuda_graph

    def __enter__(self):
        self._graph.capture_begin()

    def __exit__(self, *_):
        self._graph.capture_end()


def install():
    cuda, only = torch.cuda, Stream()
    cuda.Stream, cuda.Event, cuda.CUDAGraph, cuda.graph = Stream, Event, CUDAGraph, _Graph
    cuda.current_stream = cuda.default_stream = lambda device=None: only
    cuda.stream = lambda stream: contextlib.nullcontext()
    cuda.set_stream = lambda stream: None
    cuda.graph_pool_handle = lambda: (0, 1)
    cuda.is_current_stream_capturing = lambda: state.capture is not None
    torch.Tensor.record_stream = lambda tensor, stream: None  # PyTorch's own takes its own streams alone
