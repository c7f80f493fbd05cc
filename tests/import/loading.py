"""What tests of this folder load: task files and candidates, as modules."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

import torch


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def failure_in_child(work, *arguments, **environment):
    """The traceback with which ``work(*arguments)`` ends in a process of its own; empty where it returns.

    A fork shares torch, whose import costs more than most of what is tested. This process may not have computed with it: a fork has no threads.
    """
    if torch.distributed.is_available():
        importlib.import_module("torch.distributed.tensor")  # torch.testing.assert_close does, in each child anew
    with tempfile.TemporaryFile("w+") as told:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.environ.update(environment)
                if environment.get("TRITON_INTERPRET") == "1":
                    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
                    importlib.import_module("quick_interpreter").install()
                work(*arguments)
                status = 0
            except BaseException:
                traceback.print_exc(file=told)
                told.flush()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        told.seek(0)
        return "" if status == 0 else told.read() or f"the process ended with status {status}"


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
