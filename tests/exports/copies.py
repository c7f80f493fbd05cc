"""Uses one exported module as any module is used: copied, pickled, saved, loaded by another process, compiled. Prints what went wrong.

    copies.py EXPORT.py [SAVED]      SAVED: only load that file, and run the kernel
"""
import copy
import importlib.util
import pickle
import subprocess
import sys
import tempfile
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)
spec = importlib.util.spec_from_file_location("exported", sys.argv[1])
exported = importlib.util.module_from_spec(spec)
sys.modules["exported"] = exported
spec.loader.exec_module(exported)
CASE = exported._VERIFIED["cases"][0]


def tensor(spec):
    return torch.randn(spec["shape"], device=exported._VERIFIED["target"])


def runs(module, arguments):
    """The kernel's answer."""
    with torch.no_grad():
        assert module.why_reference(*arguments) is None, module.why_reference(*arguments)
        return module(*arguments)


def main():
    torch.manual_seed(0)
    arguments = [tensor(item) for item in CASE["inputs"]["positional"]]
    if len(sys.argv) > 2:
        runs(torch.load(sys.argv[2], weights_only=False), arguments)
        return
    module = exported.ModelNew(*(item["value"] for item in CASE["init"]["positional"])).to(exported._VERIFIED["target"])
    expected = runs(module, arguments)
    for made in (copy.deepcopy(module), copy.copy(module), pickle.loads(pickle.dumps(module)), copy.deepcopy(torch.nn.Sequential(module))[0]):
        assert type(made) is exported.ModelNew
        torch.testing.assert_close(runs(made, arguments), expected)
    with tempfile.NamedTemporaryFile(suffix=".pt") as file:
        torch.save(module, file.name)
        subprocess.run([sys.executable, __file__, sys.argv[1], file.name], check=True)
    net = torch.nn.Sequential(module, torch.nn.GELU())
    for part, one in ((module, expected), (net, torch.nn.functional.gelu(expected))):
        for options in ({}, {"fullgraph": True}):
            torch._dynamo.reset()
            compiled = torch.compile(part, backend="eager", **options)
            with torch.no_grad():
                torch.testing.assert_close(compiled(*arguments), one, rtol=1e-4, atol=1e-4)
            compiled(*arguments).sum().backward()
    assert all(p.grad is not None for p in module.parameters())


main()
