"""What tests of this folder load: task files and candidates, as modules."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import torch


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Written:
    """The kernels that ``davinci coverage`` writes for the modules of a folder: ``tasks`` has its rows by name."""

    def __init__(self, davinci, modules, target, language, out):
        self.modules, self.out = modules, pathlib.Path(out)
        done = subprocess.run([davinci, "coverage", modules, "-t", target, "-l", language, "--json", "--out", out], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise AssertionError(done.stderr[-2000:])
        self.tasks = {task["task"]: task for task in json.loads(done.stdout)["tasks"]}

    def file(self, name):
        return next((self.out / "candidates").glob(f"{name}.*.py"))

    def pair(self, name):
        """The module with seeded weights, its kernels with the same ones, and inputs."""
        module = load(self.modules / f"{name}.py", f"module_{name}")
        kernels = load(self.file(name), f"kernels_{name}")
        torch.manual_seed(1)
        model = module.Model(*module.get_init_inputs())
        candidate = kernels.ModelNew(*module.get_init_inputs())
        candidate.load_state_dict(model.state_dict())
        return model, candidate, module.get_inputs()
