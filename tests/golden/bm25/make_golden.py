#!/usr/bin/env python3
"""Writes golden.json: how rank_bm25 scores and ranks a small corpus, for src/davinci/skill/bm25_test.cc.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install rank_bm25
    /tmp/venv/bin/python tests/golden/bm25/make_golden.py

Three things come from here and from nowhere in C++: the tokens (the rules of tokenizer.h, written a second time below),
the scores of rank_bm25's BM25Okapi with only its idf replaced by ours (they must agree to rounding), and the ranking of
the unchanged BM25Okapi (where it differs, the test says why).
"""
import json
import math
import random
import re
from pathlib import Path

from rank_bm25 import BM25Okapi

HERE = Path(__file__).resolve().parent

# (name, text): invented, in the words that skills use.
DOCUMENTS = [
    ("online-softmax", "Compute softmax in one pass: keep a running maximum and rescale the running sum when it grows. "
                       "torch.softmax LogSoftmax row reduction exp"),
    ("warp-shuffle-reduction", "Reduce a row inside a warp with __shfl_xor_sync instead of shared memory. Sum, max, CUDA."),
    ("fuse-epilogue", "Fuse bias, GELU and scale into the epilogue of the matmul so that the output is written once. nn.Linear"),
    ("vectorized-loads", "Load float4 instead of float: pointwise kernels are bound by memory; aligned 128-bit loads."),
    ("welford-statistics", "Mean and variance of layer_norm in one pass with Welford's update; nn.LayerNorm, nn.BatchNorm2d."),
    ("tile-matmul", "Tile matmul for shared memory and registers; BLOCK_M, BLOCK_N, BLOCK_K; tl.dot in Triton."),
    ("im2col-free-conv", "Direct nn.Conv2d without im2col: keep the filter in registers, walk the rows of the image."),
    ("depthwise-rows", "Depthwise conv2d reads every input row once; one thread per output column, k taps in registers."),
    ("cuda-graphs", "Launch overhead dominates small kernels: capture the launches in a CUDAGraph and replay it."),
    ("persistent-kernel", "One persistent kernel loops over tiles; saves launch overhead and keeps weights in shared memory."),
    ("openmp-static", "Split rows with omp parallel for schedule(static); one write per cache line per thread."),
    ("simd-exp", "A polynomial exp that vectorises: no branches, round to nearest, two scale factors. softmax, sigmoid, gelu."),
    ("kahan-sum", "Compensated summation keeps cumsum and long sums exact in float32; numerics pitfall of half precision."),
    ("split-k", "Split K when M and N are small: matmul of a tall reduction; second kernel adds the parts."),
    ("flash-attention", "Attention without the score matrix: online softmax over tiles of keys; scaled_dot_product_attention."),
    ("transpose-tiles", "Transpose through shared memory tiles with one column of padding to avoid bank conflicts."),
    ("max-pool-window", "max_pool2d: reuse the maximum of the columns of the window while it slides. nn.MaxPool2d"),
    ("embedding-gather", "nn.Embedding gather: one warp per row, float4 loads, rows sorted by index hit the cache."),
    ("inplace-relu", "Fuse ReLU and clamp into the producer; do not write the tensor twice. torch.relu, torch.clamp"),
    ("rms-norm-rows", "RMSNorm: sum of squares and scale in one kernel while the row is in registers. rms_norm"),
    ("argmax-pairs", "argmax reduces (value, index) pairs; ties go to the lower index as torch.argmax does."),
    ("cross-entropy-fused", "cross_entropy fuses log_softmax and the gather of the target; never materialise probabilities."),
    ("empty-note", ""),
]
QUERIES = [
    "softmax", "torch.softmax max exp sum", "LogSoftmax log_softmax gather", "nn.Conv2d conv2d filter rows",
    "matmul", "linear gelu scale bias", "LayerNorm layer_norm mean variance", "launch overhead small kernels",
    "shared memory", "float4 loads pointwise", "max_pool2d window", "cumsum", "kernel", "rows row", "the of and",
    "attention softmax matmul scaled_dot_product_attention", "nothing-here-matches-xyzzy", "CUDAGraph", "reduction sum max",
    "embedding index gather rows warp",
]


def parts(word):
    """The pieces of one word: '_' separates, camel case separates."""
    found = []
    for piece in word.split("_"):
        marked = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "\0", piece)
        found += [part for part in marked.split("\0") if part]
    return found


def tokenize(text):
    tokens = []
    for word in re.findall(r"[A-Za-z0-9_\u0080-\U0010ffff]+", text):
        pieces = parts(word)
        if len(pieces) > 1:
            pieces = pieces + ["".join(pieces)]
        tokens += [p.lower() for p in pieces if len(p.encode()) > 1 and not re.fullmatch("[0-9]+", p)]
    return tokens


class NonNegative(BM25Okapi):
    """BM25Okapi with ln(1 + (N - df + 0.5) / (df + 0.5)) for idf; everything else is rank_bm25's."""

    def _calc_idf(self, nd):
        for word, df in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - df + 0.5) / (df + 0.5))


def ranking(scores, names):
    """Names with a positive score, best first; rank_bm25 leaves the order of ties open, here they go by name."""
    order = sorted(range(len(names)), key=lambda i: (-scores[i], names[i]))
    return [names[i] for i in order if scores[i] > 0]


def corpus(label, documents, queries):
    names = [name for name, _ in documents]
    tokens = [tokenize(name + "\n" + text) for name, text in documents]
    ours, okapi = NonNegative(tokens), BM25Okapi(tokens)
    results = []
    for query in queries:
        distinct = list(dict.fromkeys(tokenize(query)))
        scores = ours.get_scores(distinct)
        results.append({
            "query": query, "tokens": distinct,
            "scores": {n: float(f"{s:.14g}") for n, s in zip(names, scores) if s > 0},
            "ranking": ranking(scores, names),
            "okapi_ranking": ranking(okapi.get_scores(distinct), names),
        })
    return {"label": label, "documents": [{"name": n, "text": t, "tokens": k} for (n, t), k in zip(documents, tokens)],
            "majority_terms": sorted(w for w, i in okapi.idf.items() if ours.idf[w] < math.log(2)), "queries": results}


def main():
    rng = random.Random(20)
    words = [f"word{i}" for i in range(200)]
    weights = [1 / (i + 1) for i in range(200)]
    random_documents = [(f"doc-{i:03d}", " ".join(rng.choices(words, weights, k=rng.randint(5, 60)))) for i in range(100)]
    random_queries = [" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(30)]
    document = {"generator": "tests/golden/bm25/make_golden.py, rank_bm25 0.2.2, k1 = 1.5, b = 0.75",
                "corpora": [corpus("skills", DOCUMENTS, QUERIES),
                            corpus("one document", DOCUMENTS[:1], ["softmax", "running sum"]),
                            corpus("two documents", DOCUMENTS[:2], ["softmax row", "sum max", "warp"]),
                            corpus("random", random_documents, random_queries)]}
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    (HERE / "golden.json").write_text(text.replace('{"documents"', '\n{"documents"') + "\n")


if __name__ == "__main__":
    main()
