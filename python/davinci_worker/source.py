"""Loads task and candidate files as modules, and finds the callable they promise."""

import gc
import importlib.util
import linecache
import sys

import torch


class SourceError(Exception):
    """The file does not keep its contract; ``kind`` is an outcome name of the evaluation schema."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def load_module(path, name, module_globals=None, text=None):
    """Executes ``path`` as module ``name``. ``module_globals`` override the file's sizes afterwards. ``text``: its content,
    where the file itself cannot be seen."""
    unseen = text is not None
    if not unseen:
        with open(path, "rb") as handle:
            try:
                text = importlib.util.decode_source(handle.read())  # a coding cookie counts
            except (UnicodeDecodeError, SyntaxError) as error:
                raise SourceError("parse_error", f"{path}: {error}; save the file as UTF-8") from None
    text = text.removeprefix("\ufeff")
    try:
        code = compile(text, path, "exec")
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path}:{line}" if line else path
        raise SourceError("parse_error", f"{where}: {error.__class__.__name__}: {getattr(error, 'msg', error)}") from None
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if unseen:
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)  # tracebacks, inspect.getsource
        exec(code, module.__dict__)  # noqa: S102
    else:
        spec.loader.exec_module(module)
    set_globals(module, module_globals)
    return module


def forget_task(snapshot):
    """Ends what the module of a task kept alive; whether the process is then as ``snapshot`` saw it."""
    module = sys.modules.pop("davinci_task", None)
    if module is not None:
        linecache.cache.pop(module.__file__, None)
    del module
    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return snapshot is not None and snapshot.holds()


def set_globals(module, values):
    for key, value in (values or {}).items():
        if not hasattr(module, key):
            raise SourceError("load_error", f"{module.__file__}: no module global named {key}, which the task's sizes set")
        setattr(module, key, tuple(value) if isinstance(getattr(module, key), tuple) else value)


class Function(torch.nn.Module):
    """A functional task seen as a module without state."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def resolve_op(path):
    """``torch.nn.functional.gelu`` or ``torch.ops.namespace.name`` to the callable."""
    value = torch
    parts = path.split(".")
    if parts[0] != "torch":
        raise SourceError("load_error", f"op = \"{path}\" must start with torch.")
    for part in parts[1:]:
        if not hasattr(value, part):
            raise SourceError("load_error", f"op = \"{path}\": this torch has no {part} there")
        value = getattr(value, part)
    return value


def factory(module, entry, function=None):
    """A callable that builds the module under test: ``class entry`` or, for functional tasks, ``def function``."""
    if entry and hasattr(module, entry):
        made = getattr(module, entry)
        if not callable(made) or isinstance(made, torch.nn.Module):
            raise SourceError("load_error", f"{module.__file__}: {entry} is {type(made).__name__}; it must be a class derived from "
                              "torch.nn.Module")
        return made
    if function and hasattr(module, function):
        target = getattr(module, function)
        return lambda *unused: Function(target)
    wanted = " or ".join([f"class {entry}"] * bool(entry) + [f"def {function}"] * bool(function))
    raise SourceError("parse_error", f"{module.__file__}: {wanted} is missing; define it with the reference's signature")
