"""Where the code of installed packages lies, for those whose code lies outside of the interpreter's own folders: editable installs (a
.pth file, or an import hook of the build tool) and site-packages of another environment. Runs in the fork server's children before any
user code, and executes none: top-level names are looked up, nothing is imported."""

import functools
import importlib.util
import os
import re
import sys

_IMPORT = re.compile(r"^\s*(?:import|from)\s+([A-Za-z_][\w.]*(?:\s*(?:as\s+\w+\s*)?,\s*[A-Za-z_][\w.]*)*)", re.MULTILINE)
_MOST_FILES = 4000
_MOST_BYTES = 1 << 20


def readable(names):
    """Files and folders that a sandbox shows read-only, so that ``names``, top-level modules, can be imported, and what they import."""
    return [*_site_folders(), *_closure(tuple(sorted(names)))]


@functools.cache
def _site_folders():
    """Folders of packages that a .pth file adds to the path, as virtual environments on top of another do."""
    return [folder for folder in sys.path
            if os.path.basename(folder) in ("site-packages", "dist-packages") and not _is_own(folder) and os.path.isdir(folder)]


def _is_own(path):
    path = os.path.realpath(path)
    return any(path == root or path.startswith(root + os.sep)
               for root in map(os.path.realpath, (sys.prefix, sys.base_prefix, "/usr")))


@functools.cache
def _closure(names):
    found, waiting, seen = [], list(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen or name in sys.builtin_module_names or name in sys.stdlib_module_names:
            continue
        seen.add(name)
        for place in _places(name):
            if _is_own(place) or any(place.startswith(folder + os.sep) for folder in _site_folders()) or place in found:
                continue
            found.append(place)
            waiting += _imported_by(place)
    return found


def _places(name):
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return []
    if spec is None:
        return []
    places = list(spec.submodule_search_locations or ()) or [spec.origin]
    return [os.path.realpath(place) for place in places if place and os.path.exists(place)]


def _imported_by(place):
    """Top-level names that the Python files of a package import."""
    files = [place] if os.path.isfile(place) else [
        os.path.join(folder, file) for folder, _, files in os.walk(place) for file in files if file.endswith(".py")]
    names = set()
    for path in files[:_MOST_FILES]:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(_MOST_BYTES)
        except OSError:
            continue
        for names_of_line in _IMPORT.findall(text):
            names.update(part.split()[0].partition(".")[0] for part in names_of_line.split(","))
    return names
