"""Writes score_golden.json: random logs and what the metrics of src/davinci/score must say about them.

    python3 tests/golden/make_score_golden.py > tests/golden/score_golden.json

An independent computation from the definitions (docs/bench.md): sets are enumerated where the C++ side uses closed
formulas, loops are the obvious ones. Only the resampling generator (SplitMix64 with multiply-shift) is shared, so that
bootstrap intervals can be compared digit by digit. Standard library only.
"""
import itertools
import json
import math
import random
from fractions import Fraction

MASK = (1 << 64) - 1


class SplitMix64:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return (self.next() * n) >> 64


def t975(dof):
    """Quantile by bisection on the integral of the density (Simpson), not by a series."""
    scale = math.exp(math.lgamma((dof + 1) / 2) - math.lgamma(dof / 2)) / math.sqrt(dof * math.pi)

    def central(x, steps=20000):
        h = x / steps
        f = lambda t: scale * (1 + t * t / dof) ** (-(dof + 1) / 2)
        return h / 3 * (f(0) + f(x) + 4 * sum(f((2 * i + 1) * h) for i in range(steps // 2)) +
                        2 * sum(f(2 * i * h) for i in range(1, steps // 2)))

    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        if central(middle, 2000) < 0.475:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def percentile(values, q):
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


DRAWINGS = 20  # of a task's samples


class Metric:
    """One contribution (sum, weight) per task, in the order of their names; weight 0: does not count."""

    def __init__(self, contributions, geometric=False, rate=False):
        self.contributions, self.geometric, self.rate = contributions, geometric, rate


def estimate(metric, redrawn, seed=1, rounds=2000):
    """redrawn[i]: what task i contributes under each drawing of its samples; empty with one sample."""
    used = [(c, r) for c, r in zip(metric.contributions, redrawn) if c[1] > 0]
    if not used:
        return None
    finish = (lambda s, w: math.exp(s / w)) if metric.geometric else (lambda s, w: s / w)
    value = finish(sum(c[0] for c, _ in used), sum(c[1] for c, _ in used))
    n = len(used)
    every = [c for c, _ in used] + [d for _, r in used for d in r if d[1] > 0]
    if n >= 2 and metric.rate and all(s == 0 for s, _ in every):
        return {"value": value, "low": 0.0, "high": 1 - 0.025 ** (1 / n), "tasks": n}
    if n >= 2 and metric.rate and all(s == w for s, w in every):
        return {"value": value, "low": 0.025 ** (1 / n), "high": 1.0, "tasks": n}
    first = every[0][0] / every[0][1]
    if all(abs(s / w - first) <= 1e-12 * max(1, abs(first)) for s, w in every):
        return {"value": value, "low": None, "high": None, "tasks": n}
    generator = SplitMix64(seed)
    draws = []
    for _ in range(rounds):
        total = weight = 0
        for _ in range(n):
            whole, drawings = used[generator.below(n)]
            s, w = drawings[generator.below(len(drawings))] if drawings else whole
            total, weight = total + s, weight + w
        if weight > 0:
            draws.append(finish(total, weight))
    if not draws:
        return {"value": value, "low": None, "high": None, "tasks": n}
    if n < 2:
        return {"value": value, "low": percentile(draws, 0.025), "high": percentile(draws, 0.975), "tasks": n}
    z = math.sqrt(n / (n - 1)) * t975(n - 1)
    tail = 0.5 * math.erfc(z / math.sqrt(2))
    return {"value": value, "low": percentile(draws, tail), "high": percentile(draws, 1 - tail), "tasks": n}


def estimates(log, metrics, seed=1):
    """{key: estimate} of metrics(log): each task's samples are drawn anew, with the others as they are."""
    whole = metrics(log)
    redrawn = {key: [[] for _ in metric.contributions] for key, metric in whole.items()}
    for i, name in enumerate(sorted(log)):
        samples = log[name]["samples"]
        if len(samples) < 2:
            continue
        generator = SplitMix64(seed + i)
        for _ in range(DRAWINGS):
            drawn = [samples[generator.below(len(samples))] for _ in samples]
            changed = metrics({**log, name: {**log[name], "samples": drawn}})
            for key in whole:
                redrawn[key][i].append(changed[key].contributions[i])
    return {key: estimate(metric, redrawn[key], seed) for key, metric in whole.items()}


# A log: {task: {"level": …, "samples": [[turn, …], …]}}; a turn is [correct, speedup or None].
def random_log(random_state):
    log = {}
    for task in range(random_state.randint(2, 9)):
        samples = []
        for _ in range(random_state.choice([1, 4, 4, 4, 6])):
            turns = []
            for _ in range(random_state.randint(1, 3)):
                correct = random_state.random() < 0.6
                timed = random_state.random() < 0.9
                # Short decimals, some of them exactly on a threshold: ">" and ">=" must differ.
                speedup = round(math.exp(random_state.gauss(0.2, 0.5)), 1)
                turns.append([correct, max(0.1, speedup) if correct and timed else None])
            samples.append(turns)
        log[f"task {task}"] = {"level": random_state.choice([1, 2]), "samples": samples}
    return log


def key(turn):
    return (turn[0], turn[1] or 0)


def best(turns, upto=None):
    return max(turns[:upto], key=key)


def speed(turn):
    return (turn[1] or 0) if turn[0] else 0


def pass_at_k(outcomes, k):
    """By enumerating every choice of k samples."""
    chosen = list(itertools.combinations(outcomes, k))
    return float(Fraction(sum(any(c) for c in chosen), len(chosen)))


def best_at_k(values, k):
    chosen = [max(c) for c in itertools.combinations(values, k)]
    return sum(chosen) / len(chosen)


def bench(log, max_turns):
    tasks = [log[name]["samples"] for name in sorted(log)]
    expected = {}
    answers = {"best turn": best, "last turn": lambda turns: turns[-1]}
    for name, answer in answers.items():
        def mean(value):
            return [(sum(value(answer(s)) for s in samples) / len(samples), 1) for samples in tasks]
        expected[f"correct/{name}"] = Metric(mean(lambda t: float(t[0])), rate=True)
        expected[f"mean_speedup/{name}"] = Metric(mean(speed))
        for p in (0, 0.5, 0.8, 1, 1.2, 1.5, 2, 3):
            expected[f"fast_{p}/{name}"] = Metric(mean(lambda t: float(t[0] and speed(t) > p)), rate=True)
            expected[f"fast_{p}_ge/{name}"] = Metric(mean(lambda t: float(t[0] and speed(t) >= p)), rate=True)
        logs = []
        for samples in tasks:
            found = [math.log(speed(answer(s))) for s in samples if speed(answer(s)) > 0]
            logs.append((sum(found) / len(found), 1) if found else (0, 0))
        expected[f"geomean/{name}"] = Metric(logs, geometric=True)
    for k in (1, 2, 4):
        enough = lambda samples: len(samples) >= k
        expected[f"pass@{k}/best turn"] = Metric(
            [(pass_at_k([best(s)[0] for s in samples], k), 1) if enough(samples) else (0, 0) for samples in tasks],
            rate=True)
        expected[f"best_speedup@{k}/best turn"] = Metric(
            [(best_at_k([speed(best(s)) for s in samples], k), 1) if enough(samples) else (0, 0) for samples in tasks])
    for turn in (1, 2, 3):
        if turn > max_turns:
            continue
        expected[f"fast_1/best by turn {turn}"] = Metric(
            [(sum(float(speed(best(s, turn)) > 1) for s in samples) / len(samples), 1) for samples in tasks], rate=True)
    return expected


def pooled(log, answer, passes):
    return Metric([(sum(float(passes(answer(s))) for s in log[name]["samples"]), len(log[name]["samples"]))
                     for name in sorted(log)], rate=True)


def papers(log):
    tasks = [log[name]["samples"] for name in sorted(log)]
    last = lambda turns: turns[-1]
    expected = {"kernelbench": {}, "drkernel": {}, "kevin": {}, "cuda-agent": {}, "davinci": {}}
    first = [samples[0][-1] for samples in tasks]
    for p in (0, 0.5, 0.8, 1, 1.5, 2):
        expected["kernelbench"][f"fast_{p}/sample 0"] = Metric([(float(t[0] and speed(t) > p), 1) for t in first],
                                                                rate=True)
    expected["kernelbench"]["geomean/sample 0"] = Metric(
        [(math.log(speed(t)), 1) if speed(t) > 0 else (0, 0) for t in first], geometric=True)
    expected["kernelbench"]["geomean_above_1/sample 0"] = Metric(
        [(math.log(speed(t)), 1) if speed(t) > 1 else (0, 0) for t in first], geometric=True)
    for p in (1, 1.2, 1.5, 2):
        reached = lambda t: t[0] and speed(t) >= p
        expected["drkernel"][f"fast_{p}_ge/last turn"] = pooled(log, last, reached)
        expected["drkernel"][f"fast_{p}_ge/best of history"] = pooled(log, best, reached)
        expected["davinci"][f"fast_{p}_ge/final"] = pooled(log, last, reached)
        expected["davinci"][f"fast_{p}_ge/best by turn 1"] = pooled(log, lambda s: s[0], reached)
    n = max(len(samples) for samples in tasks)
    tops = [max((best(s) for s in samples), key=key) for samples in tasks]
    expected["kevin"][f"correct/best@{n}"] = Metric([(float(t[0]), 1) for t in tops], rate=True)
    expected["kevin"][f"mean_speedup/best@{n}"] = Metric([(speed(t), 1) for t in tops])
    expected["kevin"][f"mean_speedup/avg@{n}"] = Metric(
        [(sum(speed(best(s)) for s in samples) / len(samples), 1) for samples in tasks])
    expected["cuda-agent"]["fast_1.05/final answer"] = pooled(log, last, lambda t: t[0] and speed(t) > 1.05)
    expected["cuda-agent"]["milestone/final answer"] = Metric(
        [(sum(-1 if not s[-1][0] else 2 if speed(s[-1]) > 1.05 else 1 for s in samples), len(samples))
         for samples in tasks])
    changed = lambda s: not s[0][0] and s[-1][0]
    expected["davinci"]["improved"] = Metric([(sum(float(changed(s)) for s in samples), len(samples))
                                                for samples in tasks], rate=True)
    return expected


def sign_test(wins, losses):
    n = wins + losses
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2 ** n)))


def sign_flips(differences):
    """With exact fractions; differences are short decimals."""
    sizes = [abs(Fraction(str(d))) for d in differences if d != 0]
    observed = abs(sum(Fraction(str(d)) for d in differences))
    hits = sum(abs(sum(s if up else -s for s, up in zip(sizes, signs))) >= observed
               for signs in itertools.product([False, True], repeat=len(sizes)))
    return float(Fraction(hits, 2 ** len(sizes)))


def main():
    random_state = random.Random(20250607)
    logs = []
    for _ in range(12):
        log = random_log(random_state)
        max_turns = max(len(s) for task in log.values() for s in task["samples"])
        rules = {name: estimates(log, lambda drawn, name=name: papers(drawn)[name]) for name in papers(log)}
        logs.append({"log": log, "bench": estimates(log, lambda drawn: bench(drawn, max_turns)), "papers": rules})
    tests = []
    for n in (1, 2, 5, 9, 12):
        for _ in range(3):
            differences = [round(random_state.gauss(0.2, 0.4), 1) for _ in range(n)]
            wins = sum(d > 0 for d in differences)
            losses = sum(d < 0 for d in differences)
            tests.append({"differences": differences, "wins": wins, "losses": losses,
                          "sign_p": sign_test(wins, losses), "flip_p": sign_flips(differences)})
    tests.append({"differences": [], "wins": 180, "losses": 120, "sign_p": sign_test(180, 120), "flip_p": 1.0})
    print(json.dumps({"logs": logs, "tests": tests}, indent=1, sort_keys=True))


main()
