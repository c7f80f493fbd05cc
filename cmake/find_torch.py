"""Prints, a line each: version of torch, its folder, the folder of the CUDA run-time headers ("-": none). Imports no torch."""
import glob
import importlib.util
import os
import re
import sys
from importlib.metadata import version

spec = importlib.util.find_spec("torch")
if spec is None or not spec.submodule_search_locations:
    sys.exit("no torch")
root = os.path.realpath(list(spec.submodule_search_locations)[0])
found = version("torch")
if tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", found).groups()) < (2, 9):
    sys.exit(f"torch {found} is older than 2.9")
for needed in ("include/ATen/ATen.h", "lib/libtorch_cpu.so", "lib/libc10.so"):
    if not os.path.exists(os.path.join(root, needed)):
        sys.exit(f"{root}/{needed} is missing")
site = os.path.dirname(root)
places = [*sorted(glob.glob(os.path.join(site, "nvidia", "*", "include")), reverse=True),
          os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "include"), "/usr/local/cuda/include"]
# cuda_runtime.h includes crt/host_config.h, which the wheel of the run-time library does not have.
needed = ("cuda_runtime_api.h", "crt/host_config.h")
cuda = next((p for p in places if all(os.path.exists(os.path.join(p, file)) for file in needed)), "-")
print(found, root, cuda, sep="\n")
