"""Sizes of tensors that are symbols (symbolic_graph.py): how a graph writes them down, and what they are for given values."""

import re

import torch

from davinci_worker.graph_refusal import Untraceable, users_line

_OPEN, _CLOSE = "\u27e6", "\u27e7"  # around a size that is no number, within the text of a call
_MARKED = re.compile(f"{_OPEN}(.*?){_CLOSE}")


def of(size):
    """A number, or the text of a polynomial of symbols with whole coefficients: "2*s0*s1 - 3"."""
    if not isinstance(size, torch.SymInt):
        return int(size)
    import sympy

    expression = sympy.expand(size.node.shape_env.simplify(size.node.expr))
    symbols = sorted(expression.free_symbols, key=str)
    if not symbols:
        return int(expression)
    try:
        polynomial = sympy.Poly(expression, *symbols)
    except sympy.PolynomialError:
        polynomial = None
    if polynomial is None or not polynomial.domain.is_ZZ:
        raise Untraceable(f"{users_line()}: the size {expression} is no sum of products of its inputs' sizes")
    text = ""
    for powers, factor in sorted(polynomial.terms(), key=lambda term: int(term[1]) < 0):
        names = [str(symbol) for symbol, power in zip(symbols, powers) for _ in range(power)]
        number = [] if names and abs(factor) == 1 else [str(abs(int(factor)))]
        sign = (" - " if text else "-") if factor < 0 else " + " if text else ""
        text += sign + "*".join(number + names)
    return text


def marked(size):
    """Text of a size within a call."""
    found = of(size)
    return repr(found) if isinstance(found, int) else f"{_OPEN}{found}{_CLOSE}"


def number(size, values):
    """A size as ``of`` writes it, for values of the symbols."""
    return size if isinstance(size, int) else eval(size, {"__builtins__": {}}, dict(values))  # noqa: S307  text of this module's own making


def at(graph, values):
    """What a graph with symbols says for their values."""

    def text(form):
        return _MARKED.sub(lambda size: repr(number(size[1], values)), form)

    calls = [dict(call, text=text(call["text"])) for call in graph["calls"]]
    shapes = [dict(value, shape=[number(size, values) for size in value["shape"]]) for value in graph["values"]]
    return dict(graph, calls=calls, values=shapes)
