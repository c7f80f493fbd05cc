"""What the calls return."""

from __future__ import annotations

import hashlib
import html
import linecache
import os
import pathlib
import sys
import types
from typing import Any, NamedTuple

import torch

from ._live import live


class Speedup(NamedTuple):
    """Over eager PyTorch: the median of paired measurements and its interval."""

    median: float
    low: float
    high: float
    confidence: float = 0.95

    def __float__(self) -> float:
        return self.median

    def __str__(self) -> str:
        return f"{self.median:.3g}x ({self.low:.3g} – {self.high:.3g})"

    @classmethod
    def of(cls, document: Any) -> Speedup | None:
        if not isinstance(document, dict) or document.get("median") is None:
            return None
        return cls(document["median"], document["low"], document["high"], document.get("confidence", 0.95))


class Report(os.PathLike):  # type: ignore[type-arg]
    """The page of a run: a path, and in a notebook the page itself."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Report({str(self.path)!r})"

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0" sandbox></iframe>'


class Verdict:
    """One evaluation. ``document`` is all of it (docs/evaluation.schema.json)."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.status: str = document["status"]
        self.correct: bool | None = document.get("correct")
        self.speedup: Speedup | None = Speedup.of(document.get("speedup"))
        self.labels: list[str] = document.get("labels", [])
        self.message: str = document.get("message", "")

    def __repr__(self) -> str:
        speedup = f", {self.speedup} over eager" if self.speedup else ""
        labels = f", {'; '.join(self.labels)}" if self.labels else ""
        return f"<{self.status}{speedup}{labels}>" + (f" {self.message}" if self.message and self.status != "ok" else "")


class Optimized:
    """The result of ``optimize``. Nothing that a model wrote runs in this process before ``module`` is asked for."""

    def __init__(self, original: Any, task: dict[str, Any], document: dict[str, Any], task_file: str) -> None:
        self.original = original
        self._task_file = task_file
        self.document = document
        self._winner: dict[str, Any] | None = task.get("winner")
        self.remark: str = task.get("remark", "")
        self._module: Any = None

    @property
    def found(self) -> bool:
        """Is there a kernel that is correct and significantly faster?"""
        return self._winner is not None and bool(self._winner.get("file"))

    @property
    def speedup(self) -> Speedup | None:
        """As certified; None without a kernel."""
        return Speedup.of(self._winner["certified"].get("speedup")) if self._winner else None

    @property
    def by(self) -> str | None:
        """Who wrote the kernel: "model", "expert" (rules), or "user" (the kernel that the run started from)."""
        return str(self._winner.get("by", "model")) if self._winner else None

    @property
    def labels(self) -> list[str]:
        """What a reader of the speedup must know."""
        return list(self._winner["certified"].get("labels", [])) if self._winner else []

    @property
    def file(self) -> pathlib.Path | None:
        """The export, a file that runs without davinci: kernel, reference and guard."""
        return pathlib.Path(self.document["run"], self._winner["file"]) if self.found and self._winner else None

    @property
    def source(self) -> str | None:
        return self.file.read_text(encoding="utf-8") if self.file else None

    @property
    def kernel(self) -> str | None:
        """The kernel alone, as the model wrote it."""
        return _kernel_of(self.source) if self.source else None

    @property
    def report(self) -> Report:
        return Report(pathlib.Path(self.document["run"]).resolve() / "report.html")

    @property
    def module(self) -> Any:
        """In the place of the original: a module with the same parameters and buffers, or a function. The original itself where no kernel was
        found. Loads and compiles the kernel when it is first asked for."""
        if self._module is None:
            self._module = self._load() if self.found else self.original
        return self._module

    def _load(self) -> Any:
        assert self.file is not None
        if isinstance(self.original, torch.nn.Module):
            return self.around(self.original)
        loaded = loaded_export(self.file.read_text(encoding="utf-8"), self._task_file)
        function = getattr(loaded, f"{self.original.__name__}_new", None)
        return function if function is not None else loaded.ModelNew()

    def around(self, original: torch.nn.Module) -> torch.nn.Module:
        """The kernel in the place of a module like the one that was optimised: of its class and its sizes, with parameters of its own."""
        if self.file is None:
            return original
        made: torch.nn.Module = _class_of(loaded_export(self.file.read_text(encoding="utf-8"), self._task_file)).around(original)
        return made

    def __repr__(self) -> str:
        if not self.found:
            return f"<no kernel is significantly faster{': ' + self.remark if self.remark else ''}>"
        return f"<{self.speedup} over eager, {self.file}>"

    def _repr_html_(self) -> str:
        rows = [("speedup over eager", str(self.speedup) if self.found else "no kernel is significantly faster"),
                ("kernel", str(self.file or "")), ("labels", "; ".join(self.labels)), ("report", str(self.report))]
        body = "".join(f"<tr><th style='text-align: left'>{html.escape(k)}</th><td style='text-align: left'>{html.escape(v)}</td></tr>"
                       for k, v in rows if v)
        return f"<table>{body}</table>"


_KERNEL = "# ---- the kernel ----\n"
_BEHIND = ("\n\n# ---- davinci_runtime ----\n", "\n\n# ---- the reference, ")


def _kernel_of(export: str) -> str:
    """The kernel's text in an exported file (runs/export_kernel.h)."""
    remarks = next((i for i, line in enumerate(export.splitlines(keepends=True)) if not line.startswith("#")), 0)
    text = "".join(export.splitlines(keepends=True)[remarks:]).lstrip("\n")
    head, marker, rest = text.partition(_KERNEL)
    if marker:
        text = "".join(line for line in head.splitlines(keepends=True) if line.startswith("from __future__")) + rest
    ends = [text.find(behind) for behind in _BEHIND if behind in text]
    return text[:min(ends)].rstrip("\n") + "\n" if ends else text


def loaded_export(text: str, task_file: str) -> types.ModuleType:
    """An exported file as a module, once a process. Its name follows from the text, so that what was pickled is found again."""
    live()  # where the reference finds what it imports
    name = f"davinci_kernel_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    if name not in sys.modules:
        module = types.ModuleType(name)
        module.__file__ = task_file  # a reference inside reads its state next to the task
        place = f"{name}.py"
        linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
        sys.modules[name] = module
        try:
            exec(compile(text, place, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
        made = _class_of(module)
        if made is not None:
            made.__reduce_ex__ = lambda self, protocol: (_unpickled, (text, task_file), self.__getstate__())
    return sys.modules[name]


def _class_of(loaded: types.ModuleType) -> Any:
    """The guarded class of an export; None for a function."""
    made = getattr(loaded, "ModelNew", None) or getattr(loaded, "LiveModelNew", None)
    return made if isinstance(made, type) and hasattr(made, "around") else None


def _unpickled(text: str, task_file: str) -> Any:
    """A copied or pickled module brings the text of its kernel along, so that another process needs no file of the run."""
    made = _class_of(loaded_export(text, task_file))
    return made.__new__(made)
