"""Which submodules of a model cost most? Times of forward by module, on the model's own inputs."""

from __future__ import annotations

import html
import time
from typing import Any, Iterable, Iterator, NamedTuple

import torch

from ._errors import BadInput, NotReproducible
from ._live import called, is_compiled, tensors_in
from ._source import is_installed

_REPEATS = 10
_SECONDS = 3.0  # no more repetitions after so many
_ROWS = 20  # of the printed table
SMALLEST_SHARE = 0.01  # of the model's time: less is no candidate for a kernel


class ModuleCost(NamedTuple):
    """Of one submodule, over one call of the model. The model itself has the path ""."""

    path: str
    kind: str  # its class
    calls: int
    self_ms: float  # without what its submodules take
    total_ms: float
    share: float  # self_ms of the model's total
    kernel_ms: float  # what one kernel in its place would replace: with those of torch's own modules that it calls; 0: it is no candidate


class Profile:
    """The result of ``profile``: a table when printed, in a notebook too."""

    def __init__(self, rows: list[ModuleCost], total_ms: float, device: str) -> None:
        self.rows = sorted(rows, key=lambda row: -row.self_ms)
        self.total_ms = total_ms
        self.device = device

    @property
    def candidates(self) -> list[ModuleCost]:
        """What ``optimize(…, top=N)`` takes first: modules whose class is the user's or a package's, each with the torch modules that it calls;
        of torch's own modules those that the model calls itself."""
        least = SMALLEST_SHARE * self.total_ms
        return sorted((row for row in self.rows if row.kernel_ms > least), key=lambda row: -row.kernel_ms)

    @property
    def document(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"schema": "davinci.profile/1", "device": self.device, "total_ms": self.total_ms, "modules": [row._asdict() for row in self.rows],
                "candidates": [row.path for row in self.candidates]}

    def __iter__(self) -> Iterator[ModuleCost]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> ModuleCost:
        return self.rows[index]

    def _table(self) -> list[tuple[str, ...]]:
        head = ("self", "share", "total", "calls", "path", "class")
        return [head, *((f"{r.self_ms:.3g} ms", f"{100 * r.share:.1f} %", f"{r.total_ms:.3g} ms", str(r.calls), r.path or "(the model)", r.kind)
                        for r in self.rows[:_ROWS])]

    def __str__(self) -> str:
        table = self._table()
        widths = [max(len(row[i]) for row in table) for i in range(6)]
        lines = ["  ".join(cell.rjust(w) if i < 4 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in table]
        if len(self.rows) > _ROWS:
            lines.append(f"… {len(self.rows) - _ROWS} more")
        best = ", ".join(f"{row.path} {100 * row.kernel_ms / self.total_ms:.0f} %" for row in self.candidates[:5])
        return "\n".join([f"one call: {self.total_ms:.3g} ms on {self.device}", *lines, *([f"to optimise first: {best}"] if best else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._table()
        cells = [f"<tr>{''.join(f'<th>{html.escape(c)}</th>' for c in head)}</tr>",
                 *(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in rows)]
        return f"<p>one call: {self.total_ms:.3g} ms on {html.escape(self.device)}</p><table>{''.join(cells)}</table>"


def insist_on_model(model: Any) -> None:
    if not isinstance(model, torch.nn.Module):
        raise BadInput(f"a {type(model).__qualname__} has no submodules; pass a torch.nn.Module")
    if any(map(is_compiled, model.modules())):
        raise NotReproducible("the model is compiled by torch.compile, so its submodules are not called; pass the original: it is the compiled "
                              "module's ._orig_mod")


class _Watch:
    """Begin and end of every call of every submodule, by the host's clock or as events on the device."""

    def __init__(self, model: torch.nn.Module, cuda: bool) -> None:
        self._cuda = cuda
        self._open: list[tuple[str, Any, list[Any]]] = []
        self.calls: list[tuple[str, Any, Any, list[Any]]] = []  # path, begin, end, the calls inside
        self._handles = []
        for path, part in model.named_modules():
            self._handles += [part.register_forward_pre_hook(self._before(path), prepend=True),
                              part.register_forward_hook(self._after, always_call=True)]

    def _now(self) -> Any:
        if not self._cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        event.record()
        return event

    def _before(self, path: str) -> Any:
        def hook(*_: Any) -> None:
            self._open.append((path, self._now(), []))

        return hook

    def _after(self, *_: Any) -> None:
        path, begin, inside = self._open.pop()
        call = (path, begin, self._now(), inside)
        self.calls.append(call)
        if self._open:
            self._open[-1][2].append(call)

    def take(self) -> list[tuple[str, float, float]]:
        """(path, milliseconds, of them outside of submodules) of each call since the last time."""
        if self._cuda:
            torch.cuda.synchronize()

        def ms(call: tuple[str, Any, Any, list[Any]]) -> float:
            return float(call[1].elapsed_time(call[2])) if self._cuda else 1e3 * (call[2] - call[1])

        found = [(call[0], ms(call), max(0.0, ms(call) - sum(map(ms, call[3])))) for call in self.calls]
        self.calls.clear()
        return found

    def close(self) -> None:
        for handle in self._handles:
            handle.remove()


def profile(model: torch.nn.Module, example_inputs: Any) -> Profile:
    """Times of the model's submodules. ``example_inputs`` as for ``optimize``. The model is called a few times under ``torch.no_grad()``, in
    the mode that it is in."""
    insist_on_model(model)
    tensors = [*model.parameters(), *model.buffers()]
    cuda = any(t.is_cuda for t in tensors) or not tensors and any(t.is_cuda for t in tensors_in(example_inputs))
    runs: list[dict[str, tuple[int, float, float]]] = []
    with torch.no_grad():
        called(model, example_inputs)
        watch = _Watch(model, cuda)
        try:
            called(model, example_inputs)
            watch.take()
            begun = time.perf_counter()
            while len(runs) < _REPEATS and (not runs or time.perf_counter() - begun < _SECONDS):
                called(model, example_inputs)
                run: dict[str, tuple[int, float, float]] = {}
                for path, total, own in watch.take():
                    calls, so_far, own_so_far = run.get(path, (0, 0.0, 0.0))
                    run[path] = calls + 1, so_far + total, own_so_far + own
                runs.append(run)
        finally:
            watch.close()
    # Of several runs the least, of each module by itself: what disturbs a call adds to it.
    best = {path: (calls, min(run[path][1] for run in runs if path in run), min(run[path][2] for run in runs if path in run))
            for path, (calls, _, _) in runs[0].items()}
    whole = sum(own for _, _, own in best.values())
    kinds = {path: type(part).__name__ for path, part in model.named_modules()}
    replaced = _replaced(model, {path: own for path, (_, _, own) in best.items()})
    rows = [ModuleCost(path, kinds[path], calls, own, total, own / whole if whole else 0.0, replaced.get(path, 0.0))
            for path, (calls, total, own) in best.items()]
    return Profile(rows, whole, "cuda" if cuda else "cpu")


def _replaced(model: torch.nn.Module, own_ms: dict[str, float]) -> dict[str, float]:
    """{path: milliseconds that one kernel in the module's place would replace}. Modules of torch, and a package's without any
    state, count for the module that calls them, where that is of another origin and not the model itself."""
    parts = dict(model.named_modules())

    def is_torch(path: str) -> bool:
        part = parts[path]
        bare = not part._modules and not part._parameters and not part._buffers
        return type(part).__module__.startswith("torch.") or bare and is_installed(type(part))  # an activation of a package, say

    def only_torch(path: str) -> bool:
        return all(is_torch(name) for name in _below(parts, path))

    def unit(path: str) -> str | None:
        above = list(_above(path))  # from the module itself up to the model
        own = next((name for name in above if name and not is_torch(name)), None)
        if own is not None:
            return own
        largest = [name for name in above if name in own_ms and name and only_torch(name)]  # a Sequential of torch's modules is one unit
        return largest[-1] if largest else None

    found: dict[str, float] = {}
    for path, ms in own_ms.items():
        place = unit(path) if path else None
        if place is not None:
            found[place] = found.get(place, 0.0) + ms
    return found


def _above(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]
    yield ""


def _below(parts: dict[str, Any], path: str) -> Iterable[str]:
    return (name for name in parts if name == path or name.startswith(path + "."))
