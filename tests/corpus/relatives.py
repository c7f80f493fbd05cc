"""The PyTorch relatives of a task: candidates that PyTorch itself would call the same, made from the task's own text.

A relative is the whole task file and a ``ModelNew`` derived from its reference, so weights keep their names. None of them is written by
hand, none may ever be refused (Law 1).
"""
import re

_HEAD = '''

# --- a relative of the task above: {kind} ---
import torch as _torch

{base}
'''

_BODY = {
    "same": '''
class ModelNew(_Base):
    pass
''',
    "memory": '''
def _other_format(t):
    if not isinstance(t, _torch.Tensor) or not t.is_floating_point() or t.dim() < 2:
        return t
    if t.dim() in (4, 5):
        return t.contiguous(memory_format=_torch.channels_last if t.dim() == 4 else _torch.channels_last_3d)
    return t.transpose(-1, -2).contiguous().transpose(-1, -2)


class ModelNew(_Base):
    def forward(self, *args):
        for p in self.parameters():
            if p.dim() in (4, 5):
                p.data = _other_format(p.data)
        return super().forward(*map(_other_format, args))
''',
    "pieces": '''
from torch.utils._python_dispatch import TorchDispatchMode as _Mode
from torch._decomp import core_aten_decompositions as _known

_TABLE = {op: how for op, how in _known().items() if _torch.Tag.nondeterministic_seeded not in op.tags and not op._schema.is_mutable}


class _Pieces(_Mode):
    """Each operator by PyTorch's own decomposition into smaller ones, which is what its compiler starts from."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in _TABLE:
            with self:
                result = _TABLE[func](*args, **(kwargs or {}))
            if result is not NotImplemented:
                return result
        return func(*args, **(kwargs or {}))


class ModelNew(_Base):
    def forward(self, *args):
        with _Pieces():
            return super().forward(*args)
''',
    "order": '''
from torch.utils._python_dispatch import TorchDispatchMode as _Mode

_A = _torch.ops.aten


class _Order(_Mode):
    """Sums, products and scans in parts, as a kernel of several blocks goes through them; half precision would overflow between two."""

    PARTS = 7

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        x = args[0] if args else None
        floating = isinstance(x, _torch.Tensor) and x.dtype in (_torch.float32, _torch.float64)
        if func in (_A.mm.default, _A.bmm.default) and floating and x.shape[-1] >= 64:
            parts = zip(x.chunk(self.PARTS, -1), args[1].chunk(self.PARTS, -2))
            return sum(func(a.contiguous(), b.contiguous()) for a, b in parts)
        if func is _A.addmm.default and floating and args[1].shape[-1] >= 64 and not kwargs:
            parts = zip(args[1].chunk(self.PARTS, -1), args[2].chunk(self.PARTS, -2))
            return x + sum(_A.mm.default(a.contiguous(), b.contiguous()) for a, b in parts)
        if func is _A.sum.dim_IntList and floating and args[1] and len(args[1]) == 1 and x.shape[args[1][0]] >= 64:
            return sum(func(part, *args[1:], **kwargs) for part in x.chunk(self.PARTS, args[1][0]))
        if func in (_A.cumsum.default, _A.cumprod.default) and floating and x.dim() and x.shape[args[1]] >= 64:
            done, carry = [], None
            for part in x.chunk(self.PARTS, args[1]):
                scanned = func(part, args[1], **kwargs)
                if carry is not None:
                    scanned = scanned + carry if func is _A.cumsum.default else scanned * carry
                carry = scanned.narrow(args[1], -1, 1)
                done.append(scanned)
            return _torch.cat(done, args[1])
        return func(*args, **kwargs)


class ModelNew(_Base):
    def forward(self, *args):
        with _Order():
            return super().forward(*args)
''',
    "library": '''
if _torch.cuda.is_available():
    _torch.backends.cudnn.benchmark = True


class ModelNew(_Base):
    def forward(self, *args):
        if _torch.cuda.is_available():
            return super().forward(*args)
        with _torch.backends.mkldnn.flags(enabled=False):
            return super().forward(*args)
''',
    "math_attention": '''
from torch.nn.attention import SDPBackend as _Backend, sdpa_kernel as _kernel


class ModelNew(_Base):
    def forward(self, *args):
        with _kernel(_Backend.MATH):
            return super().forward(*args)
''',
    "compiled": '''
class ModelNew(_Base):
    def forward(self, *args):
        return _compiled(self, *args)


_compiled = _torch.compile(_Base.forward)
''',
}
_ALWAYS = ("same", "memory", "pieces", "order")

# Law 2: the same text in less precision than the reference has. What they answer must be refused.
_REDUCED = '''
from torch.utils._python_dispatch import TorchDispatchMode as _Mode

_PRODUCTS = {{"mm", "bmm", "addmm", "baddbmm", "addmv", "mv", "dot", "convolution", "mkldnn_rnn_layer", "lstm", "gru", "_thnn_fused_lstm_cell",
              "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
              "_scaled_dot_product_attention_math", "_cdist_forward", "_trilinear", "addbmm", "linear"}} - set([{spared}])


def _rounded(t):
    if isinstance(t, (list, tuple)):
        return type(t)(map(_rounded, t))
    if not isinstance(t, _torch.Tensor) or t.dtype is not _torch.float32:
        return t
    return {rounding}


class _Reduced(_Mode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if {everywhere}:
            return _rounded(func(*args, **(kwargs or {{}})))
        name = func._schema.name.partition("::")[2]
        return func(*(_rounded(args) if name in _PRODUCTS else args), **(kwargs or {{}}))


class ModelNew(_Base):
    def forward(self, *args):
        with _Reduced():
            return super().forward(*args)
'''
_TF32 = "_torch.where(t.isfinite(), ((t.contiguous().view(_torch.int32) + 0x1000) & ~0x1fff).view(_torch.float32), t)"
_BF16 = "t.bfloat16().float()"


def reduced(target):
    """Law 2: kind: its text. cuDNN's convolutions, and its recurrent networks, are TF32 in the reference itself."""
    own = '"convolution", "mkldnn_rnn_layer", "lstm", "gru"' if target == "cuda" else ""
    kinds = {"tf32_products": (_TF32, False, own), "bf16_products": (_BF16, False, ""), "bf16_storage": (_BF16, True, "")}
    return {kind: _REDUCED.format(rounding=rounding, everywhere=everywhere, spared=spared) for kind, (rounding, everywhere, spared) in kinds.items()}


def kinds(text, target, compiled=False):
    """The relatives that could differ from the reference at all."""
    found = list(_ALWAYS)
    if re.search(r"[Cc]onv|RNN|LSTM|GRU|Linear|@|matmul|bmm", text):
        found.append("library")
    if "scaled_dot_product_attention" in text or "Attention" in text or "Transformer" in text:
        found.append("math_attention")
    return found + (["compiled"] if compiled else [])


def text_of(source, config, sizes, kind, target="cpu"):
    """``config``: the sidecar's keys; ``sizes``: globals as the judge sets them, for the candidate reads its own."""
    entry = config.get("entry", "Model")
    name = config.get("function") or config.get("op")
    if name:
        base = f"class _Base(_torch.nn.Module):\n    def forward(self, *args):\n        return {_qualified(name)}(*args)"
    else:
        base = f"_Base = {entry}"
    assigned = "".join(f"{key} = {value!r}\n" for key, value in sizes.items())
    return source + _HEAD.format(kind=kind, base=base) + assigned + (_BODY.get(kind) or reduced(target)[kind])


def _qualified(name):
    return "_" + name if name.startswith("torch.") else name
