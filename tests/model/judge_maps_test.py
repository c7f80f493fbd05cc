"""The process that judges never maps LibTorch nor the library that links it.

    judge_maps_test.py DAVINCI
"""
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = ROOT / "tasks/pointwise/hardswish_chain.py"
KERNEL = ROOT / "tests/honest/cpu/hardswish_chain.py"


def main():
    process = subprocess.Popen(
        [sys.argv[1], "judge", "-r", TASK, "-c", KERNEL, "-t", "cpu", "--protocol", "screening", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "DAVINCI_PYTHON": sys.executable})
    mapped = set()
    while process.poll() is None:
        try:
            for line in pathlib.Path(f"/proc/{process.pid}/maps").read_text().splitlines():
                mapped.add(line.split()[-1])
        except OSError:
            pass
        time.sleep(0.005)
    out, err = process.communicate()
    assert '"schema"' in out, out + err
    assert any(name.endswith("/davinci") for name in mapped), "nothing was seen of the process"
    wrong = sorted(name for name in mapped if "libtorch" in name or "libc10" in name or "davinci_model" in name)
    assert not wrong, wrong
    print(f"{len(mapped)} mappings seen while it judged, none of LibTorch")


if __name__ == "__main__":
    main()
