#!/usr/bin/env python3
"""davinci model tokenizer learns what the `tokenizers` package learns from the same text: the same vocabulary and merges, for rows
and for plain text, whatever the number of threads; davinci model new makes a model around it that transformers loads.

    bpe_training_test.py <davinci>

Exit status 77 where a package is missing.
"""
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import transformers
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
except ImportError as error:
    print(f"skipped: {error}; tools/setup.sh installs it")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
           r"|\s+(?!\S)|\s+")
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def package(texts, vocab):
    """Tokens by id, and merges, as the package learns them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=SPECIALS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"]]


def sources():
    files = sorted(p for pattern in ("src/davinci/base/*.cc", "src/davinci/stats/*.cc", "python/**/*.py", "docs/*.md")
                   for p in ROOT.glob(pattern))
    return [p.read_text() for p in files[:80]]


def scrambled(seed):
    """Words of few letters: many pairs have equal counts, and many merges give one token in two ways."""
    rng = random.Random(seed)
    return ["".join(rng.choice("aab é\n1") for _ in range(rng.randrange(200))) for _ in range(40)]


class Learned(unittest.TestCase):
    def learn(self, vocab, *arguments):
        out = Path(self.folder, "out")
        done = subprocess.run([sys.argv[1], "model", "tokenizer", *map(str, arguments), "--vocab", str(vocab), "--out", str(out)],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out / "tokenizer.json") as file:
            model = json.load(file)["model"]
        return model["vocab"], [tuple(m) for m in model["merges"]]

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def rows(self, texts):
        path = Path(self.folder, "rows.jsonl")
        with open(path, "w") as file:
            for i in range(0, len(texts), 2):
                messages = [{"role": role, "content": text} for role, text in zip(("user", "assistant"), texts[i:i + 2])]
                file.write(json.dumps({"messages": messages}) + "\n")
        return path

    def test_rows_of_code_and_prose_give_the_packages_merges(self):
        texts = sources()
        expected = package(texts, 3000)
        rows = self.rows(texts)
        self.assertEqual(self.learn(3000, rows), expected)
        self.assertEqual(self.learn(3000, rows, "--threads", 1), expected)

    def test_ties_and_tokens_made_in_two_ways_are_merged_as_by_the_package(self):
        for seed in range(12):
            texts = scrambled(seed)
            self.assertEqual(self.learn(420, self.rows(texts)), package(texts, 420), seed)

    def test_text_is_learned_file_by_file(self):
        texts = sources()[:6]
        for i, text in enumerate(texts):
            Path(self.folder, f"{i}.txt").write_text(text)
        self.assertEqual(self.learn(600, Path(self.folder, "*.txt")), package(texts, 600))

    def test_transformers_loads_a_new_model_and_its_tokenizer(self):
        self.learn(512, self.rows(sources()))
        model, out = Path(self.folder, "model"), Path(self.folder, "out")
        said = subprocess.run([sys.argv[1], "model", "new", "--tokenizer", str(out), "--out", str(model), "--layers", "2",
                               "--width", "128"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        text = tokenizer.apply_chat_template([{"role": "user", "content": "a 123"}], tokenize=False, add_generation_prompt=True)
        self.assertEqual(text, "<|im_start|>user\na 123<|im_end|>\n<|im_start|>assistant\n")
        self.assertEqual(tokenizer.convert_tokens_to_ids(["<|endoftext|>", "<|im_start|>", "<|im_end|>"]), [0, 1, 2])
        ids = tokenizer("123 456").input_ids
        self.assertEqual(len(ids), 7)  # digits and the space
        loaded = transformers.AutoModelForCausalLM.from_pretrained(model)
        layer = loaded.model.layers[1]
        self.assertAlmostEqual(loaded.model.embed_tokens.weight.std().item(), 0.02, delta=0.001)
        self.assertAlmostEqual(layer.mlp.down_proj.weight.std().item(), 0.02 / 4 ** 0.5, delta=0.001)
        self.assertEqual(loaded.config.vocab_size, 512)
        self.assertEqual(loaded.config.eos_token_id, 2)
        self.assertTrue(loaded.config.tie_word_embeddings)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
