"""Every recipe of recipes/train dry-runs: status 0, the resolved recipe as TOML with what the file says in it, shapes and costs of a tiny model.

    recipes_test.py DAVINCI

The resolved recipe is a recipe: it resolves to itself. Unknown and contradictory keys are refused with what to change.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(HERE, "../model"))
from models import transformers  # noqa: E402
from chat_models import make_tokenizer  # noqa: E402
TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(8, 8)]


def get_init_inputs():
    return []
"""


def dry_run(davinci, command, recipe, *sets, code=0):
    arguments = [davinci, command, recipe, "--dry-run"]
    for value in sets:
        arguments += ["--set", value]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-800:], done.stderr[-800:])
    return done.stdout if code == 0 else done.stderr


def resolved_of(said, first_line):
    """The TOML before the line that begins with `first_line`, and the lines from there on."""
    at = said.index("\n" + first_line)
    return said[:at], said[at + 1:]


def main():
    davinci = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        model, rows = os.path.join(folder, "model"), os.path.join(folder, "rows.jsonl")
        tokenizer = make_tokenizer(["a kernel is a loop"] * 3, model, vocab=300)
        config = transformers.Qwen3Config(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, head_dim=16, max_position_embeddings=4096, tie_word_embeddings=True, bos_token_id=0, eos_token_id=2,
            pad_token_id=0, architectures=["Qwen3ForCausalLM"])
        transformers.Qwen3ForCausalLM(config).save_pretrained(model)
        with open(os.path.join(folder, "task.py"), "w") as file:
            file.write(TASK)
        with open(rows, "w") as file:
            for i in range(10):
                file.write(json.dumps({"messages": [{"role": "user", "content": f"kernel {i}"}, {"role": "assistant", "content": "a loop"}]}) + "\n")
        files = sorted(glob.glob(os.path.join(ROOT, "recipes/train/**/*.toml"), recursive=True))
        names = {os.path.relpath(path, os.path.join(ROOT, "recipes/train")) for path in files}
        assert names >= {"davinci.toml", "as-published.toml", "drkernel.toml", "kevin.toml", "cuda-agent.toml", "sft.toml", "ci/sft.toml",
                         "ci/train.toml"}, names
        for path in files:
            supervised = os.path.basename(path) == "sft.toml"
            command = "sft" if supervised else "train"
            data = f'data.train=["{rows}"]' if supervised else f'train.tasks=["{folder}"]'
            said = dry_run(davinci, command, path, f"model.path={model}", data)
            text, shapes = resolved_of(said, "examples  " if supervised else "steps    ")
            resolved = tomllib.loads(text)
            with open(path, "rb") as file:
                for table, keys in tomllib.load(file).items():
                    for key, value in keys.items():
                        if (table, key) not in (("model", "path"), ("data", "train"), ("train", "tasks")):
                            assert resolved[table][key] == value, (path, table, key, value, resolved[table][key])
            assert resolved["model"]["path"] == model
            for word in ("updates", "model  ", "memory ") if supervised else ("rollouts", "turns a step", "judging  ", "model  ", "memory ", "keys and values",
                                                                              "sampling  ", "update  ", "time  "):
                assert word in shapes, (path, word, shapes)
            assert ("critic " in shapes) == (not supervised and resolved["advantage"]["kind"] == "gae"), (path, shapes)
            again = os.path.join(folder, "resolved.toml")
            with open(again, "w") as file:
                file.write(text)
            assert dry_run(davinci, command, again) == said, path
        ci = os.path.join(ROOT, "recipes/train/ci/train.toml")
        tasks = f'train.tasks=["{folder}"]'
        shapes = dry_run(davinci, "train", ci, f"model.path={model}", tasks, "model.device=cpu", "model.compute=auto")
        assert ", fp32 on the CPU" in shapes, shapes
        said = dry_run(davinci, "train", ci, f"model.path={folder}/none", 'train.tasks=["nowhere"]', code=2)
        assert "model.path: " in said and "none" in said and "train.tasks: " in said and "nowhere" in said, said
        os.rename(os.path.join(model, "model.safetensors"), os.path.join(folder, "kept"))
        said = dry_run(davinci, "train", ci, f"model.path={model}", tasks, code=2)
        assert "model.path: " in said and "safetensors" in said, said
        os.rename(os.path.join(folder, "kept"), os.path.join(model, "model.safetensors"))
        davinci_recipe = os.path.join(ROOT, "recipes/train/davinci.toml")
        said = dry_run(davinci, "train", davinci_recipe, "train.stepz=3", "critic.lamda=0.9", code=2)
        assert "train.steps" in said and "critic.lambda" in said, said
        said = dry_run(davinci, "train", davinci_recipe, "advantage.kind=gae", code=2)
        assert "advantage.cross_scheme_scaling" in said and "false" in said, said
        said = dry_run(davinci, "sft", os.path.join(ROOT, "recipes/train/sft.toml"), f"model.path={model}", "optimizer.learning_rat=1", code=2)
        assert "optimizer.learning_rate" in said, said
        for sets, words in ((("model.attention=cudnn",), ("model.deterministic = false",)),
                            (("model.attention=cudnn", "model.deterministic=false", "model.device=cpu"), ("CUDA", "auto")),
                            (("optimizer.zero_stage=3",), ("optimizer.zero_stage", "1 or 2"))):
            said = dry_run(davinci, "train", davinci_recipe, *sets, code=2)
            assert all(word in said for word in words), (sets, said)
    print(f"{len(files)} recipes")


main()
