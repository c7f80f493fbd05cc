"""What a candidate keeps of the file of a task."""

import ast

_DRAWING = frozenset(("get_inputs", "get_init_inputs"))


def source_of(text, sizes):
    """{"future", "text", "names"}: what a candidate keeps of a task's file, which is all but what draws inputs; ``sizes`` are set behind it.
    ``names`` are those that the text binds."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    drop, future, names = set(), [], set()
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        span = range(first - 1, node.end_lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            future += ["".join(lines[i] for i in span)]
            drop.update(span)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in _DRAWING or _is_main(node):
            drop.update(span)
        else:
            names.update(_bound_names(node))
    kept = "".join(line for i, line in enumerate(lines) if i not in drop).strip("\n") + "\n"
    kept += "\n" * bool(sizes) + "".join(f"{name} = {value!r}\n" for name, value in sizes.items())
    while "\n\n\n\n" in kept:
        kept = kept.replace("\n\n\n\n", "\n\n\n")
    return {"future": "".join(future), "text": kept, "names": sorted(names)}


def reads(text, names):
    """Those of ``names`` that a task's file reads elsewhere than where it draws inputs."""
    found = set()
    for node in ast.parse(text).body:
        if not (isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in _DRAWING or _is_main(node)):
            found.update(inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load))
    return [name for name in names if name in found]


def _is_main(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.test.left, ast.Name) and node.test.left.id == "__name__"


def _bound_names(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
