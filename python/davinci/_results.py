"""What the calls return."""

from __future__ import annotations

import html
import importlib.util
import os
import pathlib
import sys
import warnings
from typing import Any, Callable, NamedTuple

import torch

from ._errors import DavinciError


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
    def labels(self) -> list[str]:
        """What a reader of the speedup must know."""
        return list(self._winner["certified"].get("labels", [])) if self._winner else []

    @property
    def file(self) -> pathlib.Path | None:
        """The kernel as a file that runs without davinci."""
        return pathlib.Path(self.document["run"], self._winner["file"]) if self.found and self._winner else None

    @property
    def source(self) -> str | None:
        return self.file.read_text(encoding="utf-8") if self.file else None

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
        name = f"davinci_kernel_{self.file.stem}"
        spec = importlib.util.spec_from_file_location(name, self.file)
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        loaded.__file__ = self._task_file  # a reference inside reads its state beside the task
        sys.modules[name] = loaded
        spec.loader.exec_module(loaded)
        if not isinstance(self.original, torch.nn.Module):
            function = getattr(loaded, f"{self.original.__name__}_new", None)
            return function if function is not None else loaded.ModelNew()
        made = getattr(loaded, "ModelNew", None) or loaded.LiveModelNew
        if hasattr(made, "why_reference"):
            return guarded(made, self.original)
        module = made()
        if not isinstance(module, torch.nn.Module):
            return _Callable(module, self.original)
        adopt(module, self.original)
        return module

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


class _Callable(torch.nn.Module):
    """A kernel whose class is no module of torch's."""

    def __init__(self, function: Callable[..., Any], original: torch.nn.Module) -> None:
        super().__init__()
        self._function = function
        for name, value in original.named_parameters():
            self.register_parameter(name.replace(".", "_"), value)

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        return self._function(*arguments, **keywords)


def _owner(module: torch.nn.Module, name: str) -> tuple[torch.nn.Module, str]:
    path, _, last = name.rpartition(".")
    return module.get_submodule(path), last


def guarded(made: Any, original: torch.nn.Module) -> torch.nn.Module:
    """An instance of an export's guarded class, which is a subclass of the reference, around the original's own state."""
    module: torch.nn.Module = made.__new__(made)
    for key, value in vars(original).items():
        module.__dict__[key] = value.copy() if key in ("_parameters", "_buffers", "_modules") else value
    module.__dict__["_davinci"] = (None, ())  # the kernel is made at the first call
    return module


def adopt(module: torch.nn.Module, original: torch.nn.Module) -> None:
    """Gives ``module`` the parameters and buffers of the original, the same objects: training one trains the other. By name; what is left over
    by type and shape in order, as the judge did."""
    for kind in ("parameters", "buffers"):
        own = dict(getattr(module, f"named_{kind}")(remove_duplicate=False))
        theirs = dict(getattr(original, f"named_{kind}")(remove_duplicate=False))
        pairs = {name: name for name in own if name in theirs and own[name].shape == theirs[name].shape}
        free = [name for name in own if name not in pairs]
        used = {id(theirs[name]) for name in pairs.values()}
        for name, value in theirs.items():
            if name in pairs or id(value) in used:
                continue
            match = next((n for n in free if own[n].shape == value.shape and own[n].dtype == value.dtype), None)
            if match is not None:
                pairs[match] = name
                free.remove(match)
                used.add(id(value))
            elif kind == "parameters":
                raise DavinciError(f"the kernel has no parameter for {name} {tuple(value.shape)} of the original, so it cannot take its place; "
                                   "its source is in .source")
        if free and kind == "parameters":
            warnings.warn(f"parameters of the kernel that the original does not have: {', '.join(free)}", stacklevel=3)
        for name, source in pairs.items():
            owner, last = _owner(module, name)
            registered = owner._parameters if kind == "parameters" else owner._buffers
            registered[last] = theirs[source]
    if not any(own.training != original.training for own in original.modules()):
        module.train(original.training)
    else:
        modes = {name: part.training for name, part in original.named_modules()}
        for name, part in module.named_modules():
            part.training = modes.get(name, original.training)
