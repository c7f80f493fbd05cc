"""What an oracle says of an exception, and which exceptions of the reference it lives with."""

import traceback
from typing import Any

from davinci_worker import memory, source
from davinci_worker.messages import Message
from davinci_worker.reference import Reference

_ASSERTED = "device-side assert"  # in the text of every CUDA error after a failed device assertion


def explain(error: BaseException, op: str, reference: Reference, device: str) -> Message:
    """The error's reply to the request ``op``: its kind, a message with file and line, and what to do."""
    if isinstance(error, source.SourceError):
        return {"kind": error.kind, "message": str(error)}
    error = source.readable(error)
    spec: dict[str, Any] = reference.spec
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == spec.get("path")]
    where = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else f"{spec.get('path', 'the task')}: "
    if not frames and isinstance(error, (NameError, AttributeError, KeyError, IndexError, ImportError)):
        where += "a fault of davinci's own, please report it: "
    hint = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
    remedy = source.remedy(error)
    hint += remedy
    hint += reference.sizes_in_force() if op != "load" else ""
    if isinstance(error, TypeError) and "argument" in str(error) and ("forward()" in str(error) or "__init__()" in str(error)):
        hint += "; forward is called with what get_inputs() returns, the constructor with what get_init_inputs() returns"
    if device == "cuda" and _ASSERTED in str(error) and op not in ("load", "describe") and not spec.get("domain_on_host"):
        return {"kind": "device_assert", "message": f"{where}{error}"}
    crowded = (device == "cuda" or spec.get("compile_only")) and memory.ran_out(error)
    return {"kind": "out_of_memory" if crowded else "reference_error", "op": "" if remedy else op,
            "message": f"{where}{type(error).__name__}: {error}{hint}",
            "traceback": "".join(traceback.format_exception(error)[-4:])[-2000:]}


def insist_on_memory(error: Exception, reference: Reference) -> None:
    """Raises an error that only a lack of memory explains. Truth in a lesser precision, with the tolerance that follows from it, refuses honest
    kernels: it is for references that know no float64, and for what does not fit on the device even alone, not for a device full of
    others, nor for want of one."""
    shared = reference.device == "cuda" and not reference.spec.get("alone")
    if (shared or reference.spec.get("compile_only")) and memory.ran_out(error):
        raise error
