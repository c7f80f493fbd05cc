"""Makes a module of a file that holds nothing but kernels, for ``davinci judge -c kernel.cpp``.

How they are called stands in comments that begin with "davinci:", Python statements that together are the body of forward:

    // davinci: out = torch.empty_like(x)
    // davinci: softmax(x, out, x.shape[0], x.shape[1])              C++: an extern "C" function
    // davinci: softmax[x.shape[0], 256](x, out, x.shape[1])         CUDA: [grid, block], and shared=BYTES
    #  davinci: softmax[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024)  Triton

They see the arguments of the reference's forward, ``self`` with its parameters, torch, and triton. ``out`` is returned unless they return
something. Without such comments one function is called as its parameters suggest: const pointers are the tensor arguments and then the
parameters and buffers in order, another pointer is an output like the first argument, one integer is the number of elements, several are
the sizes of the first argument, and a floating number is an attribute of the module by that name.
"""

import inspect
import re
import textwrap

import torch

import davinci_runtime

_DIRECTIVE = re.compile(r"^\s*(?://|#)\s*davinci: ?(.*)$", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_GLOBAL = re.compile(r"(extern\s+\"C\"\s+)?__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)")
_EXTERN = re.compile(r"extern\s+\"C\"\s+(?:__attribute__\s*\(\([^)]*\)\)\s*)?([\w\s*]+?)\b(\w+)\s*\(([^)]*)\)\s*\{")
_BLOCK = re.compile(r"extern\s+\"C\"\s*\{")
_TYPES = {"float": "f32", "double": "f64", "bool": "bool", "int": "i32", "int32_t": "i32", "unsigned": "u32", "uint32_t": "u32",
          "int64_t": "i64", "long": "i64", "ptrdiff_t": "i64", "uint64_t": "u64", "size_t": "u64"}
_THREADS = 256


def _parameters(name, text):
    """[(kind, name, is const)] of a parameter list in C."""
    found = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        if part == "void":
            continue
        words = re.sub(r"__restrict__|restrict|[&*]", " ", part).split()
        own = words[-1] if len(words) > 1 else ""
        if "*" in part:
            found.append(("ptr", own, "const" in words))
            continue
        kinds = [w for w in words[:-1] if w not in ("const", "std::", "signed")]
        kind = _TYPES.get("long" if "long" in kinds else kinds[-1].removeprefix("std::") if kinds else "")
        if kind is None:
            raise ValueError(f"{name}(): parameter \"{part}\" is of no type that can be passed; use pointers, int, int64_t, float, double, bool")
        found.append((kind, own, True))
    return found


def _functions(language, source):
    """{name: parameters} of what can be called."""
    text = _COMMENT.sub(" ", source)
    if language == "cuda":
        return {name: _parameters(name, parameters) for _, name, parameters in _GLOBAL.findall(text)}
    found = {name: (_parameters(name, parameters), result) for result, name, parameters in _EXTERN.findall(text)}
    block = _BLOCK.search(text)
    if block:
        for result, name, parameters in re.findall(r"^([\w][\w\s*]*?)\b(\w+)\s*\(([^)]*)\)\s*\{", text[block.end():], re.MULTILINE):
            if not result.strip().startswith("static"):
                found[name] = (_parameters(name, parameters), result)
    return {name: parameters for name, (parameters, _) in found.items()}


def _compiled(language, source, functions):
    """{name: callable} of a C++ or CUDA source."""
    if language == "cuda":
        source = _GLOBAL.sub(lambda m: m[0] if m[1] else 'extern "C" ' + m[0], source)
        module = davinci_runtime.cuda_module(source)
    else:
        module = davinci_runtime.cpp_module(source)
    return {name: module.get(name, " ".join(kind for kind, _, _ in parameters)) for name, parameters in functions.items()}


def _guessed(language, functions):
    """The body of forward without directives."""
    if len(functions) != 1:
        raise ValueError(f"the file defines {', '.join(functions) or 'no function'}; say how they are called in comments: // davinci: out = "
                         "torch.empty_like(x); then // davinci: name(x, out, x.numel())")
    (name, parameters), = functions.items()
    integers = sum(kind in ("i32", "i64", "u32", "u64") for kind, _, _ in parameters)
    words, inputs, sizes, lines = [], 0, 0, ["_tensors = _in_order(self, _arguments)", "_first = _tensors[0]"]
    outputs = []
    for kind, own, const in parameters:
        if kind == "ptr" and const:
            words.append(f"_tensors[{inputs}]")
            inputs += 1
        elif kind == "ptr":
            outputs.append(f"_out{len(outputs)}")
            lines.append(f"{outputs[-1]} = torch.empty_like(_first)")
            words.append(outputs[-1])
        elif kind in ("f32", "f64", "bool"):
            words.append(f"self.{own}")
        else:
            words.append("_first.numel()" if integers == 1 else f"_first.shape[{sizes}]")
            sizes += 1
    if not outputs:
        raise ValueError(f"{name}() writes to no pointer (all are const); say how it is called in comments: // davinci: …")
    launch = f"[(_first.numel() + {_THREADS - 1}) // {_THREADS}, {_THREADS}]" if language == "cuda" else ""
    lines.append(f"{name}{launch}({', '.join(words)})")
    lines.append(f"return {outputs[0] if len(outputs) == 1 else ', '.join(outputs)}")
    return lines


def _in_order(module, arguments):
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    state = [*module.parameters(), *module.buffers()] if isinstance(module, torch.nn.Module) else []
    return [t.contiguous() for t in (*tensors, *state)]


class _Name:
    """Shows as a name in a signature."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return self._name


def module_of(reference, language, source, scope=None):
    """A class in the place of ``reference``, a module's class or a function, that calls the kernels of ``source``. ``scope``: of Triton kernels,
    the globals of the file they are in."""
    is_class = isinstance(reference, type)
    signature = inspect.signature(reference.forward if is_class else reference)
    names = [n for n in signature.parameters if n != "self"]
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
        raise ValueError("the reference's forward takes *args or **kwargs; write the module yourself")
    header, defaults = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)], {}
    for name in names:
        own = signature.parameters[name]
        if own.default is not own.empty:
            defaults[f"_default_{name}"] = own.default
        header.append(own.replace(annotation=own.empty, default=own.empty if own.default is own.empty else _Name(f"_default_{name}")))
    body = [line for line in _DIRECTIVE.findall(source) if line.strip()]
    if language == "triton":
        kernels = {name: value for name, value in scope.items() if type(value).__name__ in ("JITFunction", "Autotuner", "Heuristics")}
        if not body:
            raise ValueError("say in comments how the kernels are called: # davinci: out = torch.empty_like(x); then "
                             f"# davinci: {next(iter(kernels), 'kernel')}[(grid,)](x, out, x.numel(), BLOCK=1024)")
    else:
        functions = _functions(language, source)
        body = body or _guessed(language, functions)
        kernels = _compiled(language, source, functions)
    text = "\n".join(body)
    if not re.search(r"\breturn\b", text):
        text += "\nreturn out"
    text = f"def forward{inspect.Signature(header)}:\n    _arguments = ({''.join(n + ', ' for n in names)})\n" + textwrap.indent(text, "    ")
    place = dict(scope or {}, **defaults, torch=torch, _in_order=_in_order, **kernels)
    if language == "triton":
        import triton

        place["triton"] = triton
    exec(compile(text, "<davinci: comments>", "exec"), place)  # noqa: S102
    forward = place["forward"]
    base = reference if is_class else torch.nn.Module
    return type("Harness", (base,), {"forward": forward})
