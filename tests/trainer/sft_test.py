"""davinci sft from the outside: what is trained, memorising, checkpoints, kill -9, bad input, and the golden loss curve.

    sft_test.py DAVINCI PROBE [--write-golden]
"""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../model"))
from models import Probe, torch, transformers  # noqa: E402
from chat_models import chat  # noqa: E402
from run_folder import content  # noqa: E402
from sft_world import PAIRS, World, log_of, newest  # noqa: E402
import numpy as np  # noqa: E402

GOLDEN = os.path.join(HERE, "golden_loss.json")


def dry_run(world):
    # Trained are the replies with the end of their turn, and nothing else; a weight of 0 is context.
    replies = [len(world.tokenizer.encode(a).ids) + 1 for _, a in PAIRS]
    assert f"{sum(replies)} trained" in world.run(None, flags=["--dry-run"])
    rows = [{"messages": json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "relu", "weight": 0},
                                     {"role": "user", "content": "and"}, {"role": "assistant", "content": "copy"}]),
             "tools": None}]
    path = os.path.join(world.folder, "two.jsonl")
    world.write(path, rows)
    text = world.run(None, f'data.train=["{path}"]', flags=["--dry-run"])
    assert f"{len(world.tokenizer.encode('copy').ids) + 1} trained" in text, text
    assert "memory" in text and "GiB" in text and "examples_per_update = 8" in text, text


def overfit(world):
    out = os.path.join(world.folder, "overfit")
    begun = time.time()
    world.run(out)
    log = log_of(out)
    assert [line["step"] for line in log] == list(range(1, 81))
    assert log[0]["loss"] > 5 and log[-1]["loss"] < 0.05, (log[0], log[-1])
    assert set(log[0]["agent_loss"]) == {"policy", "selection", "summary"}
    folder, steps = newest(out)
    assert steps == ["step-00000060", "step-00000080"], steps
    # The file is a model: transformers finds it gives the replies, and so does davinci itself.
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = torch.tensor([world.tokenizer.encode(chat(*PAIRS[0])).ids[:-1]])
    start = len(world.tokenizer.encode(chat(PAIRS[0][0])).ids)
    with torch.no_grad():
        logits = model(ids).logits[0]
    loss = torch.nn.functional.cross_entropy(logits[start - 1:-1], ids[0, start:]).item()
    assert loss < 0.08, loss
    said = subprocess.run([world.davinci, "generate", "--model", folder, "--device", "cpu", "--temperature", "0",
                           PAIRS[3][0]], capture_output=True, text=True)
    assert said.stdout.strip() == PAIRS[3][1], said
    events = os.listdir(os.path.join(out, "tensorboard"))
    assert len(events) == 1
    tags = scalars(os.path.join(out, "tensorboard", events[0]))
    assert abs(tags[("loss", 80)] - log[-1]["loss"]) < 1e-6 and ("agent_loss/summary", 1) in tags
    return log[-1]["loss"], time.time() - begun


def scalars(path):
    """{(tag, step): value} of a TensorBoard file."""
    def varint(data, at):
        value, shift = 0, 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value, at

    def fields(data):
        at = 0
        while at < len(data):
            key, at = varint(data, at)
            if key & 7 == 0:
                value, at = varint(data, at)
            elif key & 7 == 2:
                size, at = varint(data, at)
                value, at = data[at:at + size], at + size
            else:
                size = 8 if key & 7 == 1 else 4
                value, at = data[at:at + size], at + size
            yield key >> 3, value

    found = {}
    with open(path, "rb") as file:
        while head := file.read(12):
            event = file.read(struct.unpack("<Q", head[:8])[0])
            file.read(4)
            parts = dict(fields(event))
            for _, value in fields(parts.get(5, b"")):
                entry = dict(fields(value))
                found[(entry[1].decode(), parts[2])] = struct.unpack("<f", entry[2])[0]
    return found


def killed(world, *sets):
    """kill -9 at random moments and going on ends with the same bits as never having been killed."""
    name = "-".join(s.split("=")[0] for s in sets)
    common = ("checkpoint.every=1", "data.examples_per_update=3", "data.epochs=6", *sets)
    whole, broken = (os.path.join(world.folder, f"{kind}{name}") for kind in ("whole", "broken"))
    world.run(whole, *common)
    rng, kills, log = random.Random(name), 0, os.path.join(broken, "log.jsonl")
    for target in sorted(rng.sample(range(1, 13), 3)):
        process = subprocess.Popen(world.command(broken, *common), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and (not os.path.exists(log) or sum(1 for _ in open(log)) < target):
            time.sleep(0.001)
        time.sleep(rng.random() * 0.03)  # somewhere in an update or in the writing of its checkpoint
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills >= 2, kills
    text = world.run(broken, *common)
    assert "continuing after update" in text
    ours, theirs = newest(broken)[0], newest(whole)[0]
    assert os.path.basename(ours) == os.path.basename(theirs) == "step-00000018"
    first, second = content(ours), content(theirs)
    assert first.keys() == second.keys() and all(first[k] == second[k] for k in first), \
        [k for k in first if first[k] != second.get(k)]
    keep = ("step", "loss", "gradient_norm", "learning_rate", "tokens")
    assert [{k: line[k] for k in keep} for line in log_of(broken)] == [{k: line[k] for k in keep} for line in log_of(whole)]
    return whole, kills


def too_large(world, probe):
    """A model whose weights, masters and moments exceed the memory is refused before they are allocated."""
    folder = os.path.join(world.folder, "large")
    shutil.copytree(world.model, folder)
    path = os.path.join(folder, "config.json")
    with open(path) as file:
        config = json.load(file)
    config.pop("layer_types", None)
    with open(path, "w") as file:
        json.dump({**config, "hidden_size": 32768, "intermediate_size": 131072, "num_hidden_layers": 100}, file)
    said = world.run(os.path.join(world.folder, "never"), f"model.path={folder}", code=3)
    assert "GiB" in said and "lora.rank" in said, said
    for options in ({}, {"device": "cuda"}) if torch.cuda.is_available() else ({},):
        try:
            probe.ask("open", model=folder, random=True, **options)
        except RuntimeError as error:
            assert "GiB" in str(error) and "zero_stage" in str(error), error
        else:
            raise AssertionError("a model of terabytes was opened")
    probe.close()


def bad_input(world, whole, *sets):
    common = ("checkpoint.every=1", "data.examples_per_update=3", "data.epochs=6", *sets)
    assert "learning_rate" in world.run(None, "optimizer.learning_rat=1", flags=["--dry-run"], code=2)
    assert "another recipe" in world.run(whole, *common, "run.seed=5", code=2)
    assert "max_tokens" in world.run(None, "data.max_tokens=10", flags=["--dry-run"], code=2)
    assert "no example" in world.run(None, "data.max_tokens=10", "data.overlong=skip", flags=["--dry-run"], code=2)
    for row, word in (({"messages": []}, "messages"), ({"messages": [{"role": "user", "content": "x"}]}, "no reply"),
                      ({"messages": [{"role": "robot", "content": "x"}]}, "robot")):
        path = os.path.join(world.folder, "bad.jsonl")
        world.write(path, [row])
        text = world.run(None, f'data.train=["{path}"]', flags=["--dry-run"], code=2)
        assert word in text and "bad.jsonl:1" in text, text
    file = os.path.join(newest(whole)[0], "model.safetensors")
    with open(file, "r+b") as damaged:
        damaged.seek(-5, os.SEEK_END)
        byte = damaged.read(1)
        damaged.seek(-5, os.SEEK_END)
        damaged.write(bytes([byte[0] ^ 1]))
    assert "manifest.json" in world.run(whole, *common, code=2)


def curve(probe, folder):
    """Losses of 12 updates of a tiny Llama whose weights and tokens are written here, without any library's randomness."""
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 61, "hidden_size": 32,
              "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "head_dim": 8, "tie_word_embeddings": False, "hidden_act": "silu", "max_position_embeddings": 64,
              "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "attention_bias": False, "mlp_bias": False,
              "torch_dtype": "float32"}
    import safetensors.numpy
    rng = np.random.RandomState(5)  # its stream is fixed for ever
    shapes = {"model.embed_tokens.weight": (61, 32), "lm_head.weight": (61, 32), "model.norm.weight": (32,)}
    for i in range(2):
        p = f"model.layers.{i}."
        shapes.update({p + "input_layernorm.weight": (32,), p + "post_attention_layernorm.weight": (32,),
                       p + "self_attn.q_proj.weight": (32, 32), p + "self_attn.k_proj.weight": (16, 32),
                       p + "self_attn.v_proj.weight": (16, 32), p + "self_attn.o_proj.weight": (32, 32),
                       p + "mlp.gate_proj.weight": (48, 32), p + "mlp.up_proj.weight": (48, 32),
                       p + "mlp.down_proj.weight": (32, 48)})
    weights = {name: (np.ones(shape) if len(shape) == 1 else rng.uniform(-0.2, 0.2, shape)).astype(np.float32)
               for name, shape in sorted(shapes.items())}
    os.makedirs(folder, exist_ok=True)
    safetensors.numpy.save_file(weights, os.path.join(folder, "model.safetensors"))
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    texts = [[(7 * i + s * j) % 61 for j in range(20 + s)] for i, s in enumerate((3, 5, 11, 13))]
    count = sum(len(t) - 1 for t in texts)
    probe.ask("open", model=folder, compute="fp32", threads=1, recomputed_layers=1, weight_decay=0.1)
    losses = []
    for _ in range(12):
        reply = probe.ask("sft", passes=[
            {"sequences": [{"tokens": t, "targets": list(range(1, len(t)))} for t in texts[i:i + 2]],
             "derivatives": [-1 / count] * sum(len(t) - 1 for t in texts[i:i + 2])} for i in (0, 2)])
        norm = probe.ask("step", lr=0.01)["norm"]
        losses.append([-sum(reply["outputs"]) / count, norm])
    return losses


def main():
    probe = Probe(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        losses = curve(probe, os.path.join(folder, "golden"))
        assert losses == curve(probe, os.path.join(folder, "golden")), "not the same bits on repetition"
        probe.close()
        if "--write-golden" in sys.argv:
            with open(GOLDEN, "w") as file:
                json.dump(losses, file, indent=1)
            return
        with open(GOLDEN) as file:
            golden = json.load(file)
        # Another CPU's vector width moves the last bits.
        assert len(golden) == len(losses) and np.allclose(golden, losses, rtol=2e-5), (golden, losses)
        assert losses[-1][0] < 0.6 * losses[0][0]

        world = World(sys.argv[1], folder)
        dry_run(world)
        too_large(world, Probe(sys.argv[2]))
        last, seconds = overfit(world)
        whole, kills = killed(world)
        bad_input(world, whole)
        _, more = killed(world, "lora.rank=4", "lora.alpha=8", f"model.path={newest(os.path.join(folder, 'overfit'))[0]}",
                         "model.init=pretrained", "model.compute=bf16")
        adapter = os.path.join(newest(os.path.join(folder, "wholelora.rank-lora.alpha-model.path-model.init-model.compute"))[0],
                               "adapter_config.json")
        with open(adapter) as file:
            assert json.load(file)["r"] == 4
        _, third = killed(world, "model.compute=bf16", f'data.eval="{world.data}"')
    print(f"golden curve {losses[0][0]:.4f} -> {losses[-1][0]:.4f}; 8 examples memorised to {last:.4f} in {seconds:.1f} s; "
          f"{kills + more + third} kills, the same bits")


main()
