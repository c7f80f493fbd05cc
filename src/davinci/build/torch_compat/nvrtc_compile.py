# Compiles one CUDA source with NVRTC, loaded by ctypes: no CUDA headers, no torch. Runs inside the build sandbox.
#   python nvrtc_compile.py LIBNVRTC SOURCE NAME OUTPUT [OPTION...]
# Exit code 0: OUTPUT holds the cubin; 1: the log is on stderr; 2: NVRTC itself cannot be used.
import ctypes
import sys


def main():
    library, source, name, output = sys.argv[1:5]
    options = [o.encode() for o in sys.argv[5:]]
    try:
        nvrtc = ctypes.CDLL(library)
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    with open(source, "rb") as file:
        text = file.read()
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, name.encode(), 0, None, None) != 0:
        print("nvrtcCreateProgram failed", file=sys.stderr)
        return 2
    result = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    sys.stderr.write(log.value.decode(errors="replace"))
    if result != 0:
        # NVRTC_ERROR_COMPILATION is the source's fault, NVRTC_ERROR_INVALID_OPTION the flags'.
        return 1 if result in (5, 6) else 2
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    if size.value == 0 or nvrtc.nvrtcGetCUBIN(program, cubin) != 0:
        print("NVRTC made no cubin for this architecture", file=sys.stderr)
        return 2
    with open(output, "wb") as file:
        file.write(cubin.raw)
    return 0


sys.exit(main())
