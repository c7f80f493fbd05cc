"""What a forged profile gains: a kernel that leaves nearly all of its work to PyTorch, judged as it is and with the report of its own process
rewritten to say that PyTorch did nothing.

    forged_profile_test.py DAVINCI

Shown, on the cpu target with the real judge: the forgery is believed, because coverage rests on the candidate's word; it changes neither the
verdict nor the measured speedup; its reward is higher by the coverage term, 0.5 at most, and profile rejection, which drops most such kernels,
keeps it; a copy of PyTorch stays a decoy, whatever its profile says.
"""
import json
import os
import subprocess
import sys
import tempfile

TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.erf(torch.sin(torch.tanh(x))) + 1.0


def get_inputs():
    return [torch.randn(1 << 18)]


def get_init_inputs():
    return []
"""
LAZY = '''import torch, davinci_runtime as dv
k = dv.cpp_module(r"""#include <cstdint>
extern "C" void f(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 1.0f;
}
""").get("f", "ptr ptr i64")
class ModelNew(torch.nn.Module):
    def forward(self, x):
        x = torch.erf(torch.sin(torch.tanh(x)))
        y = torch.empty_like(x)
        k(x, y, x.numel())
        return y
'''
COPY = """import torch
class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.erf(torch.sin(torch.tanh(x))) + 1.0
"""
FORGERY = """
from davinci_worker import runner as R
honest = R.Runner.reply
def forged(self, message, fds):
    report = honest(self, message, fds)
    if message["op"] == "profile":
        report["ok"].update(library_share=0.0, operators=[])
    return report
R.Runner.reply = forged
"""


def main():
    davinci = sys.argv[1]
    os.environ.setdefault("DAVINCI_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DAVINCI_CACHE_DIR"] = os.path.join(folder, "cache")
        task = os.path.join(folder, "task.py")
        with open(task, "w") as file:
            file.write(TASK)

        def judged(name, source):
            kernels, run = os.path.join(folder, name), os.path.join(folder, "run-" + name)
            os.makedirs(kernels)
            with open(os.path.join(kernels, "task.py"), "w") as file:
                file.write(source)
            done = subprocess.run([davinci, "bench", "--tasks", task, "--generations", kernels, "-t", "cpu", "--json", "--protocol", "davinci",
                                   "--run", run, "--set", "judge.turn_protocol=screening", "--set", "judge.final_protocol=screening",
                                   "--set", "judge.threads=1"], capture_output=True, text=True)
            assert done.returncode == 0, (done.stdout[-1500:], done.stderr[-1500:])
            metrics = json.loads(done.stdout)["sections"][0]["metrics"]
            with open(os.path.join(run, "steps/00000001.jsonl")) as file:
                units = [json.loads(line) for line in file]
            evaluation = next(unit["body"]["evaluation"] for unit in units if unit["kind"] == "judgement")
            return *(metrics[key]["value"] for key in ("reward/final", "correct/final", "mean_speedup/final")), evaluation

        reward, correct, speedup, honest = judged("lazy", LAZY)
        coverage = 1 - honest["evidence"]["profile"]["library_share"]
        assert correct == 1 and 0 < coverage < 0.5, honest["evidence"]["profile"]
        assert abs(reward - (0.5 + 0.5 * min(speedup, 6) + 0.5 * coverage)) < 1e-6, (reward, speedup, coverage)

        forged_reward, correct, forged_speedup, forged = judged("forged", LAZY + FORGERY)
        assert correct == 1 and forged["status"] == honest["status"] == "ok", forged
        assert forged["evidence"]["profile"]["library_share"] == 0, "the forgery is not believed any more: docs/training.md says that it is"
        assert abs(forged_reward - (0.5 + 0.5 * min(forged_speedup, 6) + 0.5)) < 1e-6, (forged_reward, forged_speedup)
        gain = forged_reward - reward - 0.5 * (min(forged_speedup, 6) - min(speedup, 6))
        assert abs(gain - 0.5 * (1 - coverage)) < 1e-6 and 0.25 < gain <= 0.5, gain

        for name, source in (("copy", COPY), ("forged_copy", COPY + FORGERY)):
            copied_reward, correct, _, copied = judged(name, source)
            assert copied["status"] == "ok" and correct == 0 and copied_reward == 0, (name, copied_reward, copied)
    print(f"coverage {coverage:.2f} forged to 1: reward {reward:.2f} -> {forged_reward:.2f}, of which {gain:.2f} by the profile")


main()
