"""Numbers of the sources that may only fall: large classes, long functions, cycles of files, long lines.

    python3 tools/check_numbers.py            compares with tools/house_numbers.toml
    python3 tools/check_numbers.py --list     names what is counted
    python3 tools/check_numbers.py --write    stores the numbers, where none of them rose

A number that rises fails; where one fell, the check says to store it. C++ is read by its layout, which clang-format fixes: members are
indented by two blanks, bodies end with a brace at their beginning's indentation. Methods that override count at their interface.
"""
import argparse
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORED = "tools/house_numbers.toml"
MOST_METHODS = 20
MOST_METHODS_IN = {"src/davinci/judge/": 12}  # instead, in these folders
MOST_LINES = 100  # of a function
MOST_COLUMNS = 100
MOST_PYTHON_COLUMNS = 160
CODE = ("src/", "apps/", "python/")  # whose classes and functions are counted
CPP_FOLDERS = ("src", "apps", "tests", "bench")
PYTHON_FOLDERS = ("python", "tests", "tools", "bench")
_NO_FUNCTION = re.compile(r"^\s*(namespace|class|struct|enum|union|if|for|while|switch|do|else|try|catch|return|case|using|extern \")\b")
_LAMBDA = re.compile(r"(?<!operator)\[[^\[\]]*\]\s*[({]")
_NO_METHOD = re.compile(r"^\s*(//|#|using\b|typedef\b|friend\b|static_assert|return\b|public:|private:|protected:|[A-Z_]+\(|DAVINCI_)")


def files(root, folders, endings):
    """Of a checkout, without data: kernels and tasks are inputs."""
    skipped = ("tests/import/", "tests/exploits/", "tests/honest/", "tests/everyday/kernels", "tests/compile_only/", "tests/integration/kernels/")
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in endings and not name.startswith(skipped) and "/corpus/" not in name.replace("tests/corpus/", ""):
                yield name, path.read_text(errors="replace")


def cpp_blocks(text, opening):
    """(first line, its indentation, lines) of every block that begins with a line that fits and ends with a brace at its indentation."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        found = opening(lines, number)
        if not found:
            continue
        indent = len(line) - len(line.lstrip())
        for end in range(found, len(lines)):
            if re.match(rf"^ {{{indent}}}}}", lines[end]):
                yield number, indent, lines[number:end + 1]
                break


def class_opening(lines, number):
    if not re.match(r"^\s*(template <.*>\s*)?(class|struct) (alignas\(\w+\) )?\w+[^;()]*\{\s*(//.*)?$", lines[number]):
        return 0
    return number + 1


def function_opening(lines, number):
    """Index behind the line that opens the body; 0: no function begins here."""
    line = lines[number]
    indent = len(line) - len(line.lstrip())
    if indent > 4 or not re.match(r"^\s*[\w:~<]", line) or _NO_FUNCTION.match(line):
        return 0
    for at in range(number, min(number + 12, len(lines))):
        text = lines[at].split("//")[0].rstrip()
        if at > number and text and len(text) - len(text.lstrip()) <= indent and not text.lstrip().startswith((")", ":")):
            return 0
        if text.endswith(";") or text.endswith("}"):
            return 0
        if text.endswith("{"):
            statement = " ".join(lines[number:at + 1])
            if _LAMBDA.search(statement):
                return 0  # a call whose argument has a body
            return at + 1 if "(" in statement and not re.search(r"[^=!<>]=[^=]", statement.split("(")[0]) else 0
    return 0


def methods(block, indent):
    """Functions that a class's block declares or defines, overloads each."""
    count, statement = 0, ""
    member = " " * (indent + 2)
    for line in block[1:-1]:
        line = re.sub(r" DAVINCI_(GUARDED_BY|REQUIRES)\(\w+\)", "", line)
        if not statement and (not line.startswith(member) or line[len(member):len(member) + 1] in (" ", "}", ")", "") or _NO_METHOD.match(line)):
            continue
        statement += " " + line.split("//")[0].strip()
        if re.search(r"[;{}]\s*$", statement):
            head = statement.split("(")[0]
            is_function = "(" in statement and "=" not in re.sub("operator==?", "", head) and "std::function<" not in head and not head.strip().endswith("{")
            count += is_function and not re.search(r"\boverride\b", statement)
            statement = ""
    return count


def python_nodes(text):
    for node in ast.walk(ast.parse(text)):
        yield node


def components(edges):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for target in edges.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in on_stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component = []
            while True:
                component.append(stack.pop())
                on_stack.discard(component[-1])
                if component[-1] == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def unit_of(name):
    """A header and its source are one unit; further sources of one header are units of their own."""
    return re.sub(r"\.(h|cc|py)$", "", name)


def cycles(cpp, python):
    edges = {}
    for name, text in cpp:
        if not name.startswith(("src/", "apps/")) or name.endswith("_test.cc"):
            continue
        targets = edges.setdefault(unit_of(name), set())
        for include in re.findall(r'^#include "([^"]+)"', text, re.M):
            place = "src/" + include if include.startswith("davinci/") else name.rsplit("/", 1)[0] + "/" + include
            if unit_of(place) != unit_of(name):
                targets.add(unit_of(place))
    modules = {unit_of(name).removeprefix("python/").replace("/", "."): unit_of(name) for name, _ in python if name.startswith("python/")}
    for name, text in python:
        if not name.startswith("python/"):
            continue
        package = unit_of(name).removeprefix("python/").replace("/", ".").rsplit(".", 1)[0]
        targets = edges.setdefault(unit_of(name), set())
        for node in python_nodes(text):
            wanted = []
            if isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    parent = package.split(".")[:len(package.split(".")) - node.level + 1]
                    base = ".".join(parent + ([base] if base else []))
                wanted = [base] + [f"{base}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            targets |= {modules[one] for one in wanted if one in modules and modules[one] != unit_of(name)}
    return [" <-> ".join(component) for component in components(edges)]


def count(root):
    """name: what is counted, one line each."""
    cpp = list(files(root, CPP_FOLDERS, (".h", ".cc")))
    python = list(files(root, PYTHON_FOLDERS, (".py",)))
    found = {"large_classes": [], "long_functions": [], "cycles_of_files": cycles(cpp, python), "long_lines_cpp": [], "long_lines_python": []}
    for name, text in cpp:
        most_methods = next((most for folder, most in MOST_METHODS_IN.items() if name.startswith(folder)), MOST_METHODS)
        for number, indent, block in cpp_blocks(text, class_opening) if name.startswith(CODE) else ():
            if (size := methods(block, indent)) > most_methods:
                found["large_classes"].append(f"{name}:{number + 1}: {size} methods")
        for number, _, block in cpp_blocks(text, function_opening) if name.startswith(CODE) else ():
            if len(block) > MOST_LINES:
                found["long_functions"].append(f"{name}:{number + 1}: {len(block)} lines")
        found["long_lines_cpp"] += [f"{name}:{number}" for number, line in enumerate(text.split("\n"), 1) if len(line) > MOST_COLUMNS]
    for name, text in python:
        for node in python_nodes(text) if name.startswith(CODE) else ():
            if isinstance(node, ast.ClassDef):
                size = sum(isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) for part in node.body)
                if size > MOST_METHODS:
                    found["large_classes"].append(f"{name}:{node.lineno}: {size} methods")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno + 1 > MOST_LINES:
                found["long_functions"].append(f"{name}:{node.lineno}: {node.end_lineno - node.lineno + 1} lines")
        found["long_lines_python"] += [f"{name}:{number}" for number, line in enumerate(text.split("\n"), 1) if len(line) > MOST_PYTHON_COLUMNS]
    return found


def read(path):
    return {name: int(value) for name, value in re.findall(r"^(\w+) = (\d+)$", path.read_text(), re.M)}


def compared(stored, found):
    """(lines about numbers that rose, lines about those that fell)"""
    rose, fell = [], []
    for name, places in found.items():
        now, before = len(places), stored.get(name, 0)
        if now > before:
            rose.append(f"{name} rose from {before} to {now}; python3 tools/check_numbers.py --list names them: divide what was added")
        elif now < before:
            fell.append(f"{name} fell from {before} to {now}: keep that, python3 tools/check_numbers.py --write")
    return rose, fell


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("root", type=pathlib.Path, nargs="?", default=ROOT)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found = count(options.root)
    stored_path = options.root / STORED
    stored = read(stored_path) if stored_path.exists() else None
    if options.list:
        for name, places in found.items():
            if not name.startswith("long_lines"):
                print(f"{name}: {len(places)}")
                for place in places:
                    print("  " + place)
    if options.write:
        if stored is not None and any(len(places) > stored.get(name, 0) for name, places in found.items()):
            print("a number rose; it is not stored")
        else:
            head = "# Of tools/check_numbers.py, which test house.numbers runs: they may only fall.\n"
            stored_path.write_text(head + "".join(f"{name} = {len(places)}\n" for name, places in found.items()))
            stored = read(stored_path)
    rose, fell = compared(stored or {}, found)
    print("\n".join(rose + fell + [", ".join(f"{name} {len(places)}" for name, places in found.items())]))
    return 1 if rose else 0


if __name__ == "__main__":
    sys.exit(main())
