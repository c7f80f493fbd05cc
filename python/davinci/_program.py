"""Finds and runs the program. All that decides anything happens there; this package writes its inputs and reads its JSON."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
from typing import Any, Callable, Iterable, Mapping

from ._errors import BadInput, DavinciError

_HERE = pathlib.Path(__file__).resolve().parent
_INTERRUPT_SECONDS = 30  # for the program to write down what it has


@functools.cache
def program() -> pathlib.Path:
    """$DAVINCI_PROGRAM, the one of this installation, a build of this checkout, or the one on PATH."""
    checkout = _HERE.parent.parent
    named = os.environ.get("DAVINCI_PROGRAM")
    places = [pathlib.Path(named)] if named else [
        _HERE / "_program" / "bin" / "davinci", *(checkout / "build" / kind / "apps" / "davinci" / "davinci" for kind in ("pip", "release", "dev"))]
    for place in places:
        if os.access(place, os.X_OK) and place.is_file():
            return place
    found = None if named else shutil.which("davinci")
    if found is not None:
        with open(found, "rb") as file:
            if file.read(2) == b"#!":  # the command of an installation, which looks for the program here
                found = None
    if found is None:
        where = f"DAVINCI_PROGRAM={named} is no program" if named else "the davinci program is not in this installation"
        raise DavinciError(f"{where}; pip install . in a checkout builds it, or set DAVINCI_PROGRAM")
    return pathlib.Path(found)


@functools.cache
def home() -> pathlib.Path:
    """The folder with the program's prompts, skills and Python parts."""
    named = os.environ.get("DAVINCI_HOME")
    places = [pathlib.Path(named)] if named else [program().resolve().parent.parent / "share" / "davinci", _HERE.parent.parent]
    for place in places:
        if (place / "python" / "davinci_worker").is_dir():
            return place
    raise DavinciError("davinci's python folder is missing; set DAVINCI_HOME to the checkout")


@functools.cache
def torch_libraries() -> str:
    """The folder of LibTorch in the torch package, which the embedded model uses; "": there is none. Imports no torch."""
    spec = importlib.util.find_spec("torch")
    return str(pathlib.Path(spec.origin).parent / "lib") if spec is not None and spec.origin is not None else ""


def flags(options: Mapping[str, Any]) -> list[str]:
    """``turns=3, learn=True, set={"run.seed": 1}`` as the command line has them: --turns 3 --learn --set run.seed=1."""
    made: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            made.append(flag)
        elif isinstance(value, Mapping):
            for key, setting in value.items():
                made += [flag, f"{key}={_setting(setting)}"]
        elif isinstance(value, (list, tuple)):
            for item in value:
                made += [flag, os.fspath(item) if isinstance(item, os.PathLike) else str(item)]
        else:
            made += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return made


def _setting(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (bool, list)) else str(value)


def run(command: str, arguments: Iterable[str], progress: Callable[[str], None] | None = None, accepted: Iterable[int] = (0,)) -> Any:
    """The JSON document that ``davinci COMMAND … --json`` prints. ``progress`` gets each line of its standard error.

    An interrupt is passed on: the program writes down what it has, and the same call continues there."""
    line = [str(program()), "--python", sys.executable, command, *arguments, "--json"]
    environment = {"DAVINCI_TORCH_LIB": torch_libraries(), **os.environ}
    # What Python finds now is found in the sandbox, too: a script's folder, say, or what was added to sys.path by hand.
    here = [folder for folder in map(os.path.abspath, sys.path) if os.path.isdir(folder) and not _is_installed(folder)]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*here, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]))
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
                               errors="replace", env=environment, start_new_session=True)
    said: list[str] = []

    def listen() -> None:
        assert process.stderr is not None
        for text in process.stderr:
            said.append(text.rstrip("\n"))
            if progress is not None:
                progress(said[-1])

    printed: list[str] = []

    def read() -> None:
        assert process.stdout is not None
        printed.append(process.stdout.read())

    threads = [threading.Thread(target=target, daemon=True) for target in (listen, read)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
        status = process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    except BaseException:
        _stop(process)
        raise
    document = None
    if printed and printed[0].strip():
        try:
            document = json.loads(printed[0])
        except ValueError:
            pass
    if status not in accepted or document is None:
        prefix = f"davinci {command}: "
        mistakes = [text.removeprefix(prefix) for text in said if text.startswith(prefix)]
        message = "\n".join(mistakes) or (said[-1] if said else f"davinci {command} ended with status {status}")
        raise BadInput(message) if status == 2 else DavinciError(message, status)
    return document


def _is_installed(folder: str) -> bool:
    return folder.startswith((sys.prefix, sys.base_prefix)) or os.path.basename(folder) in ("site-packages", "dist-packages") \
        or folder == str(home() / "python")


def _stop(process: subprocess.Popen[str]) -> None:
    try:
        process.send_signal(signal.SIGINT)
        process.wait(_INTERRUPT_SECONDS)
    except BaseException:  # a second interrupt, or no end
        process.kill()
        process.wait()


def main() -> None:
    """The ``davinci`` command of an installation: the program itself, with this interpreter."""
    os.environ.setdefault("DAVINCI_PYTHON", sys.executable)
    os.environ.setdefault("DAVINCI_TORCH_LIB", torch_libraries())
    os.execv(program(), ["davinci", *sys.argv[1:]])
