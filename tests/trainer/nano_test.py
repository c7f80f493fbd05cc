"""tools/train_nano.sh in the size of a test: rows, tokenizer, weights, training with judged answers, evaluation, a model in split
files that davinci runs; a second run does nothing, and a training that was stopped continues. tools/learn_nano.sh after it: reinforcement
and its comparisons, each with its table.

    nano_test.py DAVINCI
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def make(davinci, out, script="train_nano", **variables):
    done = subprocess.run([os.path.join(ROOT, f"tools/{script}.sh"), out, "ci"], capture_output=True, text=True,
                          env={**os.environ, "DAVINCI": davinci, **variables})
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def table(out, name):
    with open(os.path.join(out, "tables", name + ".json")) as file:
        return json.load(file)


def learn(davinci, out):
    """All stages: stopped before the first, then in two pieces."""
    assert make(davinci, out, "learn_nano", MINUTES="0") == "", "a piece without time does something"
    sets = "rollout.turns=1 rollout.rollouts=1 replay.examples=2"
    begun = make(davinci, out, "learn_nano", STAGES="start varied rl", STEPS="1", SETS=sets, VARIED="16")
    assert "step 1/1" in begun, begun
    with open(os.path.join(out, "start", "model.safetensors"), "rb") as after, open(os.path.join(out, "start-before", "model.safetensors"), "rb") as before:
        assert after.read() != before.read(), "the start has learned nothing"
    said = make(davinci, out, "learn_nano", VARIANTS="policy-alone", SETS=sets, WITHOUT="fuse-pointwise-chain branch-free-exp")
    assert "learn_nano: rl" not in said and "learn_nano: ablations" in said, said
    assert make(davinci, out, "learn_nano") == f"learn_nano: done: {out}\n"
    assert len(table(out, "rl")["training"]["points"]) == 1
    with open(os.path.join(out, "rl", "recipe.toml")) as file:
        recipe = file.read()
    assert "varied-cards" in recipe and "varied-rows" not in recipe, "the start's rows with cards, and they alone, are learned along"
    # One held-out combination, and the two held-out families of train_nano.sh.
    for name in ("evaluate", "selection-bm25", "selection-random", "selection-none", "ablation-policy-alone"):
        compared = table(out, name)["comparisons"]
        assert sorted(compared) == ["all tasks", "combination", "family"] and compared["all tasks"]["common_tasks"] == 3, (name, compared)
    assert [row["variant"] for row in table(out, "ablations")] == ["policy-alone"] and table(out, "wins") == [], out
    with open(os.path.join(out, "tables", "library.txt")) as file:
        assert "2 techniques left out" in file.read()
    with open(os.path.join(out, "library", "log.jsonl")) as file:
        steps = [json.loads(line) for line in file]
    known = json.loads(subprocess.run([davinci, "skills", "--library", os.path.join(out, "library.db"), "--json", "list"],
                                      capture_output=True, text=True, check=True).stdout)
    techniques = sum(not skill["scope"].startswith("operator/") for skill in known)
    assert techniques < len(known), "operator cards are part of the library"
    assert steps[-1]["library"] == techniques - 2, (steps[-1]["library"], techniques)


def main():
    davinci = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as out:
        first = make(davinci, out, STAGES="rows tokenizer new sft", SETS="data.max_updates=4", PROBES="1")
        assert "tokens, " in first and "parameters" in first, first
        with open(os.path.join(out, "sft", "log.jsonl")) as file:
            log = [json.loads(line) for line in file]
        updates = [line for line in log if "loss" in line]
        assert [line["step"] for line in updates] == [1, 2, 3, 4] and "accuracy" in updates[-1], updates
        answers = [line for line in log if "correct" in line]
        assert len(answers) == 1 and answers[0]["step"] == 4 and set(answers[0]["correct"]) == {"combination"}, log
        assert answers[0]["correct"]["combination"] == 0, answers
        rest = make(davinci, out, PROBES="1")
        assert "train_nano: evaluate" in rest and "train_nano: sft" not in rest and "correct" in rest, rest
        files = glob.glob(os.path.join(out, "davinci-nano", "*.gguf"))
        assert files and all(os.path.getsize(file) <= 8 << 20 for file in files), files
        # Where it is installed it is the model of --llm embedded, asked as its folder says.
        home = os.path.join(out, "home")
        os.mkdir(home)
        for part in ("prompts", "python", "recipes", "skills", "synth", "tasks"):
            os.symlink(os.path.join(ROOT, part), os.path.join(home, part))
        bench = [davinci, "bench", "--tasks", os.path.join(out, "probes/combination"), "--llm", "embedded", "--target", "cpu",
                 "--samples", "1", "--turns", "1", "--run", os.path.join(out, "run")]
        # That home has no .venv.
        place = {**os.environ, "DAVINCI_HOME": home, "DAVINCI_PYTHON": sys.executable}
        said = subprocess.run(bench, capture_output=True, text=True, env=place)
        assert said.returncode == 2 and "models/davinci-nano" in said.stderr and "--model" in said.stderr, said
        os.mkdir(os.path.join(home, "models"))
        os.symlink(os.path.join(out, "davinci-nano"), os.path.join(home, "models", "davinci-nano"))
        said = subprocess.run(bench, capture_output=True, text=True, env=place)
        assert said.returncode == 0, said
        with open(os.path.join(out, "run", "recipe.toml")) as file:
            recipe = file.read()
        assert "max_tokens = 64" in recipe and "prompts/compact" in recipe, recipe
        assert make(davinci, out) == f"train_nano: done: {out}\n"
        learn(davinci, out)
    print("rows to a shipped model in stages")


main()
