"""Executes examples/live_module.ipynb, cell by cell as a notebook does, and looks at what its cells show.

    python tests/everyday/notebook_test.py --davinci build/dev/apps/davinci/davinci [--package python]     (a Python with torch)

Without --package the installed davinci is used. A notebook's kernel brings dozens of packages; what matters here is that classes live in
cells of ``__main__``, that the last value of a cell is shown by its _repr_html_, and that each cell works.
"""
import argparse
import ast
import json
import linecache
import os
import pathlib
import shutil
import sys
import tempfile

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)
from until_found import ATTEMPTS

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples" / "live_module.ipynb"


def run_cell(number, text, scope):
    """What the last expression shows; None where there is none."""
    name = f"<cell {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # as notebooks do, for tracebacks and inspect
    tree = ast.parse(text, name)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), scope)
    value = eval(compile(last, name, "eval"), scope) if last else None
    if value is None:
        return None
    return value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci")
    parser.add_argument("--package")
    known = parser.parse_args()
    if known.davinci:
        os.environ["DAVINCI_PROGRAM"] = str(pathlib.Path(known.davinci).resolve())
    if known.package:
        sys.path.insert(0, str(pathlib.Path(known.package).resolve()))
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    for attempt in range(ATTEMPTS):
        if execute(cells, must=attempt == ATTEMPTS - 1):
            break


def execute(cells, must):
    """Whether a kernel was found, and all that follows from it; ``must``: it has to be."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(NOTEBOOK.with_name("live_module_replies.jsonl"), folder)
        os.chdir(folder)
        scope = sys.modules["__main__"].__dict__
        scope.pop("result", None)
        shown = []
        for number, cell in enumerate(cells):
            shown.append(run_cell(number, "".join(cell["source"]), scope))
            if "result" in scope and not scope["result"].found:
                os.chdir("/")
                assert not must, scope["result"].document["tasks"]
                return False
        result = scope["result"]
        assert result.speedup.low > 1, result
        assert any(text and "<table>" in text for text in shown), shown
        assert shown[-1].startswith("<iframe"), shown[-1][:100]
        assert scope["model"][1] is result.module
        where = pathlib.Path(sys.modules["davinci"].__file__).parent
        print(f"{len(cells)} cells, {result.speedup} over eager; davinci of {where}, program {sys.modules['davinci._program'].program()}")
        os.chdir("/")
        return True


if __name__ == "__main__":
    main()
