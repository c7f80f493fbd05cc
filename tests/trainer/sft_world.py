"""A tiny model and rows for it, and davinci sft on them."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../model"))
from models import transformers  # noqa: E402
from chat_models import chat, make_tokenizer  # noqa: E402

RECIPE = os.path.join(HERE, "../../recipes/train/ci/sft.toml")
PAIRS = [(f"rewrite {name} as fast C++", f"void {name}(const float* x, float* y, int n) {{ {body} }}")
         for name, body in [("relu", "for (i) y[i] = x[i] > 0 ? x[i] : 0;"), ("copy", "memcpy(y, x, 4 * n);"),
                            ("scale", "for (i) y[i] = 2 * x[i];"), ("sum", "y[0] = reduce(x, n);"),
                            ("exp", "for (i) y[i] = expf(x[i]);"), ("tanh", "for (i) y[i] = tanhf(x[i]);"),
                            ("abs", "for (i) y[i] = fabsf(x[i]);"), ("neg", "for (i) y[i] = -x[i];")]]


class World:
    def __init__(self, davinci, folder):
        self.davinci, self.folder = davinci, folder
        self.model = os.path.join(folder, "model")
        self.tokenizer = make_tokenizer([chat(q, a) for q, a in PAIRS], self.model)
        transformers.Qwen3Config(
            vocab_size=self.tokenizer.get_vocab_size(), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, head_dim=16, max_position_embeddings=512,
            tie_word_embeddings=True, bos_token_id=0, eos_token_id=2, pad_token_id=0,
            architectures=["Qwen3ForCausalLM"]).save_pretrained(self.model)
        self.data = os.path.join(folder, "train.jsonl")
        agents = ["policy", "selection", "summary"]
        self.write(self.data, [{"messages": [{"role": "user", "content": q}, {"role": "assistant", "content": a}],
                                "agent": agents[i % 3], "origin": "test"} for i, (q, a) in enumerate(PAIRS)])

    @staticmethod
    def write(path, rows):
        with open(path, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    def command(self, out, *sets, flags=()):
        arguments = [self.davinci, "sft", RECIPE, "--set", f"model.path={self.model}",
                     "--set", f'data.train=["{self.data}"]', *flags]
        for value in sets:
            arguments += ["--set", value]
        return arguments + (["--out", out] if out else [])

    def run(self, out, *sets, flags=(), code=0):
        done = subprocess.run(self.command(out, *sets, flags=flags), capture_output=True, text=True)
        assert done.returncode == code, (done.returncode, done.stdout[-800:], done.stderr[-800:])
        return done.stdout + done.stderr


def log_of(out):
    with open(os.path.join(out, "log.jsonl")) as file:
        return [json.loads(line) for line in file]


def newest(out):
    steps = sorted(os.listdir(os.path.join(out, "checkpoints")))
    return os.path.join(out, "checkpoints", steps[-1]), steps
