"""Source of live classes and functions, with all that it refers to, as the text of one file."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import linecache
import logging
import math
import symtable
import sys
import sysconfig
import textwrap
import types
from typing import Any, Iterable

import torch

from ._errors import NotReproducible

_REMEDY = "; define it with def or class in a file or a cell, or optimise it as a task file: davinci tasks new"
_CONSTANTS = (type(None), bool, int, float, complex, str, bytes)
_LARGEST_CONSTANT = 4000  # characters
_LARGEST_SOURCES = 30000  # characters: of what packages define and a task imports


def _text_of(kind: Any) -> str:
    """As written, at the left margin. What inspect does, and for classes of ``__main__``, a notebook or a test, too."""
    if isinstance(kind, type):
        for member in vars(kind).values():
            function = inspect.unwrap(member) if callable(member) else getattr(member, "__func__", None) or getattr(member, "fget", None)
            code: Any = getattr(function, "__code__", None)
            if code is None or getattr(function, "__module__", None) != kind.__module__ or \
                    not getattr(function, "__qualname__", "").startswith(kind.__qualname__ + "."):
                continue
            text = "".join(linecache.getlines(code.co_filename))
            try:
                found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and node.name == kind.__name__
                         and node.lineno <= code.co_firstlineno <= (node.end_lineno or 0)]
            except SyntaxError:
                continue
            if found:
                node = found[-1]
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                return textwrap.dedent("".join(text.splitlines(keepends=True)[first - 1:node.end_lineno]))
    if isinstance(kind, type) and kind.__bases__ == (tuple,) and hasattr(kind, "_fields"):  # of collections.namedtuple
        return f"{kind.__name__} = __import__('collections').namedtuple({kind.__name__!r}, {kind._fields!r})\n"
    try:
        return textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        raise NotReproducible(f"there is no source of {describe(kind)}{_REMEDY}") from None


def describe(kind: Any) -> str:
    what = "class" if isinstance(kind, type) else "function"
    return f"{what} {getattr(kind, '__module__', '?')}.{getattr(kind, '__qualname__', kind)}"


def is_installed(kind: Any) -> bool:
    """Does its code lie in the standard library or in site-packages?"""
    module = sys.modules.get(str(getattr(kind, "__module__", None)))
    if module is None:
        return False
    if getattr(module, "__file__", None) is None:
        return module.__name__ in sys.builtin_module_names
    file = inspect.getfile(module)
    paths = sysconfig.get_paths()
    return any(file.startswith(paths[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib")) or \
        "site-packages" in file or "dist-packages" in file


def is_importable(kind: Any) -> bool:
    """Is it of an installed package, and can any process that has the package import it by its name? Then no source of it is needed."""
    value: Any = sys.modules.get(str(getattr(kind, "__module__", None)))
    for part in str(getattr(kind, "__qualname__", "")).split("."):
        value = getattr(value, part, None)
    return value is kind and is_installed(kind)


def package_sources(kinds: Iterable[Any]) -> str:
    """Comments with the source of classes and functions of installed packages, torch's left out, and of the functions that they call in their
    own module: who reads the task sees what it computes."""
    found: dict[str, str] = {}
    waiting = [kind for kind in kinds if is_importable(kind)]
    while waiting:
        kind = waiting.pop(0)
        name = f"{kind.__module__}.{kind.__qualname__}"
        if kind.__module__.partition(".")[0] in ("torch", "builtins", *sys.stdlib_module_names) or name in found:
            continue
        try:
            text = _text_of(kind).rstrip()
        except NotReproducible:
            continue
        if sum(map(len, found.values())) + len(text) > _LARGEST_SOURCES:
            continue
        found[name] = text
        scope = vars(sys.modules[kind.__module__])
        waiting += [value for value in map(scope.get, _used(ast.parse(text))) if isinstance(value, types.FunctionType) and is_importable(value)]
    parts = [f"# {name}, as installed:\n" + "\n".join(f"#     {line}".rstrip() for line in text.splitlines()) for name, text in found.items()]
    return "".join(f"\n\n{part}\n" for part in parts)


def _importable(value: Any) -> str | None:
    """``from module import name`` for what can be had that way."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if module and name and "." not in name and getattr(sys.modules.get(module), name, None) is value and module != "__main__":
        return f"from {module} import {name}"
    short = str(getattr(value, "__name__", ""))
    for place in ("torch", "torch.nn.functional", "math"):
        if getattr(sys.modules.get(place), short, None) is value:
            return f"from {place} import {short}"
    return None


def _import_of_object(name: str, value: Any) -> str | None:
    """The same for a value that an installed package keeps under this name: a table of functions, say."""
    places = [module for module in list(sys.modules.values()) if isinstance(module, types.ModuleType) and vars(module).get(name) is value]
    places = [module for module in places if module.__name__ != "__main__" and is_installed(types.SimpleNamespace(__module__=module.__name__))]
    return f"from {min((module.__name__ for module in places), key=len)} import {name}" if places else None


def constant(value: Any) -> str | None:
    """Python that makes the value again; None where it is not made of plain ones."""
    if type(value) in _CONSTANTS:
        if isinstance(value, float) and not math.isfinite(value):
            return f"float({str(value)!r})"
        return repr(value)
    if isinstance(value, (torch.dtype, torch.device)):
        return f"torch.{value!r}" if isinstance(value, torch.device) else repr(value)
    if isinstance(value, torch.Size):
        return f"torch.Size({list(value)})"
    if type(value) in (list, tuple, set):
        parts = [constant(v) for v in value]
        if None in parts:
            return None
        inner = ", ".join(map(str, parts))
        if type(value) is set:
            return f"{{{inner}}}" if parts else "set()"
        return f"[{inner}]" if type(value) is list else f"({inner}{',' if len(parts) == 1 else ''})"
    if type(value) is dict:
        items = [(constant(k), constant(v)) for k, v in value.items()]
        return None if any(None in item for item in items) else "{" + ", ".join(f"{k}: {v}" for k, v in items) + "}"
    return None


class Collector:
    """Text of classes and functions, each behind what it needs when it is defined. ``names``: {id of a class or function: its name here}."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.tensors: dict[str, torch.Tensor] = {}  # that the code names; their values go beside the task
        self._imports: dict[str, str] = {}  # by the name they bind
        self._parts: list[str] = []
        self._taken: dict[str, Any] = {}
        self._kept: list[Any] = []  # so that no id comes again

    def text(self) -> str:
        imports = sorted({"import torch", *self._imports.values()}, key=lambda line: (line.startswith("from"), line))
        return "\n".join(["from __future__ import annotations", "", *imports, "", *self._parts])

    def add(self, kind: Any, name: str | None = None) -> str:
        """Its text, and that of all it refers to. Returns its name."""
        if id(kind) in self.names:
            return self.names[id(kind)]
        if not isinstance(kind, (type, types.FunctionType)):
            raise NotReproducible(f"{describe(kind)} is no Python class or function{_REMEDY}")
        if kind.__name__ == "<lambda>":
            raise NotReproducible(f"a lambda has no source of its own{_REMEDY}")
        own = name or kind.__name__
        self._claim(own, kind)
        self.names[id(kind)] = own
        self._kept.append(kind)
        try:
            text = self._with_what_it_uses(kind, own)
        except NotReproducible:
            del self.names[id(kind)], self._taken[own]  # its user may do without it
            raise
        self._parts += ["", text.rstrip(), ""]
        return own

    def _with_what_it_uses(self, kind: Any, own: str) -> str:
        """Its text; what that refers to is in the file then."""
        text = _text_of(kind)
        tree = ast.parse(text)
        scope = _Scope(kind)
        # A module's state is restored, so its constructor never runs: what it alone refers to may be missing.
        needed = _used(_without_constructor(tree) if isinstance(kind, type) and issubclass(kind, torch.nn.Module) else tree)
        for used in _used(tree):
            if used == own or used == kind.__name__:
                continue
            found, value = scope.find(used)
            if not found:
                continue
            try:
                self._refer(used, value, describe(kind))
            except NotReproducible:
                if used in needed:
                    raise
        return text

    def import_from(self, module: str, name: str, bound: str | None = None) -> str:
        """Imports a name, under another one where the file has it already. Returns the one to use."""
        value = getattr(importlib.import_module(module), name)
        bound = bound or (name if self._taken.get(name, value) is value else f"{name}_of_{module.rpartition('.')[2]}")
        self._claim(bound, value)
        self._imports[bound] = f"from {module} import {name}" + (f" as {bound}" if bound != name else "")
        return bound

    def import_package(self, module: str) -> None:
        """What the state refers to is imported by name; the text names its package, so that the sandbox shows it."""
        top = module.partition(".")[0]
        if top not in ("torch", "builtins", *sys.stdlib_module_names) and self._taken.get(top) is None:
            self._imports.setdefault(top, f"import {top}")

    def _claim(self, name: str, value: Any) -> bool:
        """Whether the name is new; another value of the same name cannot be in one file."""
        if name in self._taken:
            if self._taken[name] is not value and not (constant(value) is not None and self._taken[name] == value):
                raise NotReproducible(f"two different things are called {name}: {self._taken[name]!r} and {value!r}; rename one of them")
            return False
        self._taken[name] = value
        return True

    def _refer(self, name: str, value: Any, user: str) -> None:
        if id(value) in self.names and self.names[id(value)] == name:
            return
        if isinstance(value, types.ModuleType):
            if self._claim(name, value):
                if value.__name__ == "__main__":
                    raise NotReproducible(f"{user} uses the module __main__ itself{_REMEDY}")
                self._imports[name] = _import_of(value.__name__, name)
            return
        literal = constant(value)
        if literal is not None and len(literal) <= _LARGEST_CONSTANT:
            if self._claim(name, value):
                self._parts.append(f"{name} = {literal}")
            return
        if isinstance(value, (type, types.FunctionType)) and not is_installed(value) and getattr(value, "__name__", "") != "<lambda>":
            made = self.add(value)
            if made != name and self._claim(name, value):
                self._parts.append(f"{name} = {made}")
            return
        if isinstance(value, logging.Logger):
            if self._claim(name, value):
                self._imports["logging"] = "import logging"
                self._parts.append(f"{name} = logging.getLogger({value.name!r})")
            return
        line = _importable(value) or _import_of_object(name, value)
        if line is not None:
            if self._claim(name, value):
                bound = line.rpartition(" ")[2]
                self._imports[name] = line if bound == name else f"{line} as {name}"
            return
        if isinstance(value, torch.Tensor):
            if self._claim(name, value):
                self.tensors[name] = value
                self.import_from("davinci_worker", "live", "_live")
                self._parts.append(f"{name} = _live.tensor(__file__, {name!r})")
            return
        raise NotReproducible(f"{user} uses {name}, a {type(value).__module__}.{type(value).__qualname__}, which cannot be written down as source"
                              "; make it an argument, a constant or an attribute of plain values, or define it in a file that the task imports")


def _import_of(module: str, name: str) -> str:
    if module == name:
        return f"import {module}"
    parent, _, last = module.rpartition(".")
    if parent and last == name:
        return f"from {parent} import {last}"
    return f"import {module} as {name}"


def _without_constructor(tree: ast.Module) -> ast.Module:
    kept = ast.parse(ast.unparse(tree))
    for node in kept.body:
        if isinstance(node, ast.ClassDef):
            node.body = [part for part in node.body if not (isinstance(part, ast.FunctionDef) and part.name == "__init__")]
    return kept


def _outer_names(table: symtable.SymbolTable) -> set[str]:
    """Names that the text reads and does not bind itself where it reads them."""
    names = {symbol.get_name() for symbol in table.get_symbols()
             if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global())}
    return names.union(*map(_outer_names, table.get_children()))


def _used(tree: ast.AST) -> list[str]:
    """Names that are read from outside, annotations left out, in the order in which they appear: no arguments and no local variables."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if annotation is not None:
                skipped.update(id(part) for part in ast.walk(annotation))
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in skipped)
    outer = _outer_names(symtable.symtable(ast.unparse(tree), "source", "exec"))
    return [name for name in dict.fromkeys(names) if name in outer]


class _Scope:
    """Globals and closure of a class or function."""

    def __init__(self, kind: Any) -> None:
        self._globals: dict[str, Any] = {}
        self._cells: dict[str, Any] = {}
        for function in _functions(kind):
            self._globals.update(function.__globals__)
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
                try:
                    self._cells[name] = cell.cell_contents
                except ValueError:
                    continue
        module = sys.modules.get(getattr(kind, "__module__", ""))
        if module is not None:
            for name, value in vars(module).items():
                self._globals.setdefault(name, value)
        if isinstance(kind, type):  # bases of a class in a function are names of that function, which no cell keeps
            for base in kind.__mro__[1:]:
                self._cells.setdefault(base.__name__, base)

    def find(self, name: str) -> tuple[bool, Any]:
        for scope in (self._cells, self._globals):
            if name in scope and name != "__class__":
                return True, scope[name]
        return False, getattr(builtins, name, None)


def _functions(kind: Any) -> Iterable[types.FunctionType]:
    if isinstance(kind, types.FunctionType):
        yield inspect.unwrap(kind)
        return
    for member in vars(kind).values():
        for part in (member, getattr(member, "__func__", None), getattr(member, "fget", None), getattr(member, "func", None)):
            if isinstance(part, functools.partial):
                part = part.func
            if isinstance(part, types.FunctionType):
                yield inspect.unwrap(part)
