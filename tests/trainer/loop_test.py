"""The loop of `davinci train` learns a toy environment whose optimum is known (loop_probe.cc), with a critic and without.

    loop_test.py LOOP_PROBE DAVINCI

Shown: while the critic's gate is closed the policy keeps its bits and the critic learns; the gate opens when the mean explained variance of its
window says so and stays open; then the reward rises towards 3; killed at random moments the run ends with the same checkpoint, critic and gate
included; a gate that cannot open trains no policy; without pretraining the first step does; a checkpoint with a damaged critic is refused;
held-out tasks are answered by the first, every n-th and the last checkpoint, the best one is kept, and two are compared by one command; a task
that the judge refuses is left out; what the collapse monitors remember survives a kill; a step whose group does not differ rolls out further
batches of tasks up to the recipe's limit, and resumes with the same ones; started by mpirun several ranks share the update and end as one process does, with
whole and with sharded gradients; with train.max_staleness rollouts are sampled while a step is trained, by weights as old as the cap allows, the
optimum is reached all the same, and from the journal or killed anywhere the run ends with the same bits, alone and on two ranks.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ranks import ended, mpirun, ranks_of
from run_folder import content
import safetensors.numpy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
STEPS = 11
TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x


def get_inputs():
    return [torch.randn(8)]


def get_init_inputs():
    return []
"""
CONFIG = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 16, "hidden_size": 32, "intermediate_size": 64,
          "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 64,
          "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": False, "hidden_act": "silu", "eos_token_id": 0, "bos_token_id": 0}
# The published settings of CUDA Agent at the size of a toy.
CRITIC = ["task.target=cpu", "task.language=cpp", "train.tasks_per_step=1", "rollout.rollouts=40", "rollout.turns=1",
          "groups.min_deviation=0.0", "critic.learning_rate=1e-2", "critic.updates_per_step=8", "critic.value_clip=0.0", "critic.gate=0.2",
          "critic.gate_steps=2", "optimizer.learning_rate=1e-2"]


def main():
    probe, davinci = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        model, task = os.path.join(folder, "model"), os.path.join(folder, "toy.py")
        os.makedirs(model)
        with open(os.path.join(model, "config.json"), "w") as file:
            json.dump(CONFIG, file)
        with open(task, "w") as file:
            file.write(TASK)
        common = [f"model.path={model}", "model.init=random", "model.device=cpu", "model.compute=fp32", "model.threads=1",
                  f'train.tasks=["{task}"]', "llm.concurrency=2", "judge.in_flight=2"]

        def command(out, recipe, *sets):
            return [probe, os.path.join(ROOT, "recipes/train", recipe), os.path.join(folder, out), *common, *sets]

        def run(out, recipe, *sets, code=0):
            done = subprocess.run(command(out, recipe, *sets), capture_output=True, text=True)
            assert done.returncode == code, (done.returncode, done.stdout[-1500:], done.stderr[-1500:])
            if code:
                return done.stderr
            with open(os.path.join(folder, out, "log.jsonl")) as file:
                return [json.loads(line) for line in file]

        def checkpoint(out, step):
            return content(os.path.join(folder, out, "checkpoints", f"step-{step:08}"))

        begun = time.time()
        sets = [*CRITIC, f"train.steps={STEPS}", "checkpoint.keep_last=100"]
        log = run("whole", "cuda-agent.toml", *sets)
        gates = [line["critic"]["gate"] for line in log]
        variances = [line["critic"]["explained_variance"] for line in log]
        opened = gates.index(1)
        assert gates == sorted(gates) and 1 <= opened <= STEPS // 2, gates
        means = [sum(variances[i - 1:i + 1]) / 2 for i in range(1, STEPS)]
        assert all(mean < 0.2 for mean in means[:opened - 1]) and means[opened - 1] >= 0.2, (variances, gates)
        weights = [checkpoint("whole", step) for step in range(STEPS + 1)]
        for step in range(1, STEPS + 1):
            moved = weights[step]["model.safetensors"] != weights[step - 1]["model.safetensors"]
            assert moved == (step > opened) == (log[step - 1]["updates"] > 0), step
            assert weights[step]["critic/model.safetensors"] != weights[step - 1]["critic/model.safetensors"], step
        rewards = [line["reward"]["policy"] for line in log]
        first, last = sum(rewards[:opened + 1]) / (opened + 1), sum(rewards[-2:]) / 2
        assert first < 1 and last > 1.7, rewards

        # Killed anywhere, the same bits.
        kills = 0
        for step in sorted(random.sample(range(STEPS // 2), 3)):
            process = subprocess.Popen(command("killed", "cuda-agent.toml", *sets), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            reached = os.path.join(folder, "killed/checkpoints", f"step-{step:08}")
            while process.poll() is None and not os.path.exists(reached):
                time.sleep(0.005)
            time.sleep(random.uniform(0, 0.2))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait()
        assert kills > 0
        again = run("killed", "cuda-agent.toml", *sets)
        assert [line["critic"] for line in again] == [line["critic"] for line in log]
        watched = ("reply_length", "repetition", "first_token_drift", "reply_entropy")
        assert [[line[name] for name in watched] for line in again] == [[line[name] for name in watched] for line in log]
        assert all(line["reply_entropy"]["policy 1"] > 0 for line in log), log
        with open(os.path.join(folder, f"killed/checkpoints/step-{STEPS:08}/state.json")) as file:
            assert json.load(file)["monitors"]["policy 1"]["steps"] == STEPS
        last_killed = checkpoint("killed", STEPS)
        assert last_killed.keys() == weights[STEPS].keys()
        assert all(last_killed[name] == data for name, data in weights[STEPS].items()), [
            name for name, data in weights[STEPS].items() if last_killed[name] != data]

        # A gate that no critic passes: the policy stays as it was.
        run("shut", "cuda-agent.toml", *CRITIC, "critic.gate=1.0", "train.steps=2")
        assert checkpoint("shut", 2)["model.safetensors"] == weights[0]["model.safetensors"]
        eager = run("eager", "cuda-agent.toml", *CRITIC, "critic.pretrain=false", "train.steps=1")
        assert eager[0]["updates"] == 1 and checkpoint("eager", 1)["model.safetensors"] != weights[0]["model.safetensors"]

        # Held-out tasks: every second checkpoint and the last, never trained on; the best checkpoint outlives the last ones.
        held = os.path.join(folder, "held.py")
        with open(held, "w") as file:
            file.write(TASK)
        sets = [*CRITIC, "critic.pretrain=false", "train.steps=3", "train.eval_every=2", "checkpoint.keep_last=1"]
        log = run("held", "cuda-agent.toml", *sets, f'train.held_out=["{held}"]')
        assert [line["step"] for line in log if "reward" in line] == [1, 2, 3], log
        found = {line["step"]: line["held_out"] for line in log if "held_out" in line}
        assert sorted(found) == [0, 2, 3], log
        for figures in found.values():
            assert figures.keys() == {"greedy", "best of 4"}, figures
            assert all(0 <= one["fast_1.2"]["files"] <= one["fast_1"]["files"] <= one["correct"]["files"] <= 1 for one in figures.values()), figures
        with open(os.path.join(folder, "held/checkpoints/step-00000003/state.json")) as file:
            best = json.load(file)["best"]

        def of_greedy(step):
            return found[step]["greedy"]["fast_1"]["files"], found[step]["greedy"]["correct"]["files"]

        expected = 2 if of_greedy(2) > of_greedy(0) else 0
        assert (best["step"], best["fast_1"], best["correct"]) == (expected, *of_greedy(expected)), (best, found)
        for step in found:
            with open(os.path.join(folder, f"held/evaluations/step-{step:08}.jsonl")) as file:
                rollouts = [json.loads(line)["trajectory"]["id"] for line in file]
            assert len(rollouts) == 5, rollouts
        # The same command again: nothing is evaluated twice.
        again = run("held", "cuda-agent.toml", *sets, f'train.held_out=["{held}"]')
        assert again == log
        done = subprocess.run([davinci, "report", os.path.join(folder, "held@last"), "--against", os.path.join(folder, "held@0"), "--json"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        compared = json.loads(done.stdout)["comparisons"]["all tasks"]
        assert compared["common_tasks"] == 1, compared
        for metric in ("correct/greedy", "fast_1/greedy", "fast_1.2/greedy", "correct/best of 4"):
            name, reading = metric.split("/")
            before, after = (found[step][reading][name]["files"] for step in (0, 3))
            assert compared["metrics"][metric]["difference"] == after - before, (metric, compared, found)
        done = subprocess.run([davinci, "report", os.path.join(folder, "held@1")], capture_output=True, text=True)
        assert done.returncode == 2 and "0, 2, 3" in done.stderr, done.stderr
        assert sorted(os.listdir(os.path.join(folder, "held/checkpoints"))) == sorted({f"step-{best['step']:08}", "step-00000003"})
        assert "train.held_out" in run("both", "cuda-agent.toml", *sets, f'train.held_out=["{task}"]', code=1)

        # A task that the judge refuses is named and left out; the others are answered and trained on.
        broken, broken_held = os.path.join(folder, "broken.py"), os.path.join(folder, "broken_held.py")
        for name in (broken, broken_held):
            with open(name, "w") as file:
                file.write(TASK + "# refused\n")
        sets = [*CRITIC, "critic.pretrain=false", "train.steps=2", "train.eval_every=1", "checkpoint.keep_last=100"]
        mixed = [f'train.tasks=["{broken}","{task}"]', f'train.held_out=["{broken_held}","{held}"]']
        reason = "the toy judge refuses this task"
        log = run("mixed", "cuda-agent.toml", *sets, *mixed)
        trained = [line for line in log if "reward" in line]
        assert [line["updates"] for line in trained] == [1, 1], trained
        assert any(line.get("left_out") == {"broken": reason} for line in trained), trained
        assert all(line["left_out"] == {"broken_held": reason} for line in log if "held_out" in line), log
        # From the journal alone the same bits, and the same tasks.
        mixed_end = checkpoint("mixed", 2)
        for part in ("checkpoints", "evaluations", "log.jsonl"):
            path = os.path.join(folder, "mixed", part)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        again = run("mixed", "cuda-agent.toml", *sets, *mixed)
        assert checkpoint("mixed", 2) == mixed_end
        assert [line.get("left_out") for line in again] == [line.get("left_out") for line in log]
        done = subprocess.run([davinci, "report", os.path.join(folder, "mixed@0"), "--against", os.path.join(folder, "mixed@1")],
                              capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.count("1 of 2 tasks are left out, because the judge refuses them: broken_held") == 2, (
            done.stdout, done.stderr)
        failed = run("none", "cuda-agent.toml", *sets, f'train.tasks=["{broken}"]', f'train.held_out=["{held}"]', code=1)
        assert f"train.tasks: the judge refuses every task (1); broken: {reason}" in failed, failed
        failed = run("none_held", "cuda-agent.toml", *sets, f'train.tasks=["{task}"]', f'train.held_out=["{broken_held}"]', code=1)
        assert f"train.held_out: the judge refuses every task (1); broken_held: {reason}" in failed, failed

        # Dynamic sampling: groups of two are often alike.
        sets = ["task.target=cpu", "task.language=cpp", "train.tasks_per_step=1", "rollout.rollouts=2", "rollout.turns=1", "advantage.kind=trloo",
                "groups.min_deviation=1e-3", "groups.min_members=2",
                "train.max_batches=3", "train.steps=12", "optimizer.learning_rate=1e-3", "checkpoint.keep_last=100"]
        log = run("drawn", "cuda-agent.toml", *sets)

        def differs(segment):
            found = []
            with open(os.path.join(folder, f"drawn/steps/{segment:08}.jsonl")) as file:
                for line in file:
                    unit = json.loads(line)
                    if unit["kind"] == "judgement":
                        evaluation = unit["body"]["evaluation"]
                        found.append((evaluation["correct"], [s["median"] for s in evaluation.get("evidence", {}).get("speedups", [])]))
            assert len(found) == 2, found
            return found[0] != found[1]

        segment = 0
        for line in log:
            groups = [differs(segment + i + 1) for i in range(line["batches"])]
            segment += line["batches"]
            assert not any(groups[:-1]) and (groups[-1] or len(groups) == 3), (line["step"], groups)
            assert line["updates"] == groups[-1] and abs(line["turns"]["untrained"] - 1 + groups[-1] / len(groups)) < 1e-9, (line, groups)
        assert segment == len(os.listdir(os.path.join(folder, "drawn/steps"))) > 12, segment
        process = subprocess.Popen(command("redrawn", "cuda-agent.toml", *sets), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        target = random.randint(3, segment // 2)
        while process.poll() is None and len(os.listdir(os.path.join(folder, "redrawn/steps")) if os.path.exists(
                os.path.join(folder, "redrawn/steps")) else []) < target:
            time.sleep(0.005)
        assert process.poll() is None, "ended before it was killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert [line["batches"] for line in run("redrawn", "cuda-agent.toml", *sets)] == [line["batches"] for line in log]
        assert checkpoint("redrawn", 12) == checkpoint("drawn", 12)
        extra = segment - 12

        # Rollouts of later steps while one is trained.
        sets = ["task.target=cpu", "task.language=cpp", "train.tasks_per_step=1", "rollout.rollouts=24", "rollout.turns=1", "advantage.kind=trloo",
                "groups.min_deviation=0.0", "mismatch.rule=reject", "train.steps=14", "optimizer.learning_rate=5e-3", "checkpoint.keep_last=1"]

        def policies(out):
            """Of each step the checkpoint that sampled it, as the journal and as every reply's trace say it; and how many steps began beside
            the former one's judgements."""
            found, began_beside, judged = [], 0, 0.0
            for step in range(1, 15):
                with open(os.path.join(folder, out, f"steps/{step:08}.jsonl")) as file:
                    steps_units = [json.loads(line) for line in file]
                drawn = [unit["body"]["policy"] for unit in steps_units if unit["kind"] == "drawn"]
                said = {unit["body"]["trace"]["update"] for unit in steps_units if unit["kind"] == "generation"}
                assert said == set(drawn) and len(drawn) == 1, (step, said, drawn)
                found += drawn
                began_beside += min(unit["finished_unix_s"] for unit in steps_units if unit["kind"] == "generation") < judged
                judged = max(unit["finished_unix_s"] for unit in steps_units if unit["kind"] == "judgement")
            return found, began_beside

        stale_rewards = {}
        for cap in (1, 3):
            out, capped = f"stale{cap}", [*sets, f"train.max_staleness={cap}"]
            log = run(out, "cuda-agent.toml", *capped)
            sampled, began_beside = policies(out)
            assert (began_beside > 0) == (cap >= 2), (cap, began_beside)
            ages = [step - policy for step, policy in enumerate(sampled)]
            assert sampled == sorted(sampled) and 0 <= min(ages) and max(ages) <= cap, sampled
            # The device is those' who time it but while a step is trained.
            with open(os.path.join(folder, out, "turns")) as file:
                assert file.read().splitlines() == ["taken at cpu", "left"] * len(log)
            # Step 2 may begin as soon as there are rollouts of step 1: nothing is trained by then.
            assert ages[1] == 1 and sum(ages) > 0, sampled
            for age, line in zip(ages, log):
                assert line["staleness"]["max"] == line["staleness"]["mean"] == age, (age, line)
                assert (line["staleness"]["drift_max"] > 1e-4) == (age > 0 and line["parity"]["replies"] == 0), line
                assert age > 0 or line["parity"]["max"] < 1e-4, line
                assert all(0 <= line["idle"][part] <= 1 for part in ("trainer", "rollouts", "model", "judge")), line
                assert line["updates"] == 1 and line["learning_rate"] > 0
            rewards = [line["reward"]["policy"] for line in log]
            stale_rewards[cap] = rewards[0], rewards[-1]
            assert rewards[-1] > rewards[0] + 0.5, rewards
            whole = checkpoint(out, 14)
            # The same bits from the journal without its checkpoints …
            copied = os.path.join(folder, f"copied{cap}")
            shutil.copytree(os.path.join(folder, out), copied)
            shutil.rmtree(os.path.join(copied, "checkpoints"))
            again = run(f"copied{cap}", "cuda-agent.toml", *capped)
            assert checkpoint(f"copied{cap}", 14) == whole
            assert [line["staleness"] for line in again] == [line["staleness"] for line in log]
            # … and from where it was killed: once more from what a killed run has recorded.
            killed = f"killed{cap}"
            for _ in range(3):
                process = subprocess.Popen(command(killed, "cuda-agent.toml", *capped), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(random.uniform(0.3, 1.5))
                process.kill()
                process.wait()
            run(killed, "cuda-agent.toml", *capped)
            ages = [step - policy for step, policy in enumerate(policies(killed)[0])]
            assert 0 <= min(ages) and max(ages) <= cap, ages
            end = checkpoint(killed, 14)
            shutil.rmtree(os.path.join(folder, killed, "checkpoints"))
            run(killed, "cuda-agent.toml", *capped)
            assert checkpoint(killed, 14) == end
        print("reward with stale rollouts, by cap: " + ", ".join(f"{cap}: {a:.2f} -> {b:.2f}" for cap, (a, b) in stale_rewards.items()), flush=True)
        if shutil.which("mpirun"):
            # Two ranks from the journal of one.
            two = os.path.join(folder, "two")
            shutil.copytree(os.path.join(folder, "stale1"), two)
            shutil.rmtree(os.path.join(two, "checkpoints"))
            done = subprocess.run(mpirun(2, command("two", "cuda-agent.toml", *sets, "train.max_staleness=1")), capture_output=True, text=True)
            assert done.returncode == 0, (done.stdout[-1500:], done.stderr[-1500:])
            files = [safetensors.numpy.load_file(os.path.join(folder, name, "checkpoints/step-00000014/model.safetensors")) for name in ("stale1", "two")]
            difference = max(float(abs(files[0][name] - files[1][name]).max()) for name in files[0])
            assert difference < 1e-4, difference  # a learning rate of 5e-3: Adam makes steps of noise

        # Several ranks: rank 0 samples, all compute the update. As one process, up to rounding; goes on with any number.
        if shutil.which("mpirun"):
            sets = ["task.target=cpu", "task.language=cpp", "train.tasks_per_step=1", "rollout.rollouts=12", "rollout.turns=1",
                    "advantage.kind=trloo", "groups.min_deviation=1e-3", "train.steps=8", "train.updates_per_step=2",
                    "mismatch.rule=reject", "model.tokens_per_pass=6", "optimizer.learning_rate=1e-3", "checkpoint.keep_last=100"]
            one = run("one", "cuda-agent.toml", *sets)
            sharded = subprocess.run(mpirun(2, command("sharded", "cuda-agent.toml", *sets, "optimizer.zero_stage=2")), capture_output=True,
                                     text=True)
            assert sharded.returncode == 0, (sharded.stdout[-1500:], sharded.stderr[-1500:])

            def same(out):
                with open(os.path.join(folder, out, "log.jsonl")) as file:
                    log = [json.loads(line) for line in file]
                for a, b in zip(one, log, strict=True):
                    assert a["reward"] == b["reward"] and a["trained_tokens"] == b["trained_tokens"] and a["advantage"] == b["advantage"], (a, b)
                    for x, y in ((a["loss"]["policy"], b["loss"]["policy"]), (a["gradient_norm"], b["gradient_norm"]),
                                 (a["kl"]["policy"], b["kl"]["policy"]), (a["entropy"]["policy"], b["entropy"]["policy"])):
                        assert abs(x - y) <= 1e-5 * max(1, abs(x)), (a, b)
                files = [safetensors.numpy.load_file(os.path.join(folder, name, "checkpoints/step-00000008/model.safetensors"))
                         for name in ("one", out)]
                assert files[0].keys() == files[1].keys()
                return max(float(abs(files[0][name] - files[1][name]).max()) for name in files[0]), log[-1]["ranks"]

            difference, said = same("sharded")
            assert difference <= 1e-5 and said == 2, (difference, said)
            for ranks in (2, 3):
                out = f"ranks{ranks}"
                process = subprocess.Popen(mpirun(ranks, command(out, "cuda-agent.toml", *sets)), stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                reached = os.path.join(folder, out, f"checkpoints/step-{random.randint(1, 2):08}")
                while process.poll() is None and not os.path.exists(reached):
                    time.sleep(0.002)
                assert process.poll() is None, "it ended before a rank could be killed"
                pids = ranks_of(process.pid)
                os.kill(pids[random.randrange(ranks)], signal.SIGKILL)
                assert process.wait() != 0 and all(ended(pid) for pid in pids.values()), pids
                done = subprocess.run(mpirun(5 - ranks, command(out, "cuda-agent.toml", *sets)), capture_output=True, text=True)
                assert done.returncode == 0, (done.stdout[-1500:], done.stderr[-1500:])
                difference, said = same(out)
                assert difference <= 1e-5 and said == 5 - ranks, (difference, said)
                print(f"{ranks} ranks, killed, then {5 - ranks}: weights differ from one process by {difference:.1e} at most", flush=True)
            done = subprocess.run(mpirun(2, command("refused", "cuda-agent.toml", *CRITIC)), capture_output=True, text=True)
            assert done.returncode != 0 and "a critic is trained by one process" in done.stderr, done.stderr[-800:]

        damaged = os.path.join(folder, "eager/checkpoints/step-00000001/critic/model.safetensors")
        with open(damaged, "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"\x7f")
        assert "critic/model.safetensors" in run("eager", "cuda-agent.toml", *CRITIC, "critic.pretrain=false", "train.steps=1", code=1)
        print(f"gate opened at step {opened + 1} (explained variance {variances[opened]:.2f}); reward {first:.2f} -> {last:.2f}; {kills} kills; {extra} further batches in 12 steps; "
              f"{time.time() - begun:.0f} s")


main()
