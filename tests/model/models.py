"""Models made on the fly, and the probe that runs davinci's engine on them."""
import json
import os
import subprocess
import sys

try:
    import torch
    import transformers
except ImportError as error:  # the interpreter of a machine that only judges
    print(f"skipped: {error}")
    sys.exit(77)

torch.set_num_threads(1)  # tiny models; other tests run at the same time
transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

ROPE = {
    "none": None,
    "linear": {"rope_type": "linear", "factor": 2.5},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 64},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
}


def make_config(family, rng, **fixed):
    """A tiny configuration with shapes that nothing rounds: odd head counts, head_dim not hidden / heads, biases."""
    kv_heads = rng.choice([1, 2, 3])
    heads = kv_heads * rng.choice([1, 2, 3, 5])
    head_dim = rng.choice([8, 16, 18, 32, 40])
    values = dict(
        vocab_size=rng.choice([97, 128, 331]), hidden_size=rng.choice([48, 64, 72, 100]),
        intermediate_size=rng.choice([56, 96, 130]), num_hidden_layers=rng.choice([1, 2, 3]),
        num_attention_heads=heads, num_key_value_heads=kv_heads, max_position_embeddings=512,
        rms_norm_eps=rng.choice([1e-5, 1e-6]), tie_word_embeddings=rng.random() < 0.5,
        bos_token_id=1, eos_token_id=2, pad_token_id=0)
    theta = rng.choice([10000.0, 500000.0, 1000000.0])
    rope = ROPE[rng.choice(list(ROPE))]
    if family == "qwen2":  # has no head_dim of its own
        head_dim = 16 if head_dim % 4 else head_dim
        values["hidden_size"] = heads * head_dim
    else:
        values["head_dim"] = head_dim
        values["hidden_size"] = heads * rng.choice([7, 12, 16])  # transformers wants a multiple
    if family in ("llama", "qwen3"):
        values["attention_bias"] = rng.random() < 0.5
    if family == "llama":
        values["mlp_bias"] = rng.random() < 0.5
    values.update(fixed)
    # Large enough for sharp attention, and well-conditioned: fp32 itself must be good to 1e-5.
    values["initializer_range"] = 0.9 / values["hidden_size"] ** 0.5
    values["rope_parameters"] = {"rope_theta": theta, **(rope or {"rope_type": "default"})}
    kind = {"llama": transformers.LlamaConfig, "qwen2": transformers.Qwen2Config,
            "qwen3": transformers.Qwen3Config}[family]
    return kind(**values)


def make_model(config, folder, seed, dtype=torch.float32):
    """Random weights, biases and norms included, saved as transformers saves them."""
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").to(torch.float32)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if name.endswith("bias"):
                value.normal_(0, 0.3)
            elif "norm" in name:
                value.normal_(1, 0.2)
    model = model.to(dtype).eval()
    model.save_pretrained(folder)
    return model


class Probe:
    def __init__(self, program, **environment):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})

    def ask(self, op, **fields):
        self.process.stdin.write(json.dumps({"op": op, **fields}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the probe died with {self.process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"{op}: {reply}")
        return reply

    def generate(self, *requests):
        return self.ask("generate", requests=list(requests))["answers"]

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0, self.process.returncode


def train_counter(folder):
    """A Qwen3 that counts modulo 64: the first token, 64 + n, says by how much. Trained until its margins are real."""
    torch.manual_seed(7)
    config = transformers.Qwen3Config(
        vocab_size=80, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=1024, tie_word_embeddings=True,
        bos_token_id=70, eos_token_id=71, pad_token_id=72)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    plan = [(32, 24)] * 100 + [(8, 240)] * 60
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=len(plan))
    for batch, length in plan:
        step = torch.randint(1, 5, (batch, 1))
        text = (torch.randint(0, 64, (batch, 1)) + step * torch.arange(length)) % 64
        text = torch.cat([64 + step, text], 1)
        logits = model(text).logits[:, 1:-1]
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, 80), text[:, 2:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
    model.save_pretrained(folder)
    return model, loss.item()
