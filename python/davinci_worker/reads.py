"""Which of a module's parameters and buffers does its forward read?"""

import torch
from torch.utils._pytree import tree_leaves

from davinci_worker import weights
from davinci_worker.rounding import EagerMode


class _Reads(EagerMode):
    """While active, remembers the memory of every tensor that an operator is given."""

    def __init__(self):
        super().__init__()
        self.read = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        self.read.update(leaf.untyped_storage()._cdata for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor))
        return func(*args, **kwargs)


def unread(reference, drawn):
    """Names of the state that a forward with ``drawn`` gives to no operator and does not return. What a kernel of the reference's own reads
    by its address counts as unread: a candidate that lacks it is then compared with values that it cannot know."""
    model = reference.instance(drawn.variant).model
    with _Reads() as reads:
        output = reference.forward(model, drawn)[0]
    reads.read.update(leaf.untyped_storage()._cdata for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor))
    return [name for name, tensor in weights.state(model) if tensor.untyped_storage()._cdata not in reads.read]
