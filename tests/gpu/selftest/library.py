"""libdavinci_worker.so for the self-test: its structures, its functions, counts of checks, times on the device."""
import ctypes
import glob
import json
import os

U64, I64, F64, INT = ctypes.c_uint64, ctypes.c_int64, ctypes.c_double, ctypes.c_int
CHILD_TIMEOUT_S = 90
NUM_BUCKETS = 321
DTYPE = {"float16": 0, "bfloat16": 1, "float32": 2, "float64": 3, "int8": 4, "uint8": 5, "int16": 6, "int32": 7,
         "int64": 8, "bool": 9}


class CompareResult(ctypes.Structure):
    _fields_ = ([("passed", INT), ("failed_criteria", INT)] +
                [(name, I64) for name in ("n", "num_wrong", "num_dont_care", "num_special_match", "num_nan_truth",
                                          "num_nan_candidate", "num_unexpected_nan", "first_wrong_index")] +
                [("first_wrong_truth", F64), ("first_wrong_candidate", F64), ("worst_index", I64)] +
                [(name, F64) for name in ("worst_err", "worst_tol", "worst_truth", "worst_candidate", "max_ratio",
                                          "rms_ratio", "rms_limit")] +
                [("ratio_histogram", I64 * 10)])


class Profile(ctypes.Structure):
    _fields_ = [("count", U64 * NUM_BUCKETS), ("max_err", F64 * NUM_BUCKETS), ("sum_sq_err", F64 * NUM_BUCKETS),
                ("num_special", U64), ("num_dont_care", U64)]


class Library:
    """The C functions; those returning a status raise with the library's message."""

    def __init__(self, path):
        lib = ctypes.CDLL(path)
        self.raw = lib
        lib.dv_cuda_last_error.restype = ctypes.c_char_p
        lib.dv_last_error.restype = ctypes.c_char_p
        lib.dv_sizeof.restype = ctypes.c_size_t
        lib.dv_checksum.restype = U64
        lib.dv_checksum.argtypes = [ctypes.c_void_p, ctypes.c_size_t, U64, INT]
        lib.dv_cuda_sample_position.restype = U64
        lib.dv_cuda_sample_position.argtypes = [U64, U64, U64]
        lib.dv_cuda_poison_pattern.restype = U64
        lib.dv_cuda_poison_pattern.argtypes = [INT, U64, U64]
        p, s, z = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        signatures = {
            "init": [INT, s, s], "prepare": [], "driver_info": [s, z, p], "sync": [], "stream_sync": [U64],
            "set_limit": [INT, U64], "get_limit": [INT, p], "ipc_export": [U64, p, p, p], "ipc_open": [p, p, p],
            "ipc_close": [U64], "flush_l2": [U64, INT, U64], "hold": [U64, ctypes.c_uint32, U64, U64], "persisting_reset": [], "poison": [U64, U64, INT, U64, U64],
            "poison_count": [U64, U64, INT, U64, U64, p, p], "checksum": [U64, U64, U64, U64, p],
            "sample": [U64, U64, INT, U64, U64, U64, p],
            "queue_checksum": [U64, U64, U64, U64, U64], "queue_sample": [U64, U64, INT, U64, U64, U64, U64],
            "queue_accepts": [U64, U64, INT, U64, U64, U64, U64],
            "nudge": [U64, INT, U64, F64, U64, U64, U64], "stress": [U64, U64, INT, U64, U64],
            "profile_accumulate": [U64, U64, INT, INT, U64, p, U64, U64],
            "compare": [U64, U64, INT, U64, p, U64, F64, U64, p],
            "compare_direct": [U64, U64, INT, U64, p, F64, U64, p],
            "accepts": [U64, U64, INT, U64, p, U64, p],
            "compare_integers": [U64, INT, p, INT, U64, INT, U64, F64, U64, p],
            "activity_prepare": [], "activity_start": [], "activity_stop": [s, z, p], "activity_result": [s, z, p],
            "peaks": [U64, INT, U64, s, z, p],
        }
        for name, arguments in signatures.items():
            function = getattr(lib, "dv_cuda_" + name)
            function.argtypes = arguments
            setattr(self, name, self._checked(function, name))
        host = {
            "dv_profile_accumulate": [p, p, INT, INT, I64, p, p, INT],
            "dv_tolerance_build": [p, INT, p, p],
            "dv_compare": [p, p, INT, I64, p, p, F64, INT, p],
            "dv_compare_direct": [p, p, INT, I64, p, F64, INT, p],
            "dv_compare_integers": [p, p, INT, p, INT, I64, F64, INT, p],
        }
        for name, arguments in host.items():
            function = getattr(lib, name)
            function.argtypes = arguments
            setattr(self, "host_" + name[3:], self._checked_host(function, name))

    def _checked(self, function, name):
        def call(*arguments):
            code = function(*arguments)
            if code != 0:
                raise RuntimeError(f"dv_cuda_{name}: {code}: {self.raw.dv_cuda_last_error().decode()}")
        return call

    def _checked_host(self, function, name):
        def call(*arguments):
            if function(*arguments) != 0:
                raise RuntimeError(f"{name}: {self.raw.dv_last_error().decode()}")
        return call

    def json(self, function, *arguments):
        buffer = ctypes.create_string_buffer(1 << 22)
        function(*arguments, buffer, len(buffer), None)
        return json.loads(buffer.value)

    def checksum_of(self, pointer, num_bytes, key=5):
        value = U64()
        self.checksum(pointer, num_bytes, key, 0, ctypes.byref(value))
        return value.value


class Report:
    """Counts of checks, and what every test needs (set by main): torch, lib, library, cache, big_bytes."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, condition, text):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"  FAILED {text}", flush=True)
        return condition

    def note(self, text):
        print(f"  {text}", flush=True)


def library_directories(torch):
    site = os.path.dirname(os.path.dirname(torch.__file__))
    found = glob.glob(site + "/nvidia/cu1*/lib") + glob.glob(site + "/nvidia/*/lib")
    return ":".join(found + ["/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"])


def timed_ms(torch, body, repeats=5):
    """Best device time between two events on the legacy default stream."""
    best = float("inf")
    for _ in range(repeats + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        body()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end))
    return best
