"""A module's graph with symbols in place of the sizes in which the shapes of a task differ, so that one candidate serves them and others.

Forward runs once more, on tensors without numbers whose sizes are symbols (torch's fake tensors): what it asks of a size ("is it more than 512?")
becomes a condition, and a size that it needs as a number is no symbol. The graph must then say, for the sizes of each shape, what was recorded
there, and for sizes that no shape has what a recording at these says.
"""

import copy
import itertools
import re

import torch
from torch.utils._pytree import tree_map

from davinci_worker import graph_check, module_graph, sizes
from davinci_worker.graph_refusal import Untraceable
from davinci_worker.graph_values import leaves

_COMPARED = ("text", "name", "reads", "gives", "view", "effect", "place", "module")
_MOST_ELEMENTS = 1 << 31  # kernels may count in 32 bits
_MOST_SYMBOLS = 4
_FURTHER = (1, 2, 3, 5, 7, 8, 16, -1, -2, -3, -5)  # added to named sizes: sizes that no shape has
_BY_INDEX = frozenset("""embedding embedding_bag index_select gather take take_along_dim __getitem__ index_add index_copy index_fill index_put
    scatter scatter_add scatter_reduce changed_copy""".split())
# They give the whole numbers that they read.
_KEEPS_NUMBERS = frozenset("""reshape expand view __getitem__ to long int contiguous transpose permute unsqueeze squeeze flatten clamp clone detach
    identity""".split())
_CONVOLUTIONS = frozenset("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d".split())


def graph_of(graphs, fresh, scope, built):
    """The graph of a module with symbols: those of ``graphs`` (by variant, 0 is the task's own), and

        "symbols": [{"name", "values", "place"}], "serves": [variant]

    ``values`` are the sizes of the variants that it serves, of which the first is the task's own; ``place`` is Python text that has it.
    ``fresh()``: as for module_graph.graph_of, of the task's own shape.
    Raises Untraceable where no size can be a symbol."""
    why = None
    for places, served in _choices(graphs):
        try:
            return _Symbolic(graphs, places, served, fresh, scope, built).graph()
        except Untraceable as error:
            why = why or error
        except Exception as error:  # noqa: BLE001  what no tensor without numbers can do: {T: …}[size], .numpy(), an operator of one's own
            why = why or Untraceable(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300])
    raise why or Untraceable("no size of an input differs between the shapes")


def _shape(graph, entry):
    return graph["values"][entry["id"]]["shape"]


def _rest(graph):
    """What a guard tests but sizes."""
    rest = graph["guard"]
    for entry in graph["inputs"]:
        rest = rest.replace(f"{entry['text']}.shape == {tuple(_shape(graph, entry))}", entry["text"])
    return rest


def _inputs(graph):
    """What inputs are but their sizes."""
    return [(entry["text"], entry["order"], len(_shape(graph, entry))) for entry in graph["inputs"]]


def _choices(graphs):
    """[({sizes by variant: [(input, axis)]}, variants)]: which sizes may be symbols and whom they serve, what serves most first."""
    own = graphs[0]
    like = [v for v, graph in graphs.items() if "untraceable" not in graph and _rest(graph) == _rest(own) and _inputs(graph) == _inputs(own)]

    def differing(variants):
        found = {}
        for i, entry in enumerate(own["inputs"]):
            for axis in range(len(_shape(own, entry))):
                values = tuple(_shape(graphs[v], graphs[v]["inputs"][i])[axis] for v in variants)
                if len(set(values)) > 1:
                    found.setdefault(values, []).append((i, axis))
        return found

    def differences(variant):
        """[(input, axis, its size, the task's own)]"""
        pairs = [(i, _shape(graphs[variant], entry), _shape(own, entry)) for i, entry in enumerate(own["inputs"])]
        return [(i, axis, size, mine) for i, sizes_of, own_sizes in pairs for axis, (size, mine) in enumerate(zip(sizes_of, own_sizes)) if size != mine]

    # A size of 1 broadcasts: such a shape is another one.
    like = [v for v in like if all(min(size, mine) > 1 for _, _, size, mine in differences(v))]
    choices = [like]
    for places in differing(like).values():  # one kind of size alone differs
        choices.append([v for v in like if all((i, axis) in places for i, axis, _, _ in differences(v))])
    unique = []
    for variants in choices:
        places = differing(variants)
        if variants and variants[0] == 0 and 0 < len(places) <= _MOST_SYMBOLS and (places, variants) not in unique:
            unique.append((places, variants))
    return sorted(unique, key=lambda choice: -len(choice[1]))


def load():
    """Imports what graphs with symbols need, which takes a second, most of it for the names of files that PyTorch's messages leave out."""
    import sympy  # noqa: F401
    from torch.fx.experimental import symbolic_shapes

    getattr(symbolic_shapes, "uninteresting_files", lambda: None)()


class _Symbolic:
    """One choice of symbols."""

    def __init__(self, graphs, places, served, fresh, scope, built):
        from torch._dynamo.source import ConstantSource
        from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

        self._graphs, self._served, self._fresh, self._scope, self._built = graphs, served, fresh, scope, built
        self._own = graphs[0]
        self._env = ShapeEnv(specialize_zero_one=True, duck_shape=False)
        self._names, self._sizes, self._values, self._places = [], {}, {}, {}
        for number, (values, where) in enumerate(places.items()):
            source = ConstantSource(f"size{number}")
            symbol = self._env.create_symbol(values[0], source=source, dynamic_dim=DimDynamic.DYNAMIC)
            name = str(symbol)
            self._names.append(name)
            self._values[name] = dict(zip(served, values))
            self._places[name] = [f"{self._own['inputs'][i]['text']}.shape[{axis}]" for i, axis in where]
            for place in where:
                self._sizes[place] = self._env.create_symintnode(symbol, hint=values[0], source=source), name

    def graph(self):
        graph = self._record()
        conditions = self._conditions(graph)
        for variant in self._served:
            values = {name: self._values[name][variant] for name in self._names}
            if not all(eval(condition, {"__builtins__": {}}, values) for condition in conditions):  # noqa: S307  text of this module's own making
                raise Untraceable(f"{', '.join(c for c in conditions)} does not hold at each shape")
            _same(sizes.at(graph, values), self._graphs[variant])
        self._confirm(graph, conditions)
        graph.update({key: self._own[key] for key in ("kept", "helpers", "fallback", "source", "training")}, guard=self._guard(conditions))
        graph["symbols"] = [{"name": name, "values": [self._values[name][v] for v in self._served], "place": self._places[name][0]}
                            for name in self._names]
        graph["serves"] = self._served
        return graph

    def _record(self):
        from torch._dispatch.python import enable_python_dispatcher
        from torch._subclasses.fake_tensor import FakeTensorMode

        model, args, kwargs = self._fresh()
        mode = FakeTensorMode(shape_env=self._env, allow_non_fake_inputs=True)
        with mode, enable_python_dispatcher(), torch.no_grad(), _QuietConvolutions(self._env):
            fakes = {}
            for i, (entry, tensor) in enumerate(zip(self._own["inputs"], self._tensors(args, kwargs))):
                shape = [self._sizes[i, axis][0] if (i, axis) in self._sizes else size for axis, size in enumerate(tensor.shape)]
                order = entry["order"] or list(range(len(shape)))
                made = torch.empty([shape[axis] for axis in order], dtype=tensor.dtype, device=tensor.device)
                fakes[id(tensor)] = made.permute([order.index(axis) for axis in range(len(order))]) if entry["order"] else made
            args, kwargs = tree_map(lambda leaf: fakes.get(id(leaf), leaf), (args, kwargs))
            for table in [table for module in model.modules() for table in (module._parameters, module._buffers)]:
                table.update({name: mode.from_tensor(tensor, static_shapes=True) for name, tensor in table.items() if tensor is not None})
            graph, _ = module_graph.record(model, args, kwargs, {kept["module"] for kept in self._own["kept"]}, self._scope,
                                           self._built, [entry["order"] for entry in self._own["inputs"]])
        module_graph.prune(graph)
        taken = [str(symbol) for symbol in self._env.replacements if str(symbol) in self._names]
        if taken or self._env.deferred_runtime_asserts:
            raise Untraceable(f"forward needs {' and '.join(self._places[name][0] for name in taken) or 'a size'} as a number")
        return graph

    @staticmethod
    def _tensors(args, kwargs):
        return list(leaves((args, kwargs)))

    def _conditions(self, graph):
        """Python texts over the symbols: where the graph holds."""
        from torch.utils._sympy.printers import PythonPrinter

        printed = [PythonPrinter().doprint(guard.expr) for guard in self._env.guards]
        found = [f"{name} >= 2" for name in self._names]
        found += [text for text in dict.fromkeys(printed) if text not in found]
        elements = set()
        for value in graph["values"]:
            found += [f"{size} >= 1" for size in value["shape"] if isinstance(size, str) and "-" in size]
            if any(isinstance(size, str) for size in value["shape"]):
                elements.add(" * ".join(f"({size})" if " " in str(size) else str(size) for size in value["shape"]))
        found += [f"{product} < {_MOST_ELEMENTS}" for product in self._largest(elements)]
        if _reads_by_computed_index(graph):
            # No kernel tests an index, which may grow with a size: it is known to fit between the named sizes alone.
            for name in self._names:
                named = self._values[name].values()
                found.append(f"{min(named)} <= {name} <= {max(named)}")
        return list(dict.fromkeys(found))

    def _largest(self, products):
        """Those of the products that are not less than another one wherever all symbols are 2 or more."""
        import sympy

        symbols = [sympy.Symbol(name) for name in self._names]
        least = {symbol: symbol + 2 for symbol in symbols}
        texts = {product: sympy.Poly(sympy.sympify(product, {str(symbol): symbol for symbol in symbols}).xreplace(least), *symbols)
                 for product in products}
        kept = {}
        for product, polynomial in sorted(texts.items(), key=lambda item: (-len(item[0]), item[0])):
            if any(all(factor >= 0 for factor in (other - polynomial).coeffs()) for other in kept.values()):
                continue
            kept = {p: other for p, other in kept.items() if not all(factor >= 0 for factor in (polynomial - other).coeffs())}
            kept[product] = polynomial
        return sorted(kept)

    def _confirm(self, graph, conditions):
        """Raises where a recording at sizes that no shape has is another one."""
        named = {tuple(self._values[name][v] for name in self._names) for v in self._served}
        for added in itertools.product(_FURTHER, repeat=len(self._names)):
            values = {name: self._values[name][0] + more for name, more in zip(self._names, added)}
            if tuple(values.values()) not in named and all(eval(c, {"__builtins__": {}}, values) for c in conditions):  # noqa: S307
                break
        else:
            raise Untraceable("no further sizes have what the shapes have in common")
        args, kwargs = self._drawn(values)
        other, *_ = self._fresh()
        found, _ = module_graph.record(copy.deepcopy(other), args, kwargs, {kept["module"] for kept in self._own["kept"]}, self._scope, self._built)
        module_graph.prune(found)
        expected = sizes.at(graph, values)
        _same(expected, found)
        torch.manual_seed(0)
        with torch.no_grad():
            answer = copy.deepcopy(other)(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        torch.manual_seed(0)
        if not graph_check.same(answer, graph_check.run(expected, other, args, kwargs, self._scope)):
            raise Untraceable(f"the recorded calls give another result at {values}")

    def _drawn(self, values):
        """Arguments of other sizes: elements of the task's own, again and again."""
        _, args, kwargs = self._fresh()
        made = {}
        for i, (entry, tensor) in enumerate(zip(self._own["inputs"], self._tensors(args, kwargs))):
            larger = tensor
            for axis in range(tensor.dim()):
                if (i, axis) in self._sizes:
                    places = torch.arange(values[self._sizes[i, axis][1]], device=tensor.device) % tensor.shape[axis]
                    larger = larger.index_select(axis, places)
            if entry["order"]:
                larger = larger.permute(entry["order"]).contiguous().permute([entry["order"].index(axis) for axis in range(larger.dim())])
            made[id(tensor)] = larger
        return tree_map(lambda leaf: made.get(id(leaf), leaf), (args, kwargs))

    def _guard(self, conditions):
        guard = self._own["guard"]
        for i, entry in enumerate(self._own["inputs"]):
            shape, text = _shape(self._own, entry), entry["text"]
            if not any((i, axis) in self._sizes for axis in range(len(shape))):
                continue
            tests = [f"{text}.dim() == {len(shape)}"]
            tests += [f"{text}.shape[{axis}] == {size}" for axis, size in enumerate(shape) if (i, axis) not in self._sizes]
            guard = guard.replace(f"{text}.shape == {tuple(shape)}", " and ".join(tests))
        tests = [f"{place} == {places[0]}" for places in self._places.values() for place in places[1:]]
        places = {name: places[0] for name, places in self._places.items()}
        for condition in conditions[len(self._names):]:  # without "2 or more", which the expert writes with its bounds
            tests.append(re.sub(r"\b[a-z]+[0-9]+\b", lambda name: places.get(name[0], name[0]), condition))
        return " and ".join([guard, *(f"({test})" if " or " in test else test for test in tests)])


def _reads_by_computed_index(graph):
    """Does a call read at whole numbers that are none of an input's?"""
    given = {entry["id"] for entry in graph["inputs"]}
    for call in graph["calls"]:
        whole = [index for index in call["reads"] if "int" in graph["values"][index]["dtype"]]
        of_first = call["name"] in ("__getitem__", "changed_copy")  # what is read or changed, not where
        if call["name"] in _BY_INDEX and any(index in whole and index not in given for index in call["reads"][of_first:]):
            return True
        if call["name"] in _KEEPS_NUMBERS and whole and call["reads"][0] in given:
            given.update(result["id"] for result in call["gives"])
    return False


class _QuietConvolutions(torch.overrides.TorchFunctionMode):
    """Which library computes a convolution may depend on a size; what it computes does not."""

    def __init__(self, env):
        super().__init__()
        self._env = env

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") not in _CONVOLUTIONS:
            return func(*args, **(kwargs or {}))
        with self._env.suppress_guards():
            return func(*args, **(kwargs or {}))


def _same(expected, found):
    """Raises where two graphs without symbols are not the same."""
    for key in ("inputs", "values", "outputs", "result", "signature", "names"):
        if expected[key] != found[key]:
            raise Untraceable(f"{key} of the graph are others at another shape")
    if [(w["id"], w["text"], w["contiguous"]) for w in expected["weights"]] != [(w["id"], w["text"], w["contiguous"]) for w in found["weights"]]:
        raise Untraceable("other weights are read at another shape")
    if len(expected["calls"]) != len(found["calls"]):
        raise Untraceable("another number of calls is made at another shape")
    for one, other in zip(expected["calls"], found["calls"]):
        for key in _COMPARED:
            if one[key] != other[key]:
                raise Untraceable(f"{other['place']}: {other['text'][:120]} is another call at another shape")
