#!/usr/bin/env python3
"""The tokenizer gives the ids of the `tokenizers` package: for byte-level BPE trained here with each family's
pre-tokenizer, on code, prose in many scripts, emoji, whitespace, every code point of the assigned planes, every added token and
random mixtures; and what it decodes is what the package decodes.

    tokenizer_parity_test.py <text_probe>

Exit status 77 where the package is missing.
"""
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import tokenizers
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
except ImportError as error:
    print(f"skipped: {error}; tools/setup.sh installs it")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
SCRIPTS = [
    "The quick brown fox can't jump; he'll say: \"don't!\" I'M, WE'RE, she'D, it'ſ 12345 3.14e-10 0xdeadBEEF.",
    "Größenwahn, naïve façade, Ελληνικά, Русский текст, עברית, العربية, हिन्दी, ไทยไม่มีช่องว่าง, 한국어 문장입니다.",
    "日本語のテキスト、漢字かな交じり文。中文文本没有空格,标点也不同!繁體中文。",
    "emoji: 😀 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 ☃️ ‍ e\u0301 \u1e9b\u0323 \uac00 \u1100\u1161 A\u030a \u212b \u2126 ﬁ ½ ² ① Ⅷ",
    "def f(x):\n\treturn [i**2 for i in range(10)]  # comment\n\n\n    if True:\r\n        pass\r\n\r\n",
    "__global__ void k(const float* __restrict__ a, float* b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; }",
    " \t\n  \u00a0\u2003\u3000 \u0085\u200b\ufeff  trailing   \n \n\t \n   ", "a  b   c    d     e", "\x00\x01\x7f\u00ad",
]


def corpus():
    """Text with code, for training and comparing: this repository's own sources and the scripts above."""
    files = sorted(p for pattern in ("src/davinci/base/*.cc", "python/**/*.py", "docs/*.md", "skills/*/*.md")
                   for p in ROOT.glob(pattern))
    texts = [p.read_text() for p in files][:60]
    return texts + SCRIPTS * 20


def make(family, vocab_size=3000):
    tokenizer = Tokenizer(models.BPE(ignore_merges=family == "llama3"))
    if family == "gpt2":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    elif family == "gpt2-prefix":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    elif family == "smollm":
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    else:
        pattern = LLAMA3 if family == "llama3" else QWEN2
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    if family == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocab_size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  special_tokens=[], show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>"])
    tokenizer.add_tokens([
        AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=False),
        AddedToken("<mask>", lstrip=True), AddedToken("<sep>", rstrip=True), AddedToken("<both>", lstrip=True, rstrip=True),
        AddedToken("word", single_word=True), AddedToken("wordy", normalized=True), AddedToken("    ", normalized=True),
        AddedToken("\u1112\u1161\u11ab", normalized=True), AddedToken("中文", normalized=False), AddedToken("<|tool|>", normalized=True), AddedToken("<|tool|>er", normalized=False)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    if family == "llama3":
        bos = tokenizer.token_to_id("<|begin_of_text|>")
        tokenizer.post_processor = processors.Sequence([
            processors.ByteLevel(trim_offsets=False),
            processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|> $B",
                                          special_tokens=[("<|begin_of_text|>", bos)])])
    return tokenizer


class Probe:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        encoding="utf-8")

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def texts(tokenizer):
    """What is compared, beyond the corpus."""
    random.seed(1)
    added = [t.content for t in tokenizer.get_added_tokens_decoder().values()]
    result = list(dict.fromkeys(corpus())) + [""]  # what is in it twenty times, to be learned, is compared once
    for token in added:
        result += [token, f" {token} ", f"a{token}b", f"  {token}\t\n{token}x", token * 3, token[:-1], f"\u00a0{token}\u3000"]
    pieces = added + SCRIPTS + ["word", "words", " ", "\n", "'s", "'S", "\u017f", "123", "é", "e\u0301", "中", "<", "|>"]
    for _ in range(600):
        parts = [random.choice(pieces) for _ in range(random.randint(1, 8))]
        result.append("".join(p[:random.randint(1, len(p))] if random.random() < .3 else p for p in parts))
    for length in (47, 48, 49, 50, 500, 5000):  # the two ways of merging
        result += ["a" * length, "ab" * length, "中" * length, " " * length, "\n" * length,
                   "".join(random.choice("abcdet h") for _ in range(length))]
    return result


class Parity(unittest.TestCase):
    maxDiff = 400

    @classmethod
    def setUpClass(cls):
        cls.probe = Probe(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.probe.close()

    def compare(self, family):
        tokenizer = make(family)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(f"{folder}/tokenizer.json")
            loaded = self.probe.ask(do="load", path=folder)
        self.assertEqual(loaded["vocab"], tokenizer.get_vocab_size(with_added_tokens=True))
        asked = texts(tokenizer)
        # Ids alone: no place of a token in its text is compared.
        given = [[encoding.ids for encoding in tokenizer.encode_batch_fast(asked, add_special_tokens=special)] for special in (False, True)]
        for text, *answers in zip(asked, *given, strict=True):
            for special, expected in zip((False, True), answers, strict=True):
                self.assertEqual(self.probe.ask(do="encode", text=text, add_special=special)["ids"], expected, repr(text[:200]))
            decoded = self.probe.ask(do="decode", ids=expected)
            self.assertEqual(decoded["text"], tokenizer.decode(expected, skip_special_tokens=False), repr(text[:200]))
            self.assertEqual(decoded["streamed"], decoded["text"])
            skipped = self.probe.ask(do="decode", ids=expected, skip_special=True)
            self.assertEqual(skipped["text"], tokenizer.decode(expected, skip_special_tokens=True), repr(text[:200]))
        # Every token, and sequences of tokens that are not UTF-8 together.
        for ids in [[i] for i in range(loaded["vocab"])] + [random.choices(range(400), k=12) for _ in range(1000)]:
            decoded = self.probe.ask(do="decode", ids=ids)
            self.assertEqual(decoded["text"], tokenizer.decode(ids, skip_special_tokens=False), ids)
            self.assertEqual(decoded["streamed"], decoded["text"], ids)
        self.without_special(tokenizer)
        return tokenizer

    def without_special(self, tokenizer):
        tokenizer.encode_special_tokens = True
        for text in ("a<|im_end|>b<think>", "<|im_start|>", " <|endoftext|><|endoftext|> word"):
            self.assertEqual(self.probe.ask(do="encode", text=text, parse_special=False)["ids"],
                             tokenizer.encode(text, add_special_tokens=False).ids, text)
        tokenizer.encode_special_tokens = False

    def code_points(self, tokenizer):
        """Each code point between letters, digits, spaces and marks: its class decides where pieces end."""
        wrong = []
        assigned = [c for c in range(0x32400) if not 0xd800 <= c <= 0xdfff] + list(range(0xe0000, 0xe0200)) + [0x10ffff]
        for start in range(0, len(assigned), 4096):
            points = assigned[start:start + 4096]
            cases = [f"ab{chr(c)}cd{chr(c)}12 {chr(c)}  {chr(c)}\n" for c in points]
            ours = self.probe.ask(do="encode_many", texts=cases)["ids"]
            theirs = tokenizer.encode_batch_fast(cases, add_special_tokens=False)
            wrong += [c for c, a, b in zip(points, ours, theirs, strict=True) if a != b.ids]
        return wrong

    def test_gpt2(self):
        self.assertEqual([hex(c) for c in self.code_points(self.compare("gpt2"))], [])

    def test_gpt2_with_prefix_space(self):
        self.compare("gpt2-prefix")

    def test_llama3(self):
        self.assertEqual([hex(c) for c in self.code_points(self.compare("llama3"))], [])

    def test_qwen2(self):
        self.assertEqual([hex(c) for c in self.code_points(self.compare("qwen2"))], [])

    def test_smollm(self):
        self.compare("smollm")

    def test_an_added_token_of_latin_letters_decodes_to_its_text(self):
        """A deliberate difference: the package takes the letters of such a token for bytes and gives U+FFFD."""
        tokenizer = make("qwen2", 600)
        tokenizer.add_tokens([AddedToken("Å", normalized=False)])
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(f"{folder}/tokenizer.json")
            self.probe.ask(do="load", path=folder)
        ids = tokenizer.encode("Å").ids
        self.assertEqual(self.probe.ask(do="encode", text="Å")["ids"], ids)
        self.assertEqual(self.probe.ask(do="decode", ids=ids)["text"], "Å")

    def test_bytes_that_are_no_text_come_back(self):
        tokenizer = make("qwen2", 600)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(f"{folder}/tokenizer.json")
            self.probe.ask(do="load", path=folder)
        random.seed(2)
        for _ in range(300):
            data = bytes(random.choice([0xff, 0xc3, 0x28, 0xe4, 0xb8, 0xad, 0xf0, 0x9f, 0x20, 0x61]) for _ in range(20))
            ids = self.probe.ask(do="encode_hex", hex=data.hex())["ids"]
            self.assertEqual(self.probe.ask(do="bytes", ids=ids)["hex"], data.hex())


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    print(f"tokenizers {tokenizers.__version__}")
    unittest.main(verbosity=2)
