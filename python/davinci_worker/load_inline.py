"""``torch.utils.cpp_extension.load_inline`` and ``load`` for candidates, compiled by the supervisor's build service.

Same signatures and results as torch's. A call becomes a build request (src/davinci/build/request.h); the module that
comes back is imported from the read-only build cache. ``torch.utils.cpp_extension`` itself is not imported here: doing
so before a CUDA fork makes CUDA unusable in the child, so its functions are replaced when other code imports it.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

_TARGET = "torch.utils.cpp_extension"
_MAX_FILE_BYTES = 4 << 20
_build = None  # a function of a build request, from install()


def _strings(value):
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [os.fspath(value)]
    return [os.fspath(item) for item in value]


def _import(name, path):
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _finish(name, outcome, is_python_module):
    if is_python_module:
        return _import(name, outcome["path"])
    import torch

    torch.ops.load_library(outcome["path"])
    return outcome["path"]


def load_inline(name, cpp_sources, cuda_sources=None, sycl_sources=None, functions=None, extra_cflags=None,
                extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None, extra_include_paths=None,
                build_directory=None, verbose=False, with_cuda=None, with_sycl=None, is_python_module=True,
                with_pytorch_error_handling=True, keep_intermediates=True, use_pch=False, no_implicit_headers=False):
    """As ``torch.utils.cpp_extension.load_inline``; where and how it is built is the judge's affair, so
    ``build_directory``, ``verbose``, ``keep_intermediates`` and ``use_pch`` have no effect."""
    if sycl_sources or with_sycl:
        raise RuntimeError("SYCL extensions are not supported")
    if functions is not None and not isinstance(functions, (str, list, tuple, dict)):
        raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(functions)}")
    cuda = _strings(cuda_sources)
    request = {
        "kind": "extension", "name": name, "cpp_sources": _strings(cpp_sources), "cuda_sources": cuda,
        "extra_cflags": _strings(extra_cflags), "extra_cuda_cflags": _strings(extra_cuda_cflags),
        "extra_ldflags": _strings(extra_ldflags), "extra_include_paths": _strings(extra_include_paths),
        "with_cuda": bool(cuda) if with_cuda is None else bool(with_cuda),
        "no_implicit_headers": bool(no_implicit_headers),
    }
    if functions is not None:
        names = [functions] if isinstance(functions, str) else functions
        request["functions"] = dict(names) if isinstance(names, dict) else list(names)
    return _finish(name, _build(request), is_python_module)


def load(name, sources, extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None,
         extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None, with_sycl=None,
         is_python_module=True, is_standalone=False, keep_intermediates=True):
    """As ``torch.utils.cpp_extension.load``: the files are read here and sent like inline sources."""
    if is_standalone:
        raise RuntimeError("standalone executables are not supported")
    cpp, cuda = [], []
    for path in _strings(sources):
        with open(path, encoding="utf-8") as file:
            text = file.read(_MAX_FILE_BYTES)
        (cuda if path.endswith((".cu", ".cuh")) else cpp).append(text)
    request = {
        "kind": "extension", "name": name, "cpp_sources": cpp, "cuda_sources": cuda,
        "extra_cflags": _strings(extra_cflags), "extra_cuda_cflags": _strings(extra_cuda_cflags),
        "extra_ldflags": _strings(extra_ldflags), "extra_include_paths": _strings(extra_include_paths),
        "with_cuda": bool(cuda) if with_cuda is None else bool(with_cuda), "no_implicit_headers": True,
    }
    return _finish(name, _build(request), is_python_module)


def _patch(module):
    module.load_inline = load_inline
    module.load = load


class _Finder(importlib.abc.MetaPathFinder):
    """Lets the real module load and then replaces its two functions."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _TARGET:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            sys.meta_path.insert(0, self)
        if spec is None or spec.loader is None:
            return None
        original = spec.loader.exec_module

        def exec_module(module):
            original(module)
            _patch(module)

        spec.loader.exec_module = exec_module
        return spec


def install(build):
    """Calls go to ``build``. Idempotent. Affects imports from now on and the module if it is already there."""
    global _build
    _build = build
    if _TARGET in sys.modules:
        _patch(sys.modules[_TARGET])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
