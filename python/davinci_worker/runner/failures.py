"""What a runner says of an exception of the user's code."""

import errno
import re
import sys
import traceback

from davinci_worker import memory, source
from davinci_worker.messages import Message

_MESSAGE_BYTES = 16000  # the supervisor leaves out what is too much for a verdict
_UNREGISTERED = re.compile(r"Could not run '(\w+)::\S+' with arguments from the '(\w+)' backend\.")


def failure(error: BaseException, stage: str) -> Message:
    """The reply to a request that the error ended. ``stage``: the outcome where nothing more is known."""
    error = source.readable(error)
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    own = [line for line in lines if "davinci_worker" not in line]
    line = None
    files = {getattr(sys.modules.get(name), "__file__", None) for name in ("candidate", "davinci_task")}
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in files:
            line = frame.lineno
    name = "" if isinstance(error, source.SourceError) else f"{type(error).__name__}: "
    return {"error": {
        "never_fits": memory.never_fits(error),
        "kind": classify(error, stage), "type": type(error).__name__,
        "message": _clip(f"{name}{_text(error)}{_hint(error) or source.remedy(error)}"), "line": line, "traceback": _clip("".join(own[-6:])),
    }}


def classify(error: BaseException, stage: str) -> str:
    """Outcome name for an exception of the candidate, from where and what it is, not from words in its text."""
    name = type(error).__name__
    if isinstance(error, source.SourceError):
        return error.kind
    if memory.ran_out(error):
        return "out_of_memory"
    if name in ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "BuildError"):
        return "compile_error"
    if name in ("OutOfResources", "LaunchError") or "invalid configuration argument" in str(error) or "too many resources" in str(error):
        return "launch_error"
    return stage


def _text(error: BaseException) -> str:
    """Of an operator without a kernel torch lists all backends."""
    text = str(error)
    return text.partition(". This could be because")[0] if isinstance(error, NotImplementedError) and _UNREGISTERED.match(text) else text


def _hint(error: BaseException) -> str:
    """What to do, where that does not follow from what went wrong."""
    text = str(error)
    if "0 active drivers" in text:
        return "; Triton kernels need a device: --target cuda"
    if "redefinition of 'PyObject* PyInit_" in text:
        return "; load_inline(functions=...) writes a PYBIND11_MODULE of its own: keep one of the two"
    if "PyInit_" in text:
        return "; name the functions to export in load_inline(functions=[...]) or write PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)"
    if "bindings:" in text and "was not declared in this scope" in text:
        return "; load_inline(functions=...) names functions that its sources define"
    if isinstance(error, NotImplementedError) and (unregistered := _UNREGISTERED.match(text)):
        return f"; register a kernel for it: TORCH_LIBRARY_IMPL({unregistered[1]}, {unregistered[2]}, m)"
    if isinstance(error, TypeError) and "argument" in text and "__init__()" in text:
        return "; it is constructed with what get_init_inputs() of the reference returns"
    if isinstance(error, TypeError) and "argument" in text and "forward()" in text:
        return "; it is called with what get_inputs() of the reference returns"
    denied = isinstance(error, PermissionError) and error.errno == errno.EPERM or "PermissionError: [Errno 1]" in str(error)
    return ("; a candidate may start no programs, use no network and make no anonymous files: C++ and CUDA go into torch.utils.cpp_extension.load_inline, "
            "which the judge compiles, and torch.compile can be asked for as the baseline only") if denied else ""


def _clip(text: str) -> str:
    if len(text) <= _MESSAGE_BYTES:
        return text
    return text[: _MESSAGE_BYTES * 2 // 3] + "\n…\n" + text[-_MESSAGE_BYTES // 3:]
