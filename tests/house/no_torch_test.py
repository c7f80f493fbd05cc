"""DAVINCI_WITH_TORCH=OFF builds what this build has built, without the model's library, and says so where it is needed.

    no_torch_test.py --build BUILD_FOLDER --davinci BINARY

The setting is configured into a folder next to the build's. Compiling everything twice would take as long as the build
itself; instead every command that OFF would run has to be one that this build has run already.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ["CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS_RELWITHDEBINFO", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_C_COMPILER_LAUNCHER",
        "CMAKE_CXX_COMPILER", "CMAKE_C_COMPILER", "CMAKE_PREFIX_PATH", "CMAKE_CXX_FLAGS", "DAVINCI_WERROR", "DAVINCI_SANITIZE",
        "DAVINCI_BUILD_TESTS", "DAVINCI_TIDY", "CMAKE_UNITY_BUILD", "CMAKE_UNITY_BUILD_BATCH_SIZE"]


def commands(folder):
    """What `ninja` would run, without the folder's own name."""
    text = subprocess.run(["ninja", "-C", folder, "-t", "commands", "all"], capture_output=True, text=True, check=True).stdout
    return {line.replace(str(folder), "BUILD").replace(folder.name + "/", "BUILD/") for line in text.splitlines() if line.strip()}


def unity_files(folder):
    """What the generated files of a unity build include, by their place in the build folder."""
    return {str(file.relative_to(folder)): re.findall(r'^#include .*', file.read_text().replace(str(folder), "BUILD"), re.M)
            for file in folder.rglob("Unity/unity_*.cxx")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--davinci", required=True)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M))
    off = build.parent / f"{build.name}-no-torch"
    shutil.rmtree(off, ignore_errors=True)
    try:
        done = subprocess.run(
            ["cmake", "-S", str(ROOT), "-B", str(off), "-G", "Ninja", "-DDAVINCI_WITH_TORCH=OFF",
             *(f"-D{name}={cache[name]}" for name in KEPT if cache.get(name))], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout[-2000:], done.stderr[-4000:])
            return 1
        assert "LibTorch: off" in done.stdout, done.stdout[-2000:]
        without, present = commands(off), commands(build)
        assert len(without) > 150, f"only {len(without)} commands"
        new = sorted(without - present)
        if new:
            print(f"{len(new)} commands of DAVINCI_WITH_TORCH=OFF are not part of this build, the first of them:")
            print("\n".join(line[:600] for line in new[:3]))
            return 1
        theirs = unity_files(build)
        other = [name for name, files in unity_files(off).items() if theirs.get(name) != files]
        assert not other, f"holds other files without torch: {other[0]}"
        torch = [line for line in without if "libtorch" in line or "davinci_model_lib" in line]
        assert not torch, torch[0][:300]
        print(f"all {len(without)} commands of DAVINCI_WITH_TORCH=OFF belong to this build, which has {len(present)}")
    finally:
        shutil.rmtree(off, ignore_errors=True)
    said = subprocess.run([arguments.davinci, "generate", "hello", "--model", str(ROOT)], capture_output=True, text=True, check=False,
                          env={**os.environ, "DAVINCI_MODEL_LIBRARY": "/nowhere/libdavinci_model.so"})
    assert said.returncode == 2, (said.returncode, said.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
