"""Whether a run of CTest ran tests, none failed, and it skipped only those that tools/expected_skips.txt expects on this machine.

    ctest … --output-junit tests.xml; python3 tools/check_results.py tests.xml

What failed tests printed comes last, where one looks, and a log that keeps only its end has it: the last lines, and before them what
GoogleTest said of a failure further up.

A line of the list is a regular expression of a test's whole name, and when its skip is expected: `always`; where the machine has something
("gpu"), or has it not ("no-gpu"): gpu, amx, nvcc, second-core; sanitized: the build is, which $DAVINCI_SANITIZED says. Exit status 1: no
tests, one that failed, or skips that are not in the list.
"""
import os
import pathlib
import re
import shutil
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
LINES_AT_THE_END = 20
LINES_OF_A_FAILURE = 8
FAILURES_SHOWN = 5


def lacks(what):
    """Whether this machine is without `what`."""
    if what == "gpu":
        return not (os.path.exists("/dev/nvidiactl") or shutil.which("nvidia-smi"))
    if what == "amx":
        return "amx_bf16" not in pathlib.Path("/proc/cpuinfo").read_text()
    if what == "second-core":
        return len(os.sched_getaffinity(0)) < 2
    if what == "sanitized":
        return not os.environ.get("DAVINCI_SANITIZED")
    return shutil.which(what) is None


def expected(lines):
    """[(pattern, condition)] of a list's lines."""
    found = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2:
            sys.exit(f"expected_skips.txt:{number}: a pattern and when it holds, not {line!r}")
        found.append((re.compile(words[0]), words[1]))
    return found


def unexpected(skipped, patterns, is_without=lacks):
    """Of the skipped tests those that no line of the list expects here."""
    def holds(when):
        return when == "always" or is_without(when.removeprefix("no-")) == when.startswith("no-")
    return [name for name in skipped if not any(pattern.fullmatch(name) and holds(when) for pattern, when in patterns)]


def telling(output):
    """The lines of `output` that say why a test failed."""
    lines = output.strip().splitlines()
    early = lines[:-LINES_AT_THE_END]
    first = next((at for at, line in enumerate(early) if re.search(r":\d+: Failure$", line)), len(early))
    return early[first:first + LINES_OF_A_FAILURE] + lines[-LINES_AT_THE_END:]


def failed(cases):
    """Names of the tests that failed, and the lines that say why."""
    return [(case.get("name"), telling(case.findtext("system-out") or "")) for case in cases if case.find("failure") is not None]


def main():
    cases = xml.etree.ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    skipped = [case.get("name") for case in cases if case.find("skipped") is not None]
    print(f"{len(cases)} tests, {len(skipped)} skipped")
    if not cases:
        print("no test ran: no name or label fits")
        return 1
    bad = unexpected(skipped, expected((HERE / "expected_skips.txt").read_text().splitlines()))
    for name in bad:
        print(f"  skipped, and tools/expected_skips.txt does not expect it here: {name}  (why:  ./test.sh -R '^{re.escape(name)}$' -V)")
    failures = failed(cases)
    for name, lines in failures[:FAILURES_SHOWN]:
        print("\n".join([f"failed: {name}", *("  " + line for line in lines)]))
    for name, _ in failures[FAILURES_SHOWN:]:
        print(f"failed: {name}")
    return 1 if bad or failures else 0


if __name__ == "__main__":
    sys.exit(main())
