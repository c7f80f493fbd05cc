"""The wheel: built from this tree and the program that the build has made, installed into an empty environment, used from elsewhere.

    python tests/everyday/wheel_test.py --build build/dev     (a Python with torch, pip and scikit-build-core)
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

try:
    import scikit_build_core  # noqa: F401
    import torch
except ImportError:
    print("skipped: this Python has no torch or no scikit-build-core")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    build = pathlib.Path(parser.parse_args().build).resolve()
    with tempfile.TemporaryDirectory() as name:
        here = pathlib.Path(name)
        run(sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", ROOT, "--no-deps", "--no-build-isolation", "-w", here,
            f"--config-settings=cmake.define.DAVINCI_PREBUILT={build}", f"--config-settings=build-dir={here / 'build'}")
        wheel, = here.glob("*.whl")
        files = set(zipfile.ZipFile(wheel).namelist())
        data = "davinci/_program/share/davinci/"
        embedded = (build / "lib/libdavinci_model.so").exists()  # a build without LibTorch has no model
        if embedded:
            assert {"davinci/_program/lib/libdavinci_model.so", "davinci/_program/lib/libdavinci_model.torch"} <= files
        for file in ("davinci/py.typed", "davinci/__init__.py", "davinci/_program/bin/davinci", "davinci/_program/lib/libdavinci_worker.so",
                     data + "prompts/policy_task.md", data + "recipes/davinci.toml", data + "python/davinci_worker/oracle/role.py",
                     data + "python/davinci_runtime/__init__.py"):
            assert file in files, file
        assert any(file.startswith(data + "skills/") for file in files) and any("/lib/libfmt.so" in file for file in files)
        metadata = next(file for file in files if file.endswith("METADATA"))
        requires = [line for line in zipfile.ZipFile(wheel).read(metadata).decode().splitlines() if line.startswith("Requires-Dist")]
        assert requires == ["Requires-Dist: torch>=2.9"], requires

        venv = here / "venv"
        run(sys.executable, "-m", "venv", "--without-pip", venv)
        python = venv / "bin" / "python"
        run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--no-index", "--no-deps", wheel)
        site = next(venv.glob("lib/python*/site-packages"))
        (site / "torch.pth").write_text(str(pathlib.Path(torch.__file__).parent.parent) + "\n")
        # Nothing of this tree, of the build's folder, or of the caller's settings.
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("DAVINCI_", "PYTHON"))}
        program = site / "davinci/_program/bin/davinci"
        for line in run("ldd", program, env=clean).splitlines():
            if "libfmt" in line or "libcrypto" in line:
                assert str(site) in line, line
        assert run(venv / "bin/davinci", "--version", env=clean, cwd=here).strip() == run(build / "apps/davinci/davinci", "--version").strip()
        assert "correct" in run(venv / "bin/davinci", "judge", "-r", ROOT / "tasks/pointwise/hardswish_chain.py", "-c",
                                ROOT / "tests/honest/cpu/hardswish_chain.py", "-t", "cpu", "-p", "screening", env=clean, cwd=here)
        if embedded:
            written = run(venv / "bin/davinci", "generate", "x", "--model", site / "davinci/_program/share/davinci/models/davinci-nano", "--device", "cpu",
                          "--max-tokens", "4", env=clean, cwd=here)
            assert written.strip(), written
            # LibTorch is the environment's, and of the version that the library was built with.
            used = run(python, "-c", "import davinci._program as p; print(p.torch_libraries())", env=clean, cwd=here).strip()
            assert used == str(pathlib.Path(torch.__file__).parent / "lib"), used
            other = subprocess.run([program, "generate", "x", "--model", site / "davinci/_program/share/davinci/models/davinci-nano", "--device", "cpu"],
                                   capture_output=True, text=True, env={**clean, "DAVINCI_TORCH_LIB": str(here)}, cwd=here)
            assert other.returncode != 0 and "was built with torch" in other.stderr, other.stderr
        told = run(python, ROOT / "tests/everyday/notebook_test.py", env=clean, cwd=here)
        assert str(site) in told and str(build) not in told, told
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; {told.strip()}")


if __name__ == "__main__":
    main()
