"""Triton kernels where there is no device. Every launch compiles the kernel with the types and constants of that launch (Triton's own
binder, an explicit target) down to a cubin, and then runs it in Triton's interpreter. The interpreter is normally chosen by an environment
variable before Triton is imported, and then nothing can be compiled; here both are done by the same function object.
"""

import ast
import dataclasses
import functools
import math
import time

import numpy as np
import torch

from davinci_worker import interpreted_memory, interpreted_numbers
from davinci_worker.compile_only_native import refused_grid
from davinci_worker.compile_only_state import LEAST_SHARED_LIMIT_BYTES, MOST_LISTED, SHARED_LIMIT_BYTES, is_on_host, state
from davinci_worker.undecided import NeedsDevice, NotInterpretable, TooSlow, Undecided

_PROBE_PROGRAMS = 4
_MAX_INTERPRETED_BYTES = 1 << 30  # the interpreter copies what a launch is given


class LaunchError(RuntimeError):
    """No device takes this launch."""


class _TargetDriver:
    """What Triton's compiler asks its driver for, with no device behind it."""

    def __init__(self, arch):
        from triton.backends.compiler import GPUTarget

        self._target = GPUTarget("cuda", arch, 32)

    def get_current_target(self):
        return self._target

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_device_interface(self):
        return torch.cuda

    def get_current_stream(self, device):
        return 0

    def get_benchmarker(self):
        raise NeedsDevice("a benchmark of the candidate's own")

    def __getattr__(self, name):
        raise NeedsDevice(f"Triton's driver was asked for {name}")


class _Compiled:
    """What a launch returns: the compiled kernel, which may be launched once more with all of its parameters."""

    def __init__(self, kernel, launch):
        self._kernel, self._launch = kernel, launch

    def __getattr__(self, name):
        return getattr(self._kernel, name)

    def __getitem__(self, grid):
        return lambda *args, stream=None: self._launch(*args, grid=grid)


def _constants(kernel, bound):
    return {name: value if isinstance(value, (bool, int, float, str)) else str(value)
            for name, value in bound.items() if name in kernel}


def _record(jit, kwargs, kernel, warps):
    constants = {jit.arg_names[i] for i in jit.constexprs}
    key = (jit.__name__, str(sorted(_constants(constants, kwargs).items(), key=str)))
    report = state.kernels.get(key)
    if report is None:
        report = {"kernel": jit.__name__, "constants": _constants(constants, kwargs), "warps": warps,
                  "shared_bytes": getattr(kernel.metadata, "shared", 0), "cubin_bytes": len(kernel.asm.get("cubin", b"")),
                  "ptx_bytes": len(kernel.asm.get("ptx", "")), "launches": 0, "programs": 0, "interpreted": 0}
        if len(state.kernels) < MOST_LISTED:
            state.kernels[key] = report
    report["launches"] += 1
    return report


class _Progress:
    """Of the launch that is being interpreted: how long it has taken and which of its programs comes next. Programs of a device come in no
    particular order, so every call of the model has another one: upwards, downwards, mixed."""

    def __init__(self):
        self.programs, self.total, self.started, self.memory, self.report = 0, 0, 0.0, None, {}

    def begin(self, report, sizes, memory):
        self.programs, self.started, self.memory, self.report = 0, time.thread_time(), memory, report
        self._sizes = (*sizes, 1, 1)[:3]
        self.total = math.prod(self._sizes)
        self._step = int(self.total * 0.618) | 1
        while math.gcd(self._step, self.total) > 1:
            self._step += 2

    def end(self):
        self.memory = None

    def check(self):
        if time.thread_time() > state.deadline:
            raise TooSlow(f"{self.report['kernel']}: {self.programs} of {self.total} programs took {time.thread_time() - self.started:.0f} s")

    def next(self):
        """Coordinates of the next program."""
        if self.programs == _PROBE_PROGRAMS or self.programs % 64 == 63:
            expected = (time.thread_time() - self.started) / self.programs * self.total
            if self.started + expected > state.deadline:
                raise TooSlow(f"{self.total} programs would take about {expected:.0f} s")
        order = state.calls % 3
        program = self.programs if order == 1 else self.total - 1 - self.programs if order == 2 else self.programs * self._step % self.total
        self.programs += 1
        if self.memory is not None:
            self.memory.begin(program)
        x, rest = divmod(program, self._sizes[1] * self._sizes[2])
        return x, *divmod(rest, self._sizes[2])


def _install_logic(interpreter):
    """``a and b``, ``a or b`` and ``not a`` of tensors are operations on every element, as Triton compiles them; Python would ask for one
    truth and take one of the two."""
    def is_tensor(value):
        return isinstance(value, interpreter.tl.tensor)

    def both(first, second):
        other = second() if is_tensor(first) or first else first
        return first.logical_and(other) if is_tensor(first) else other.logical_and(first) if is_tensor(other) else other

    def either(first, second):
        other = second() if is_tensor(first) or not first else first
        return first.logical_or(other) if is_tensor(first) else other.logical_or(first) if is_tensor(other) else other

    def negated(value):
        return value.__not__() if is_tensor(value) else not value

    class Logic(interpreter.ASTTransformer):
        def visit_BoolOp(self, node):
            node = self.generic_visit(node)
            name = "_davinci_both" if isinstance(node.op, ast.And) else "_davinci_either"
            result = node.values[0]
            for value in node.values[1:]:
                later = ast.Lambda(args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]), body=value)
                result = ast.copy_location(ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[result, later], keywords=[]), node)
            return result

        def visit_UnaryOp(self, node):
            node = self.generic_visit(node)
            if not isinstance(node.op, ast.Not):
                return node
            return ast.copy_location(ast.Call(func=ast.Name(id="_davinci_negated", ctx=ast.Load()), args=[node.operand], keywords=[]), node)

    # A rewritten function finds what the interpreter's module has.
    interpreter._davinci_both, interpreter._davinci_either, interpreter._davinci_negated = both, either, negated
    interpreter.FunctionRewriter.ast_transformer = Logic()


def _tensors(value):
    """All tensors in an argument of a launch; a tensor descriptor's is its base."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in _tensors(item)]
    base = getattr(value, "base", None)  # TensorDescriptor, TensorWrapper
    return [base] if isinstance(base, torch.Tensor) else []


class _Scopes:
    """What stands in for triton.language while a kernel is interpreted: patches of the globals of its functions, and their texts rewritten."""

    def __init__(self, interpreter):
        self._interpreter = interpreter
        self._open, self._patched, self._rewritten = [], set(), {}

    def is_open(self):
        return bool(self._open)

    def enter(self, function):
        import triton

        marker = id(function.__globals__)
        if marker in self._patched:
            return
        scope = self._interpreter._patch_lang(function)
        if not hasattr(scope, "restore"):
            raise NotInterpretable(f"Triton {triton.__version__} cannot both compile and interpret in one process")
        self._patched.add(marker)
        self._open.append(scope)

    def close(self):
        self._patched.clear()
        while self._open:
            self._open.pop().restore()

    def rewritten(self, function):
        if function not in self._rewritten:
            self._rewritten[function] = self._interpreter.FunctionRewriter(function).rewrite_ast()
            # Constants may have been declared behind the text of the function, which is all that a rewritten one comes from.
            self._rewritten[function].__annotations__.update(function.__annotations__)
        return self._rewritten[function]


def _insist_on_fit(kernel, warps):
    from triton.runtime import errors

    limit = SHARED_LIMIT_BYTES.get(state.arch, LEAST_SHARED_LIMIT_BYTES)
    if kernel.metadata.shared > limit:
        raise errors.OutOfResources(kernel.metadata.shared, limit, "shared memory")
    if warps * 32 > 1024:
        raise errors.OutOfResources(warps * 32, 1024, "threads")


def _insist_on_device_tensors(name, given):
    """The tensors of a launch's arguments, which are few enough bytes."""
    tensors = _tensors(tuple(given.values()))
    for position, value in enumerate(given.values()):
        if isinstance(value, torch.Tensor) and is_on_host(value):
            raise ValueError(f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)")
    size = sum(t.numel() * t.element_size() for t in tensors)
    if size > _MAX_INTERPRETED_BYTES:
        raise TooSlow(f"{name} is launched on tensors of {size / 1e9:.3g} GB")
    return tensors


def _tune(self, *args, **kwargs):
    """The first configuration that compiles; the fastest one is known on a device only."""
    import triton
    from triton.runtime import errors

    self.nargs = dict(zip(self.arg_names, args))
    last = None
    for config in self.prune_configs(kwargs) if len(self.configs) > 1 else self.configs:
        current = dict(kwargs, **config.all_kwargs())
        full = {**self.nargs, **current}
        try:
            if config.pre_hook:
                config.pre_hook(full)
            self.pre_hook(full, reset_only=True) if not self.user_defined_pre_hook else self.pre_hook(full)
            result = self.fn.run(*args, **current)
        except (errors.OutOfResources, errors.PTXASError, triton.compiler.CompilationError) as error:
            last = error
            continue
        self.best_config = config
        self.nargs = None
        return result
    raise last


def install():
    """Raises ImportError where there is no Triton."""
    from triton import knobs
    from triton.runtime import autotuner, driver, errors, interpreter, jit

    driver.set_active(_TargetDriver(state.arch))
    knobs.runtime.interpret = False  # an entry of the environment, which is there after a launch, too
    compile_only = jit.JITFunction.run
    scopes, progress = _Scopes(interpreter), _Progress()
    builder = interpreter.interpreter_builder
    set_grid_idx = builder.set_grid_idx
    builder.set_grid_idx = lambda x, y, z: set_grid_idx(*progress.next())
    interpreted_numbers.install(interpreter, lambda precision: progress.report.update(fp32_products=precision))
    _install_logic(interpreter)
    interpreted_memory.install(interpreter, lambda: progress.memory, progress.check)

    def device_call(self, *args, **kwargs):
        if not scopes.is_open():
            raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
        scopes.enter(self.fn)
        return scopes.rewritten(self.fn)(*args, **kwargs)

    def run(self, *args, grid, warmup, **kwargs):
        captured = state.capture is not None and not warmup
        if captured:  # compiled now, run when the graph is replayed
            state.capture.steps.append(functools.partial(launch, self, *args, grid=grid, warmup=False, **kwargs))
        kernel = launch(self, *args, grid=grid, warmup=warmup or captured, **kwargs)
        options = {name: value for name, value in kwargs.items() if name not in self.arg_names}
        return _Compiled(kernel, lambda *args, grid: run(self, *args, grid=grid, warmup=False, **options))

    def launch(self, *args, grid, warmup, **kwargs):
        given = dict(zip(self.arg_names, args)) | kwargs
        kernel = compile_only(self, *args, grid=grid, warmup=True, **kwargs)
        warps = getattr(kernel.metadata, "num_warps", 4)
        _insist_on_fit(kernel, warps)
        report = _record(self, given, kernel, warps)
        if warmup:
            return kernel
        shape = {name: p.default for name, p in self.signature.parameters.items() if p.default is not p.empty} | given
        sizes = tuple(int(g) for g in (grid(shape) if callable(grid) else grid))
        if why := refused_grid(sizes):
            raise LaunchError(f"{self.__name__}: {why}")
        tensors = _insist_on_device_tensors(self.__name__, given)
        function = scopes.rewritten(self.fn)
        memory = interpreted_memory.Launch(self.__name__, tensors, (*sizes, 1, 1)[:3]) if math.prod(sizes) > 1 else None
        state.deadline += time.thread_time() - state.outside_since  # compilation, and what PyTorch does
        progress.begin(report, sizes, memory)
        report["programs"] = progress.total
        default_precision = getattr(kernel.metadata, "default_dot_input_precision", "tf32")
        builder.options = dataclasses.replace(builder.options, default_dot_input_precision=default_precision)
        knobs.runtime.interpret = True
        try:
            scopes.enter(self.fn)
            with np.errstate(all="ignore"):
                interpreter.GridExecutor(function, self.arg_names, sizes, self.pre_run_hooks)(*args, **kwargs)
        except (errors.InterpreterError, AttributeError, NotImplementedError, TypeError) as error:
            if isinstance(error.__cause__, Undecided):
                raise error.__cause__ from None
            raise NotInterpretable(f"{self.__name__}: {error}"[:500]) from None
        finally:
            progress.end()
            state.outside_since = time.thread_time()
            scopes.close()
            knobs.runtime.interpret = False
        report["interpreted"] += 1
        return kernel

    jit.JITFunction.__call__ = device_call
    jit.JITFunction.run = run
    autotuner.Autotuner.run = _tune
