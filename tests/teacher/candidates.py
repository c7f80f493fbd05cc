"""What the checks of candidates share."""
import importlib.util

import torch


def tensors(value):
    """The tensors of a result: a tensor, a dict or a sequence of results."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        return []
    return [tensor for part in value for tensor in tensors(part)]


def load(text, path, sizes):
    """The text as a module, with other values for its sizes."""
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in sizes.items():
        if hasattr(module, name):
            setattr(module, name, value)
    return module
