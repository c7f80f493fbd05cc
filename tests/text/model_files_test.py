#!/usr/bin/env python3
"""Model files against the packages that define them: tensors of every GGUF type against `gguf`, RoPE frequencies against
transformers, `davinci model convert` round trips that transformers loads with the same logits, and what a damaged file is
answered with.

    model_files_test.py <text_probe> <davinci>

Exit status 77 where torch or transformers are missing.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
try:
    import numpy
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, LlamaConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen3Config  # noqa: F401
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
    from tokenizer_parity_test import Probe, make
except ImportError as error:
    print(f"skipped: {error}; tools/setup.sh installs it")
    sys.exit(77)
try:
    import gguf
except ImportError:
    gguf = None

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
SMALL = dict(vocab_size=320, intermediate_size=96, num_hidden_layers=2, max_position_embeddings=256)
CONFIGS = {
    "llama": LlamaConfig(hidden_size=72, num_attention_heads=6, num_key_value_heads=3, head_dim=20, rope_parameters={
        "rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192}, **{**SMALL, "max_position_embeddings": 65536}),
    "llama-bias": LlamaConfig(hidden_size=64, num_attention_heads=4, num_key_value_heads=4, attention_bias=True, mlp_bias=True,
                              tie_word_embeddings=True, rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}, **SMALL),
    "qwen2": Qwen2Config(hidden_size=64, num_attention_heads=4, num_key_value_heads=1, tie_word_embeddings=True,
                         rope_parameters={"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 64}, **SMALL),
    "qwen3": Qwen3Config(hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=32,
                         rope_parameters={"rope_type": "default", "rope_theta": 1e6}, **SMALL),
}


def run(*arguments, status=0):
    done = subprocess.run([DAVINCI, "model", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


def logits(folder, **options):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options).eval()
    with torch.no_grad():
        return model(torch.arange(40).reshape(2, 20) * 7 % 320).logits


class ModelFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.probe = Probe(PROBE)
        cls.holder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.holder.name)
        for index, (name, config) in enumerate(CONFIGS.items()):
            torch.manual_seed(index)
            model = AutoModelForCausalLM.from_config(config).float().eval()
            for parameter in model.parameters():  # norms and biases start as 1 and 0
                torch.nn.init.normal_(parameter, std=0.2)
            model.save_pretrained(cls.root / name, max_shard_size="100KB" if name == "llama" else "1GB")
            tokenizer = make("llama3" if name.startswith("llama") else "qwen2", 300)
            fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|begin_of_text|>", eos_token="<|im_end|>")
            fast.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
            fast.save_pretrained(cls.root / name)

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()
        cls.holder.cleanup()

    def test_round_trips_keep_the_logits(self):
        for name in CONFIGS:
            source = self.root / name
            expected = logits(source)
            described = json.loads(run("inspect", source, "--json"))
            model = AutoModelForCausalLM.from_pretrained(source)
            self.assertEqual(described["parameters"], sum(p.numel() for p in model.parameters()), name)
            run("convert", source, self.root / f"{name}-f32.gguf", "--type", "F32")
            run("convert", self.root / f"{name}-f32.gguf", self.root / f"{name}-back")
            self.assertTrue(torch.equal(logits(self.root / f"{name}-back"), expected), name)
            run("convert", source, self.root / f"{name}-split/m.gguf", "--type", "F32", "--file-gib", "0.0001")
            parts = sorted((self.root / f"{name}-split").glob("m-*-of-*.gguf"))
            self.assertGreater(len(parts), 2)
            run("convert", parts[1], self.root / f"{name}-joined", "--file-gib", "0.0001")
            self.assertTrue((self.root / f"{name}-joined/model.safetensors.index.json").exists())
            self.assertTrue(torch.equal(logits(self.root / f"{name}-joined"), expected), name)
            for kind in ("F16", "BF16", "Q8_0"):
                run("convert", source, self.root / f"{name}-{kind}.gguf", "--type", kind)
                run("convert", self.root / f"{name}-{kind}.gguf", self.root / f"{name}-{kind}", "--type", "F32")
                error = (logits(self.root / f"{name}-{kind}") - expected).norm() / expected.norm()
                self.assertLess(error, {"F16": 3e-3, "BF16": 3e-2, "Q8_0": 6e-2}[kind], (name, kind))
                self.assertGreater(error, 0)

    @unittest.skipIf(gguf is None, "the gguf package is missing; tools/setup.sh installs it")
    def test_the_gguf_package_reads_the_tensors_we_wrote(self):
        for name, config in CONFIGS.items():
            run("convert", self.root / name, self.root / f"t-{name}/m.gguf", "--type", "F32")
            tensors = {t.name: t.data for t in gguf.GGUFReader(self.root / f"t-{name}/m.gguf").tensors}
            for layer in range(2):
                for theirs, hf, heads in (("attn_q", "self_attn.q_proj", config.num_attention_heads), ("ffn_down", "mlp.down_proj", 0),
                                          ("attn_k", "self_attn.k_proj", config.num_key_value_heads), ("attn_v", "self_attn.v_proj", 0)):
                    answer = self.probe.ask(do="tensor", path=str(self.root / name), name=f"model.layers.{layer}.{hf}.weight")
                    expected = numpy.frombuffer(bytes.fromhex(answer["hex"]), numpy.float32).reshape(answer["shape"])
                    if heads and name.startswith("llama"):  # the order of rows that llama.cpp's converter gives
                        rows, columns = expected.shape
                        expected = expected.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)
                    numpy.testing.assert_array_equal(tensors[f"blk.{layer}.{theirs}.weight"], expected)

    def test_tokenizers_survive_the_round_trip(self):
        for name in CONFIGS:
            run("convert", self.root / name, self.root / f"tok-{name}.gguf", "--type", "F16")
            run("convert", self.root / f"tok-{name}.gguf", self.root / f"tok-{name}")
            before, after = (AutoTokenizer.from_pretrained(p) for p in (self.root / name, self.root / f"tok-{name}"))
            gguf_vocab = self.probe.ask(do="load", path=str(self.root / f"tok-{name}.gguf"))
            self.assertEqual(gguf_vocab["chat_template"], before.chat_template)
            for text in ("def f(x):\n\treturn 12345", "<|im_start|>naïve 中文 😀<|im_end|>", "  a  b\n\n"):
                ids = before.encode(text, add_special_tokens=False)
                self.assertEqual(after.encode(text, add_special_tokens=False), ids)
                self.assertEqual(self.probe.ask(do="encode", text=text)["ids"], ids)
                self.assertEqual(self.probe.ask(do="encode", text=text, add_special=True)["ids"], before.encode(text))

    def test_the_shipped_model_has_the_same_tokens_in_transformers(self):
        shipped = Path(__file__).resolve().parents[2] / "models/davinci-nano/davinci-nano-00001-of-00004.gguf"
        run("convert", shipped, self.root / "shipped")
        tokenizer = AutoTokenizer.from_pretrained(self.root / "shipped")
        text = "<|im_start|>user\nt1 = relu(x)<|im_end|>\n<|im_start|>assistant\n"
        expected = tokenizer.encode(text, add_special_tokens=False)
        for path in (shipped, self.root / "shipped"):
            self.probe.ask(do="load", path=str(path))
            self.assertEqual(self.probe.ask(do="encode", text=text)["ids"], expected, path)

    def test_lora_is_merged(self):
        torch.manual_seed(9)
        folder = self.root / "adapter"
        folder.mkdir()
        tensors, weights = {}, {}
        for name in ("model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj"):
            out, into = load_file(self.root / "qwen3/model.safetensors")[f"{name}.weight"].shape
            a, b = torch.randn(4, into), torch.randn(out, 4)
            tensors |= {f"base_model.model.{name}.lora_A.weight": a, f"base_model.model.{name}.lora_B.weight": b}
            weights[f"{name}.weight"] = b @ a * (8 / 4)
        save_file(tensors, folder / "adapter_model.safetensors")
        config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "bias": "none", "target_modules": ["q_proj", "down_proj"]}
        (folder / "adapter_config.json").write_text(json.dumps(config))
        run("convert", self.root / "qwen3", self.root / "merged", "--lora", folder)
        before, after = (load_file(self.root / p / "model.safetensors") for p in ("qwen3", "merged"))
        for name, value in before.items():
            torch.testing.assert_close(after[name], value + weights.get(name, 0), rtol=0, atol=1e-5 if name in weights else 0)
        for change in ({"use_dora": True}, {"peft_type": "IA3"}, {"rank_pattern": {"x": 3}}, {"r": 5}):
            (folder / "adapter_config.json").write_text(json.dumps(config | change))
            self.assertIn("adapter", run("convert", self.root / "qwen3", self.root / "no", "--lora", folder, status=2))

    @unittest.skipIf(gguf is None, "the gguf package is missing; tools/setup.sh installs it")
    def test_every_gguf_type(self):
        generator = numpy.random.default_rng(3)
        kinds = gguf.GGMLQuantizationType
        for kind in (kinds.F32, kinds.F16, kinds.BF16, kinds.Q8_0, kinds.Q4_0, kinds.Q4_1, kinds.Q5_0, kinds.Q5_1, kinds.Q4_K, kinds.Q6_K):
            elements, size = gguf.GGML_QUANT_SIZES[kind]
            rows, blocks = 6, 512 // elements
            raw = generator.integers(0, 256, (rows, blocks, size), dtype=numpy.uint8)
            if kind not in (kinds.F32, kinds.F16, kinds.BF16):  # scales that are finite numbers
                places = {kinds.Q6_K: [208], kinds.Q4_K: [0, 2], kinds.Q4_1: [0, 2], kinds.Q5_1: [0, 2]}.get(kind, [0])
                for place in places:
                    scale = generator.normal(size=(rows, blocks)).astype(numpy.float16)
                    raw[:, :, place:place + 2] = scale.view(numpy.uint8).reshape(rows, blocks, 2)
            else:
                values = generator.normal(size=(rows, 512)).astype(numpy.float32)
                raw = {kinds.F32: lambda: values, kinds.F16: lambda: values.astype(numpy.float16),
                       kinds.BF16: lambda: (values.view(numpy.uint32) >> 16).astype(numpy.uint16)}[kind]().view(numpy.uint8)
            raw = numpy.ascontiguousarray(raw.reshape(rows, -1))
            path = self.root / f"{kind.name}.gguf"
            writer = gguf.GGUFWriter(path, "qwen2")
            writer.add_tensor("blk.0.ffn_up.weight", raw, raw_dtype=kind)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            answer = self.probe.ask(do="tensor", path=str(path), name="model.layers.0.mlp.up_proj.weight")
            ours = numpy.frombuffer(bytes.fromhex(answer["hex"]), numpy.float32)
            theirs = gguf.quants.dequantize(raw.view(numpy.float32) if kind == kinds.F32 else raw.view(numpy.float16) if kind == kinds.F16 else raw, kind)
            self.assertEqual(answer["shape"], [rows, 512])
            numpy.testing.assert_allclose(ours, theirs.astype(numpy.float32).reshape(-1), rtol=1e-6, atol=1e-6, err_msg=kind.name)
            rounded = torch.from_numpy(ours.copy()).bfloat16().view(torch.int16).numpy().tobytes().hex()
            self.assertEqual(answer["bf16"], rounded, kind.name)

    def test_rope_frequencies(self):
        base = dict(hidden_size=256, num_attention_heads=4, intermediate_size=8, vocab_size=8, num_hidden_layers=1)
        cases = [({"rope_type": "linear", "factor": 2.5}, 1000), ({"rope_type": "dynamic", "factor": 4.0}, 9000),
                 ({"rope_type": "dynamic", "factor": 4.0}, 100),
                 ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}, 1),
                 ({"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512, "beta_fast": 16, "beta_slow": 2, "attention_factor": 1.5}, 1),
                 ({"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512, "mscale": 0.7, "mscale_all_dim": 1.2, "truncate": False}, 1),
                 ({"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 1024}, 1)]
        for rope, length in cases:
            for theta in (1e4, 5e5):
                config = LlamaConfig(**base, max_position_embeddings=4096, rope_parameters=rope | {"rope_theta": theta})
                inverse, factor = ROPE_INIT_FUNCTIONS[rope["rope_type"]](config, torch.device("cpu"), seq_len=length)
                for form in (json.loads(config.to_json_string()),
                             {**base, "model_type": "llama", "max_position_embeddings": 4096, "rope_theta": theta, "rope_scaling": rope}):
                    ours = self.probe.ask(do="rope", config=form, length=length)
                    torch.testing.assert_close(torch.tensor(ours["inverse"]), inverse, rtol=2e-6, atol=0)
                    self.assertAlmostEqual(ours["factor"], factor, places=6)

    def test_unsupported_configurations_are_refused_by_name(self):
        good = json.loads((self.root / "qwen3/config.json").read_text())
        folder = self.root / "changed"
        shutil.copytree(self.root / "qwen3", folder)
        for field, value in (("model_type", "mixtral"), ("hidden_act", "gelu"), ("num_local_experts", 8), ("head_dim", 31),
                             ("num_key_value_heads", 3), ("quantization_config", {"bits": 4}), ("vocab_size", -1), ("hidden_size", 1 << 40),
                             ("layer_types", ["full_attention", "sliding_attention"]), ("rope_parameters", {"rope_type": "longrope"}),
                             ("rope_parameters", {"rope_type": "default", "partial_rotary_factor": 0.5}), ("architectures", ["Qwen3Model"]),
                             ("attention_multiplier", 0.1), ("num_hidden_layers", 3), ("intermediate_size", 97)):
            (folder / "config.json").write_text(json.dumps(good | {field: value}))
            error = run("inspect", folder, status=2)
            self.assertIn("config" if field not in ("num_hidden_layers", "intermediate_size", "head_dim") else "", error, field)
        for missing in ("num_key_value_heads", "hidden_size", "head_dim", "max_position_embeddings"):
            (folder / "config.json").write_text(json.dumps({k: v for k, v in good.items() if k != missing}))
            self.assertIn(f"{missing} is missing", run("inspect", folder, status=2))

    def test_damaged_files_are_refused(self):
        folder = self.root / "damaged"
        shutil.copytree(self.root / "qwen3", folder)
        whole = (folder / "model.safetensors").read_bytes()
        header = 8 + struct.unpack("<Q", whole[:8])[0]
        for data in (b"", whole[:4], whole[:100], whole[:header], whole[:-1], whole + b"\0", b"\xff" * 8 + whole[8:],
                     whole[:8] + b"[" + whole[9:], whole[:8] + whole[8:header].replace(b"[64]", b"[65]") + whole[header:]):
            (folder / "model.safetensors").write_bytes(data)
            self.assertIn("model.safetensors", run("inspect", folder, status=2))
        run("convert", self.root / "qwen3", self.root / "g.gguf")
        whole = (self.root / "g.gguf").read_bytes()
        for size in (0, 3, 20, 100, len(whole) // 2, len(whole) - 1):
            (self.root / "cut.gguf").write_bytes(whole[:size])
            self.assertIn("cut.gguf", run("inspect", self.root / "cut.gguf", status=2))
        run("convert", self.root / "qwen3", self.root / "s/m.gguf", "--file-gib", "0.0001")
        parts = sorted((self.root / "s").glob("*.gguf"))
        parts[-1].unlink()
        self.assertIn("missing", run("inspect", parts[0], status=2))
        index = self.root / "llama/model.safetensors.index.json"
        kept = index.read_text()
        for changed in (kept.replace("model-00001", "../model-00001"), kept.replace("model-00002", "model-90002"), kept[:50], "{}"):
            index.write_text(changed)
            run("inspect", self.root / "llama", status=2)
        index.write_text(kept)
        run("inspect", self.root / "llama")

    def test_list(self):
        rows = {Path(row["path"]).name: row for row in json.loads(run("list", self.root, "--json"))}
        self.assertEqual({rows[name]["family"] for name in ("llama", "qwen2", "qwen3")}, {"llama", "qwen2", "qwen3"})
        self.assertIn("qwen3", run("list", self.root))


if __name__ == "__main__":
    PROBE, DAVINCI = sys.argv.pop(1), sys.argv.pop(1)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, gguf {'missing' if gguf is None else 'present'}")
    unittest.main(verbosity=2)
