"""Loads task and candidate files as modules, and finds the callable they promise."""

import difflib
import gc
import importlib.machinery
import importlib.util
import keyword
import linecache
import os
import sys

import torch


_MOST_KEPT_BYTES = 1 << 30  # of a device, by a process between two candidates


class SourceError(Exception):
    """The file does not keep its contract; ``kind`` is an outcome name of the evaluation schema."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def sidecar(path):
    """The .toml next to a task file."""
    return os.path.splitext(path)[0] + ".toml"


def readable(error):
    """The same exception, or one in its place where asking for its text raises."""
    try:
        str(error)
    except BaseException as inner:  # noqa: BLE001  it is user code
        return RuntimeError(f"{type(error).__name__}, whose __str__ raises {type(inner).__name__}").with_traceback(error.__traceback__)
    return error


# Of torch.autograd, where nothing was recorded.
_NOT_RECORDED = ("does not require grad", "does not have a grad_fn", "appears to not have been used in the graph")
_NO_GPU = ("not compiled with CUDA enabled", "Found no NVIDIA driver", "No CUDA GPUs are available", "Cannot get CUDA generator")


def remedy(error):
    """What to write instead, for exceptions of torch that a judged forward meets and a plain script does not; else nothing."""
    text = str(error)
    if isinstance(error, RuntimeError) and any(part in text for part in _NOT_RECORDED):
        return ("; forward runs under torch.no_grad(): put what differentiates under with torch.enable_grad():, and let it begin with "
                "x = x.detach().requires_grad_()")
    if isinstance(error, (RuntimeError, AssertionError)) and any(part in text for part in _NO_GPU):
        return ("; leave the device to the judge, which puts inputs and weights on the target: no default device, and in forward device=x.device in place "
                "of device=\"cuda\" and .cuda()")
    return ""


def did_you_mean(name, known):
    nearest = {other.lower(): other for other in known if not other.startswith("_")}
    found = difflib.get_close_matches(name.lower(), nearest, 1)
    return f" (did you mean {nearest[found[0]]}?)" if found else ""


def _is_prose(text, line):
    """Does a file fail to compile in ``line`` because it holds an answer, not only the code of one?"""
    lines = [part.strip() for part in text.splitlines()]
    wrong = lines[line - 1] if line <= len(lines) else ""
    if wrong.startswith(("```", "<think>")):
        return True
    words = wrong.split()
    first = not any(part and not part.startswith("#") for part in lines[:line - 1])
    return first and len(words) > 1 and words[0] not in keyword.kwlist and words[1].isalpha()


class _Unlisted:
    """Finds modules in folders whose names the sandbox does not list: it shows the files that are imported and nothing else."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        folders, last = sys.path if path is None else path, name.rpartition(".")[2]
        suffixes = (*importlib.machinery.SOURCE_SUFFIXES, *importlib.machinery.EXTENSION_SUFFIXES)
        for place in (os.path.join(folder, last) for folder in folders if _is_unlisted(folder)):
            for suffix in suffixes:
                if os.path.isfile(os.path.join(place, "__init__" + suffix)):
                    return importlib.util.spec_from_file_location(name, os.path.join(place, "__init__" + suffix), submodule_search_locations=[place])
            for suffix in suffixes:
                if os.path.isfile(place + suffix):
                    return importlib.util.spec_from_file_location(name, place + suffix)
            if os.path.isdir(place):  # a package without __init__.py
                spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
                spec.submodule_search_locations = [place]
                return spec
        return None


def _is_unlisted(folder):
    try:
        os.listdir(folder)
    except PermissionError:
        return True
    except OSError:
        pass
    return False


def import_from(folders):
    """Lets modules of the folders be imported, behind all others: a neighbouring file takes the place of no installed module."""
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    if _Unlisted not in sys.meta_path:
        sys.meta_path.append(_Unlisted)


def load_module(path, name, module_globals=None, text=None, imports=None):
    """Executes ``path`` as module ``name``. ``module_globals`` override the file's sizes afterwards. ``text``: its content,
    where the file itself cannot be seen. ``imports``: {"folders", "package"} of what it imports from outside of the installation."""
    imports = imports or {}
    import_from(imports.get("folders", ()))
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
        remedy = "; the file must hold Python only, no prose and no Markdown" if line and _is_prose(text, line) else ""
        raise SourceError("parse_error", f"{where}: {error.__class__.__name__}: {getattr(error, 'msg', error)}{remedy}") from None
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if imports.get("package"):
        module.__package__ = imports["package"]
    if unseen:
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)  # tracebacks, inspect.getsource
        exec(code, module.__dict__)  # noqa: S102
    else:
        spec.loader.exec_module(module)
    set_globals(module, module_globals)
    return module


def forget_task(snapshot):
    """Ends what the module of a task kept alive; whether the process is then as ``snapshot`` saw it."""
    _drop_module("davinci_task")
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
        torch.cuda.memory.empty_cache()  # torch.cuda's own may be device.keep_freed's
        torch.cuda.reset_peak_memory_stats()
    return snapshot is not None and snapshot.holds()


def forget_candidate(snapshot):
    """(the same of a candidate, whether it has left so much device memory that the process should end). That memory stays with the process,
    for the oracle may have it mapped, and holds a pattern from here on: the next candidate's uninitialised memory must not be an earlier
    one's answer."""
    _drop_module("candidate")
    full = False
    if torch.cuda.is_initialized():
        from davinci_worker import device

        torch.cuda.synchronize()
        full = torch.cuda.memory_reserved() > _MOST_KEPT_BYTES
        if not full:
            device.overwrite_freed()
            torch.cuda.reset_peak_memory_stats()
    return snapshot is not None and snapshot.holds(), full


def _drop_module(name):
    module = sys.modules.pop(name, None)
    if module is not None:
        linecache.cache.pop(module.__file__, None)
    del module
    gc.collect()


def set_globals(module, values):
    for key, value in (values or {}).items():
        if not hasattr(module, key):
            sizes = [name for name, known in vars(module).items() if name[0] != "_" and isinstance(known, (bool, int, float, str, list, tuple))]
            raise SourceError("load_error", f"{sidecar(module.__file__)}: {key} is set, and {module.__file__} has no module global of that "
                              f"name{did_you_mean(key, sizes) or '; it has ' + ', '.join(sizes[:8]) if sizes else ''}")
        setattr(module, key, tuple(value) if isinstance(getattr(module, key), tuple) else value)


class Function(torch.nn.Module):
    """A functional task seen as a module without state."""

    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def callee(model):
    """What a call of the model runs, with its own signature."""
    return model._function if isinstance(model, Function) else model.forward


def _resolve_op(path, module):
    """``torch.nn.functional.gelu`` or ``torch.ops.namespace.name``, which the task's .toml names, to the callable. A task may register the
    operator itself, so its module has been loaded before."""
    where = f"op = \"{path}\" in {sidecar(module.__file__)}"
    value = torch
    parts = path.split(".")
    if parts[0] != "torch":
        raise SourceError("load_error", f"{where} must start with torch.")
    for part in parts[1:]:
        if not hasattr(value, part):
            raise SourceError("load_error", f"{where}: this torch has no {part} there{did_you_mean(part, dir(value))}")
        value = getattr(value, part)
    if not callable(value):
        raise SourceError("load_error", f"{where} is no function; it is a {type(value).__name__}")
    return value


def factory(module, entry, function=None, op_path=None):
    """A callable that builds the module under test: ``class entry`` or, for functional tasks, ``def function`` or an operator of torch's."""
    if op_path:
        operator = _resolve_op(op_path, module)
        return lambda *unused: Function(operator)
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
    remedy = "define it with the reference's signature"
    if module.__name__ == "davinci_task":
        remedy = f"define it in the module itself (not under if __name__ == \"__main__\"), or name another in {sidecar(module.__file__)}"
    raise SourceError("parse_error", f"{module.__file__}: {wanted} is missing; {remedy}")
