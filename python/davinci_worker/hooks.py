"""Sends every compilation of a candidate to the supervisor's build service instead of compiling in this process."""

import inspect
import threading

_peer = None


class BuildError(RuntimeError):
    """The compiler refused the candidate's source; the text is the compiler's."""


def install(peer, triton=False):
    """Routes ``torch.utils.cpp_extension.load_inline``/``load``, ``davinci_runtime`` and, with ``triton``, the C code that
    Triton writes to launch a kernel through ``peer``."""
    global _peer
    _peer = peer
    try:
        from davinci_worker import load_inline
    except ImportError:
        return
    load_inline.install(lambda request: build(request))  # compile_only_native.py replaces it
    if triton:
        _share_launchers()


def _share_launchers():
    """A launcher depends on the types of a kernel's arguments only: compiled here it is the same for one candidate after the
    other, and comes out of the build cache."""
    try:
        from triton import knobs
        from triton.runtime.build import _build
    except ImportError:
        return
    if not hasattr(getattr(knobs, "build", None), "impl"):
        return

    # Newer versions want flags, and tell a replacement of the compiler nothing of them.
    flags = {"ccflags": []} if "ccflags" in inspect.signature(_build).parameters else {}

    def compile_launcher(name, src, srcdir, library_dirs, include_dirs, libraries):
        try:
            if threading.current_thread() is not threading.main_thread():
                raise BuildError("the main thread speaks with the supervisor")
            with open(src, encoding="utf-8") as file:
                text = file.read()
            return build({"kind": "launcher", "cpp_sources": [text], "extra_include_paths": list(include_dirs)})["path"]
        except (BuildError, OSError):
            knobs.build.impl = None  # as without us
            try:
                return _build(name, src, srcdir, library_dirs, include_dirs, libraries, **flags)
            finally:
                knobs.build.impl = compile_launcher

    knobs.build.impl = compile_launcher


def active():
    return _peer is not None


def build(request):
    """Blocks until the supervisor compiled ``request`` (build/request.h). Returns the artifact's description."""
    _peer.send({"build": request})
    reply, _ = _peer.recv()
    outcome = reply["built"]
    if "error" in outcome:
        raise BuildError(outcome["error"]["message"])
    return outcome
