"""Changes in place, as calls: what is changed becomes a changed copy, which stands for the tensor from then on."""

import torch

from davinci_worker.graph_refusal import Untraceable, users_line
from davinci_worker.graph_values import described, leaves


class Changes:
    """Records changes of tensors in place for a Recorder, ``of``."""

    def __init__(self, of):
        self._of, self._text, self._call = of, of.texts.text, of.texts.call

    def record(self, name, member, args, kwargs, result, changed):
        targets = {id(t): t for t in changed}
        indices = {self._of.value_of(t) for t in targets.values()}
        weights = {w["id"] for w in self._of.weights}
        if indices <= weights:
            reads = []
            text, member = self._call(name, args, kwargs, reads)
            if member == "__setitem__":
                text = f"{self._text(args[0], reads)}.__setitem__({self._text(args[1], reads)}, {self._text(args[2], reads)})"
            given = [] if all(id(t) in targets for t in leaves(result)) else self._of.results(result, reads, ())
            self._of.append(text, member, reads, given, effect=not given)
            for index in indices:
                self._of.changed_state[index] = len(self._of.calls) - 1
            return
        if len(targets) != 1:
            raise Untraceable(f"{users_line()}: {member} changes several tensors in place")
        (target,) = targets.values()
        index = self._of.value_of(target)
        if self._of.roots[index] in self._of.inputs or index in self._of.inputs:
            raise Untraceable(f"{users_line()}: {member} changes an input in place")
        if self._of.roots[index] in weights:
            raise Untraceable(f"{users_line()}: {member} changes a view of the module's state in place")
        if index in self._of.view_of and self._behind(index, name, args, target, member):
            return self._record_of_view(name, member, args, kwargs, target, index)
        reads = []
        plain = member.removesuffix("_") if member.endswith("_") and not member.startswith("__") else {
            "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div"}.get(member)
        functional = plain is not None and hasattr(torch.Tensor, plain) and plain not in ("copy", "fill", "zero", "index_put", "set", "resize")
        if "inplace" in kwargs and kwargs["inplace"]:
            text, member = self._call(name, args, {k: v for k, v in kwargs.items() if k != "inplace"}, reads)
        elif name.startswith("torch.nn.functional.") and not member.endswith("_") and args and args[-1] is True:
            text, member = self._call(name, args[:-1], kwargs, reads)
        elif functional and name.startswith("torch.Tensor."):
            text, member = self._call(f"torch.Tensor.{plain}", args, kwargs, reads)
        elif functional and hasattr(torch.nn.functional, plain) and name.startswith("torch.nn.functional."):
            text, member = self._call(f"torch.nn.functional.{plain}", args, kwargs, reads)
        elif functional and hasattr(torch, plain):
            text, member = self._call(f"torch.{plain}", args, kwargs, reads)
        elif member == "zero_":
            text, member = f"torch.zeros_like({self._text(target, reads)})", "zeros_like"
        elif member == "fill_" and len(args) == 2 and not isinstance(args[1], torch.Tensor):
            text, member = f"torch.full_like({self._text(target, reads)}, {self._text(args[1], reads)})", "full_like"
        else:
            # The target comes first: the changed copy is the result.
            copied = self._text(target, reads)
            if member == "__setitem__":
                what = f"t.__setitem__({self._text(args[1], reads)}, {self._text(args[2], reads)})"
            elif name.startswith("torch.Tensor.") and args and args[0] is target and member.endswith("_"):
                rest = [self._text(a, reads) for a in args[1:]] + [f"{k}={self._text(v, reads)}" for k, v in kwargs.items()]
                what = f"t.{member}({', '.join(rest)})"
            else:
                raise Untraceable(f"{users_line()}: {member} changes a tensor in place")
            text, member = f"changed_copy({copied}, lambda t: {what})", "changed_copy"
        root = self._of.roots[index]
        live = any(self._of.numbers[r] for r in reads) or self._of.numbers[index]
        self._of.stale.update(i for i, r in enumerate(self._of.roots) if r == root)
        new = len(self._of.values)
        self._of.values.append(described(target, self._of.device))
        self._of.roots.append(new)
        self._of.numbers.append(live)
        others = [key for key, value in self._of.by_id.items() if self._of.roots[value] == root and key != id(target)]
        for key in others:  # views of it: stale from now on
            self._of.stale.add(self._of.by_id[key])
        self._of.by_id[id(target)] = new
        self._of.append(text, member, reads, [{"id": new, "item": ""}])

    def _behind(self, index, name, args, target, member):
        """Is the tensor behind a view still alive, and can its change be written down? If not, the view's own copy is changed, and a later
        read of the tensor is refused."""
        base, _, key = self._of.view_of[index]
        alive = key in self._of.refs and not isinstance(self._of.refs[key], torch.Tensor) and self._of.refs[key]() is not None
        return (alive and self._of.by_id.get(key) == base and base not in self._of.view_of and self._of.roots[base] == self._of.roots[index]
                and name.startswith("torch.Tensor.") and bool(args) and args[0] is target and (member.endswith("_") or member == "__setitem__"))

    def _record_of_view(self, name, member, args, kwargs, target, index):
        """What is written to a view is written to the tensor behind it: a changed copy of that, of which the view is made again."""
        base, view, key = self._of.view_of[index]
        reads = [base]
        part = view.format("t")
        if member in ("__iadd__", "__isub__", "__imul__", "__itruediv__"):
            member = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_"}[member]
        if member == "__setitem__":
            rest = [self._text(args[1], reads), self._text(args[2], reads)]
        else:
            rest = [self._text(a, reads) for a in args[1:]] + [f"{k}={self._text(v, reads)}" for k, v in kwargs.items()]
        live = any(self._of.numbers[r] for r in reads)
        root = self._of.roots[base]
        self._of.stale.update(i for i, r in enumerate(self._of.roots) if r == root)
        new = len(self._of.values)
        self._of.values.append(dict(self._of.values[base]))
        self._of.roots.append(new)
        self._of.numbers.append(live)
        self._of.by_id[key] = new
        self._of.append(f"changed_copy({{0}}, lambda t: {part}.{member}({', '.join(rest)}))", "changed_copy", reads, [{"id": new, "item": ""}])
        again = len(self._of.values)
        self._of.values.append(described(target, self._of.device))
        self._of.roots.append(new)
        self._of.numbers.append(live)
        self._of.by_id[id(target)] = again
        self._of.view_of[again] = (new, view, key)
        self._of.append(view.replace("{0}", "{0}"), "view", [new], [{"id": again, "item": ""}], view=True)
