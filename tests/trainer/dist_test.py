"""davinci sft on several ranks: the same weights and losses as one process, resumed with other numbers of ranks, a rank
that dies, and errors said once. Skipped without mpirun.

    dist_test.py DAVINCI [cuda]

On cuda each rank has a device, and they meet as under torchrun.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ranks import MPIRUN, ended, environments, mpirun, ranks_of, several
from run_folder import content
from sft_world import RECIPE, World, log_of, newest
import numpy as np
import safetensors.numpy

DEVICE = sys.argv[2] if len(sys.argv) > 2 else "cpu"
# Ragged: 7 rows of different lengths in updates of 3, 3 and 1, in passes of few rows.
COMMON = ("data.examples_per_update=3", "data.epochs=4", "model.tokens_per_pass=100", "optimizer.learning_rate=1e-3",
          "optimizer.weight_decay=0.1", "checkpoint.every=4", "model.recomputed_layers=1", f"model.device={DEVICE}", "model.compute=fp32",
          # There the order of sums depends on the rows of a pass; Adam must not turn that noise of tiny gradients into steps.
          *(["optimizer.epsilon=1e-5"] if DEVICE != "cpu" else []))
UPDATES = 12


def run(command, code=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert (done.returncode == 0) == (code == 0), (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout, done.stderr


def make_rows(world):
    world.write(world.data, [
        {"messages": [{"role": "user", "content": "write " + "x" * (7 * i % 11)},
                      {"role": "assistant", "content": " ".join(["y[i] = exp(x[i]);", "sum", "relu"][j % 3] for j in range(3 * i + 1))}],
         "agent": ["policy", "selection", "summary"][i % 3]} for i in range(7)])


OPTIMIZER = "optimizer/model.safetensors"


def tensors(folder, names=None):
    """What a checkpoint holds, by file."""
    names = names or [name for name in content(folder) if name.endswith(".safetensors")]
    return {name: safetensors.numpy.load_file(os.path.join(folder, name)) for name in names}


def same(ours, theirs, tolerance=1e-5):
    """Two runs' curves and last checkpoints are equal; returns the largest difference of a weight."""
    for a, b in zip(log_of(ours), log_of(theirs), strict=True):
        for key in ("loss", "gradient_norm", "eval_loss"):
            assert np.isclose(a.get(key, 0), b.get(key, 0), rtol=tolerance, atol=tolerance), (a["step"], key, a.get(key), b.get(key))
        assert all(a[key] == b[key] for key in ("step", "tokens", "trained_tokens", "skipped_updates", "learning_rate")), (a, b)
        assert a["agent_loss"].keys() == b["agent_loss"].keys()
    first, second = newest(ours), newest(theirs)
    assert first[1] == second[1], (first, second)
    left, right = tensors(first[0]), tensors(second[0])
    assert left.keys() == right.keys() and OPTIMIZER in left, (left.keys(), right.keys())
    worst = 0
    for name, file in left.items():
        assert file.keys() == right[name].keys()
        for tensor, values in file.items():
            assert values.shape == right[name][tensor].shape
            worst = max(worst, np.abs(values - right[name][tensor]).max())
    assert worst < tolerance, worst
    return worst


def equal(world):
    """2 and 3 ranks against one, with full weights and with LoRA, with whole and with sharded gradients; 3 divides no
    tensor of this model evenly."""
    worst = []
    base = None
    full = ((2, 1), (3, 1), (2, 2), (3, 2)) if DEVICE == "cpu" else ((2, 1), (2, 2))
    for name, sets, variants in (("full", (f'data.eval="{world.data}"',), full), ("muon", ("optimizer.kind=muon",), ((3, 1),)),
                                 ("lora", ("lora.rank=4", "lora.alpha=8", "model.init=pretrained"), ((2, 1), (2, 2)))):
        sets = (*COMMON, *sets, *((f"model.path={base}",) if base else ()))
        one = os.path.join(world.folder, name)
        run(world.command(one, *sets))
        gradients = {}
        for ranks, stage in variants:
            out_several = f"{one}-{ranks}-{stage}"
            out, err = run(several(ranks, world.command(out_several, *sets, f"optimizer.zero_stage={stage}"), DEVICE))
            # Rank 0 alone speaks and writes.
            for update in range(1, UPDATES + 1):
                assert out.count(f"update {update}/{UPDATES} ") == 1, out
            assert out.count("the model is") == 1 and (err == "" or DEVICE != "cpu"), (out, err)
            assert len(os.listdir(os.path.join(out_several, "tensorboard"))) == 1
            assert {line["ranks"] for line in log_of(out_several)} == {ranks}
            gradients[ranks, stage] = log_of(out_several)[-1]["gradient_bytes"]
            worst.append(same(out_several, one))
            with open(os.path.join(newest(out_several)[0], "state.json")) as ours, \
                    open(os.path.join(newest(one)[0], "state.json")) as theirs:
                assert [line.split(":")[0] for line in ours] == [line.split(":")[0] for line in theirs]
        whole = log_of(one)[-1]["gradient_bytes"]
        for (ranks, stage), kept in gradients.items():
            # Shares, and the one layer or outer tensor that has not been summed yet.
            assert kept == whole if stage == 1 else whole / ranks < kept < 0.8 * whole, (name, ranks, stage, kept, whole)
        base = newest(one)[0]
    return worst


def until(out, update, process):
    log = os.path.join(out, "log.jsonl")
    while process.poll() is None and (not os.path.exists(log) or sum(1 for _ in open(log)) < update):
        time.sleep(0.002)
    assert process.poll() is None, "it ended before it could be stopped"


def interrupted(world):
    """2 ranks of which one is killed, then 1, told to stop, then 2: the curve and weights of one process that never stopped."""
    sets = (*COMMON, "data.epochs=12", "checkpoint.every=1", "optimizer.zero_stage=2")
    one, broken = os.path.join(world.folder, "one"), os.path.join(world.folder, "broken")
    run(world.command(one, *sets))
    process = subprocess.Popen(several(2, world.command(broken, *sets), DEVICE), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(broken, 3, process)
    ranks = ranks_of(process.pid)
    os.kill(ranks[1], signal.SIGKILL)
    begun = time.time()
    err = process.communicate()[1]
    seconds = time.time() - begun
    assert process.returncode != 0 and err.count("rank 1") >= 1 and "signal 9" in err, err
    assert ended(ranks[0]), seconds
    done = int(newest(broken)[0][-8:])
    assert done >= 2
    # What was done before is kept, whatever a rank was in the middle of.
    process = subprocess.Popen(world.command(broken, *sets), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(broken, done + 3, process)
    process.send_signal(signal.SIGUSR1)
    out, err = process.communicate()
    assert f"continuing after update {done}\n" in out and "the same command continues" in err, (out, err)
    # The launcher passes the signal on: all ranks stop behind the same update.
    done = int(newest(broken)[0][-8:])
    process = subprocess.Popen(several(2, world.command(broken, *sets), DEVICE), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(broken, done + 3, process)
    process.send_signal(signal.SIGUSR1)
    out, err = process.communicate()
    assert f"continuing after update {done} with 2 ranks\n" in out and err.count("the same command continues") == 1, (out, err)
    run(several(2, world.command(broken, *sets), DEVICE))
    same(broken, one, 1e-4)
    return seconds


def bf16(world):
    """Sharded fp32 masters: 2 ranks end where 1 does, up to what rounding to bf16 makes of the order of a sum."""
    sets = (*COMMON, "model.compute=bf16", "optimizer.zero_stage=2")
    one, two = os.path.join(world.folder, "bf16"), os.path.join(world.folder, "bf16-2")
    run(world.command(one, *sets))
    run(several(2, world.command(two, *sets), DEVICE))
    ours, theirs = (tensors(newest(out)[0], [OPTIMIZER])[OPTIMIZER] for out in (two, one))
    worst = {name: np.abs(values - ours[name]).max() for name, values in theirs.items()}
    # On cuda the rounding of single gradients differs with the rows of a pass.
    assert max(worst.values()) < (2e-3 if DEVICE == "cpu" else 1e-2) and sum(name.startswith("master.") for name in worst) > 10, worst
    assert np.isclose(log_of(two)[-1]["loss"], log_of(one)[-1]["loss"], rtol=5e-3)


def skipped(world):
    """An update whose gradient is not finite is skipped by all ranks together."""
    sets = (*COMMON, "optimizer.learning_rate=1e30", "optimizer.warmup_fraction=0")
    out = os.path.join(world.folder, "skipped")
    text, _ = run(several(2, world.command(out, *sets), DEVICE))
    log = log_of(out)
    assert log[0]["skipped_updates"] == 0 and log[-1]["skipped_updates"] == UPDATES - 1, log[-1]
    assert text.count("the gradient is not finite") == UPDATES - 1


def bad_input(world):
    out = os.path.join(world.folder, "bad")
    # The same problem on all ranks is said once.
    _, err = run(mpirun(2, world.command(out, "data.max_tokens=10")), code=2)
    assert err.count("davinci sft:") == 1 and "max_tokens" in err, err
    # A problem of one rank is everyone's.
    good = world.command(out, *COMMON)
    missing = world.command(out, *COMMON, 'data.train=["nowhere.jsonl"]')
    _, err = run([*MPIRUN, "-n", "1", *good, ":", "-n", "1", *missing], code=2)
    assert err.count("davinci sft:") == 1 and "rank 1: " in err and "nowhere.jsonl" in err, err
    other = world.command(out, *COMMON, "run.seed=7")
    _, err = run([*MPIRUN, "-n", "1", *good, ":", "-n", "1", *other], code=2)
    assert err.count("davinci sft:") == 1 and "rank 1 has another recipe" in err, err
    _, err = run(mpirun(2, [world.davinci, "train", os.path.join(os.path.dirname(RECIPE), "train.toml"), "--out", out]), code=2)
    assert err.count("model.path is not set") == 1, err
    # Started as torchrun starts: the ranks meet through TCP, and on the CPU have nothing to train with.
    started = [subprocess.Popen(world.command(out, *COMMON), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
               for environment in environments(2)]
    texts = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [2, 2], texts
    assert "mpirun" in texts[0] and texts[1] == "", texts


def main():
    if DEVICE == "cpu" and shutil.which("mpirun") is None:
        print("skipped: no mpirun")
        sys.exit(77)
    os.environ["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"  # containers forbid it, with a warning
    with tempfile.TemporaryDirectory() as folder:
        world = World(sys.argv[1], folder)
        make_rows(world)
        times = []
        # What is said of bad input does not depend on the device.
        for part in (equal, interrupted, bf16, skipped, *([bad_input] if DEVICE == "cpu" else [])):
            begun = time.time()
            result = part(world)
            times.append(f"{part.__name__} {time.time() - begun:.1f} s")
            if part is equal:
                worst = result
            if part is interrupted:
                seconds = result
    print(f"largest difference of weights and moments {max(worst):.1e}; a dead rank ended the others in {seconds:.1f} s; "
          + ", ".join(times))


main()
