"""What one task, or one candidate, could leave behind for the next in a process that serves several: changed settings of torch, hooks,
registered operators, threads, functions put in the place of others. A process in which any of it differs is ended."""

import builtins
import math
import os
import sys
import threading

import torch

_CUDA_SWITCHES = ("flash_sdp_enabled", "mem_efficient_sdp_enabled", "math_sdp_enabled", "cudnn_sdp_enabled")


def _owners():
    yield from (torch, torch.nn, torch.nn.functional, torch.nn.init, torch.linalg, torch.fft, torch.special, torch.random,
                torch.cuda, *torch.Tensor.__mro__[:2], torch.nn.Module, torch.nn.Parameter)
    for value in vars(torch.nn).values():
        if isinstance(value, type):
            yield value


def _settings():
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    module = torch.nn.modules.module
    return (
        torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads(), torch.is_grad_enabled(),
        torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled(), torch.is_autocast_enabled("cuda"),
        matmul.allow_tf32, matmul.allow_fp16_reduced_precision_reduction, matmul.allow_bf16_reduced_precision_reduction,
        cudnn.allow_tf32, cudnn.enabled, cudnn.benchmark, cudnn.deterministic,
        *(getattr(torch.backends.cuda, name)() for name in _CUDA_SWITCHES),
        *(len(hooks) for name, hooks in sorted(vars(module).items()) if name.startswith("_global_") and isinstance(hooks, dict)),
        len(torch.library._defs), len(torch.library._impls), torch._C._len_torch_function_stack(),
        "torch._dynamo" in sys.modules, threading.active_count(), tuple(sorted(os.environ.items())),
    )


def of_kernels():
    """Whose functions a candidate of kernels uses, besides torch's."""
    owners = [builtins, math]
    try:
        import triton
        import triton.language
        from triton.runtime import autotuner, jit

        owners += [triton, triton.language, triton.language.core, jit.JITFunction, autotuner.Autotuner]
    except (ImportError, AttributeError):
        pass
    return owners


def _callables(further):
    return {(owner, name): value for owner in (*_owners(), *further) for name, value in list(vars(owner).items()) if callable(value)}


class Snapshot:
    """Of this process, before it has run any user code; ``further`` are modules and classes that are looked at as well."""

    def __init__(self, further=()):
        self._further = tuple(further)
        self._callables = _callables(self._further)
        self._settings = _settings()

    def holds(self):
        """Whether all is as it was. A module of torch that has been imported since is no change, a method that has come to a
        class is."""
        now = _callables(self._further)
        return (_settings() == self._settings
                and all(now.get(place) is value for place, value in self._callables.items())
                and all(place in self._callables for place in now if isinstance(place[0], type)))
