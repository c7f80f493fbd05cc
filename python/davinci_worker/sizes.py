"""Bytes of the inputs, weights and outputs of one call of a reference, worked out on torch's meta device: nothing is drawn,
computed or stored. For whoever has to know how much memory a task will need before it may have any."""

import sys

import torch

from davinci_worker import packing, source

_NAME = "davinci_task_sizes"


def of_call(spec):
    """``spec`` is what the oracle was told to load. None where the reference needs real numbers."""
    try:
        # A module of its own: what this one keeps in its globals must not meet real tensors.
        module = source.load_module(spec["path"], _NAME, spec.get("globals"))
        with torch.device("meta"), torch.no_grad():
            inputs = module.get_inputs()
            inputs = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
            if spec.get("op_path"):
                model = source.Function(source.resolve_op(spec["op_path"]))
            else:
                init = list(getattr(module, "get_init_inputs", list)())
                model = source.factory(module, spec["entry"], spec.get("function"))(*init)
            found = []
            skeleton = packing.flatten(inputs, found)
            found = [t.to("meta") for t in found]
            outputs = []
            packing.flatten(model.to("meta")(*packing.unflatten(skeleton, found)), outputs)
        weights = [*model.parameters(), *model.buffers()]
        return {"input_bytes": _bytes(found), "weight_bytes": _bytes(weights), "output_bytes": _bytes(outputs)}
    except Exception:  # noqa: BLE001  the reference is user code, and need not know the meta device
        return None
    finally:
        sys.modules.pop(_NAME, None)


def _bytes(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)
