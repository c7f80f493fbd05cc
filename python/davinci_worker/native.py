"""ctypes binding of libdavinci_worker.so: sandbox entry, comparators, device helpers. No torch in there."""

import ctypes
import json
import os

_lib = None


def lib():
    global _lib
    if _lib is None:
        path = os.environ.get("DAVINCI_WORKER_LIB")
        if not path:
            raise RuntimeError("DAVINCI_WORKER_LIB is not set; start the worker through davinci")
        _lib = ctypes.CDLL(path, use_errno=True)
    return _lib


def _json_call(name, *args, report_bytes=8192):
    error = ctypes.create_string_buffer(1024)
    report = ctypes.create_string_buffer(report_bytes)
    function = getattr(lib(), name)
    if function(*args, error, ctypes.c_size_t(len(error)), report, ctypes.c_size_t(len(report))) != 0:
        raise RuntimeError(error.value.decode(errors="replace"))
    return json.loads(report.value or b"{}")


def sandbox_unshare(policy):
    error = ctypes.create_string_buffer(1024)
    if lib().dv_sandbox_unshare(json.dumps(policy).encode(), error, ctypes.c_size_t(len(error))) != 0:
        raise RuntimeError(error.value.decode(errors="replace"))


def sandbox_enter(policy):
    return _json_call("dv_sandbox_enter", json.dumps(policy).encode())


def sandbox_lock():
    return _json_call("dv_sandbox_lock")
