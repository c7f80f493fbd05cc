"""What a reference computes, as calls of PyTorch (module_graph.py)."""

import copy
import itertools

import torch

from davinci_worker import live_structure, module_graph, packing, published, source, symbolic_graph, task_source


def _drawing(reference, seed, variant):
    """(an instance, what draws arguments for it, what gives a copy of it with arguments)"""
    built, draws = reference.instance(variant), itertools.count(seed)

    def drawn():
        positional, keywords = packing.split(packing.unflatten(*reference.own_inputs(next(draws), None, variant)))
        return tuple(positional), keywords

    def fresh():
        return copy.deepcopy(built.model), *drawn()

    return built, drawn, fresh


def symbolic(reference, seed, graphs):
    """symbolic_graph.graph_of a reference whose graphs at each of its shapes are known, by variant."""
    if "untraceable" in graphs.get(0, {"untraceable"}) or len(graphs) < 2:
        return {"untraceable": "the module was traced at no two shapes"}
    built, _, fresh = _drawing(reference, seed, 0)
    if isinstance(built.model, source.Function):
        return {"untraceable": "it is a function"}
    try:
        return symbolic_graph.graph_of(graphs, fresh, vars(reference.module), built.model)
    except module_graph.Untraceable as error:
        return {"untraceable": str(error)}


def graph(reference, seed, variant):
    """module_graph.graph_of a reference, with what a candidate keeps of its file; {"untraceable": why} where that cannot be said."""
    built, drawn, fresh = _drawing(reference, seed, variant)
    entry = getattr(reference.module, reference.spec.get("entry") or "", None)
    try:
        if not isinstance(built.model, source.Function) and not isinstance(entry, type):
            raise module_graph.Untraceable(f"{reference.spec.get('entry')} is a function that makes a module; only classes can be extended")
        if type(built.model) is not entry and not isinstance(built.model, source.Function):
            raise module_graph.Untraceable(f"{reference.spec.get('entry')} makes a {type(built.model).__name__}")
        found = module_graph.graph_of(*fresh(), vars(reference.module), fresh, built.model)
    except module_graph.Untraceable as error:
        return {"untraceable": str(error)}
    if variant and not isinstance(built.model, source.Function):
        guilty = _read_by_constructor(reference, variant, lambda model: module_graph.answers(found, model, *drawn()))
        if guilty:
            return {"untraceable": f"the constructor reads {' and '.join(guilty)}, and a candidate has the file's own value; make it an argument of "
                                   "the constructor that get_init_inputs() gives", "by_constructor": True}
    try:
        text = live_structure.with_structure(reference.spec["source"], reference.module.__file__)
    except live_structure.TooLarge as error:
        return {"untraceable": str(error)}
    sizes = dict(reference.spec.get("globals") or {}, **(reference.spec["variants"][variant - 1] if variant else {}))
    found["source"] = task_source.source_of(text, {name: getattr(reference.module, name) for name in sizes})
    found["training"] = built.model.training
    return found


def _read_by_constructor(reference, variant, answers):
    """The sizes of a variant that the constructor reads of the file itself: with the file's own the module is another one, which ``answers``
    says no of."""
    built, sizes = reference.instance(variant), reference.spec["variants"][variant - 1]
    read = task_source.reads(reference.spec["source"], sizes)

    def made_with(own):
        source.set_globals(reference.module, {**reference.own_sizes, **{name: value for name, value in sizes.items() if name not in own}})
        torch.manual_seed(reference.spec["init_seed"])
        model = reference.make(built.init).to(reference.device)
        return (published.cast_model(model, reference.spec["precision"]) if reference.published else model).train(built.model.training)

    try:
        if not read or not answers(made_with(())) or answers(made_with(read)):
            return []
        return [name for name in read if not answers(made_with((name,)))] or read
    finally:
        reference.set_sizes(variant)
