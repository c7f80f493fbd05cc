"""Both laws without the clock: the oracle is asked, in this process, what it says to PyTorch's own answers, and to lesser ones.

    python tests/corpus/laws.py --library build/dev/lib/libdavinci_worker.so [--target cpu] [--seeds 5] [--only REGEX] [--compiled REGEX]
        [--distributions NAME,…] [-j N] [--out rows.jsonl] [--no-tasks | --no-modules] [--law 1|2]

For every task of tasks/ and every module of modules.py: each relative (relatives.py), on each distribution, with so many secret seeds and
weights written anew for each, against truth and, on own inputs, against the baseline's answer. A refused answer is a fault of ours.
Law 2 instead asks for the same text in less precision (relatives.reduced): an answer that differs from the reference's has to be refused on one
of the distributions and seeds.
Rows that are in --out already are not asked again. Exit status 1 when anything was refused.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import re
import sys
import time
import tomllib
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]
DISTRIBUTIONS = ("task", "heavy_tailed", "log_uniform", "small_scale", "degenerate", "large_mean", "outliers")

import modules  # noqa: E402
import relatives  # noqa: E402


def cases(target, only, tasks=True, others=True):
    """name: (text of the task, its sidecar, sizes)"""
    found = {}
    for path in sorted((ROOT / "tasks").rglob("*.py")) if tasks else ():
        config = tomllib.loads(path.with_suffix(".toml").read_text())
        found[f"{path.parent.name}/{path.stem}"] = (path.read_text(), config, config.get("sizes", {}).get(target, {}))
    for name, module in modules.MODULES.items() if others else ():
        found["modules/" + name] = (module.text(target), tomllib.loads(module.sidecar()), {})
    return {name: case for name, case in found.items() if re.search(only, name)}


def examine(name, case, target, seeds, with_compiled, law=1, distributions=DISTRIBUTIONS):
    """Rows {"module", "relative", "worst", "refused": [{"seed", "distribution", "text"}], "seconds"}."""
    import torch
    from davinci_worker import kept_state, oracle, outputs, packing, source, weights

    text, config, sizes = case
    started = time.monotonic()
    torch.manual_seed(1)
    compiler = torch.compile, torch.nn.Module.compile
    judge = oracle.Oracle(None, {"threads": torch.get_num_threads(), "target": target})
    torch.compile, torch.nn.Module.compile = compiler  # for relatives: an oracle compiles nothing
    judge.answers.returned = lambda tensors: tensors
    spec = {"path": f"/corpus/{name}.py", "source": text, "entry": config.get("entry", "Model"), "function": config.get("function"),
            "op_path": config.get("op"), "precision": config.get("precision", "fp32"), "mode": config.get("mode"), "init_seed": 11, "state_seed": 12,
            "tolerance_multiple": config.get("tolerance_multiple"), "globals": sizes}
    known = modules.MODULES.get(name.removeprefix("modules/"))
    if known is not None and known.asserts:
        spec["domain_on_host"] = True  # a failed assertion would end the context that the process' other modules need
    judge.answer({"op": "load", **spec})
    judge.answer({"op": "describe", "seed": 3})
    built = judge.reference.instance(0)
    made = {}
    for kind in relatives.kinds(text, target, with_compiled) if law == 1 else relatives.reduced(target):
        module = source.load_module(f"/corpus/{name}.{kind}.py", "relative_" + kind, None, relatives.text_of(text, config, sizes, kind, target))
        with torch.device(target):
            torch.manual_seed(11)
            model = module.ModelNew(*packing.from_blob(built.init)).to(target)
        made[kind] = model.train(built.model.training)
    rows = {kind: {"module": name, "relative": kind, "target": target, "worst": 0.0, "answers": 0, "refused": [],
                   **({"law": 2, "differs": False} if law == 2 else {})} for kind in made}
    for seed in range(seeds):
        if seed:
            judge.reference.reweigh(100 + seed, True)
        for distribution in distributions:
            judge.draws.current = None
            drawn, used, judged = judge.truth.draw_judged((seed + 1) * 7919 + 17, distribution, 0)
            judge.draws.current = drawn
            for kind, model in made.items():
                judge.reference.restore_state(built)
                weights.take_over(model, built.model)
                kept = kept_state.KeptState(model, judge.reference.kept_names(0))
                given = [shifted(t) for t in drawn.tensors]
                if judge.reference.spec.get("reseed_calls"):
                    torch.manual_seed(drawn.call_seed())
                try:
                    answer = outputs.flat(kept.joined(model(*packing.unflatten(drawn.skeleton, given))))
                except Exception as error:  # noqa: BLE001  the relative cannot do it: nothing is learned
                    rows[kind]["cannot"] = f"{type(error).__name__}: {str(error)[:200]}"
                    continue
                row = rows[kind]
                row["answers"] += 1
                if law == 2:
                    row["differs"] |= not all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(answer, drawn.reference))
                found = [("truth", judge.comparison.with_truth(drawn, answer))]
                if distribution == "task":
                    found.append(("baseline", judge.answer({"op": "verify", "outputs": answer, "baseline": drawn.reference})[0]["comparison"]))
                for against, comparison in found:
                    ratios = [o["max_ratio"] for o in comparison["outputs"] if isinstance(o.get("max_ratio"), float)]
                    row["worst"] = max([row["worst"], *ratios])
                    if not comparison["passed"]:
                        row["refused"].append({"seed": seed, "distribution": f"{distribution} ({used})" if used != distribution else used, "against": against,
                                               "text": "; ".join(o.get("text", "") for o in comparison["outputs"] if not o["passed"])[:300]})
    for row in rows.values():
        if law == 2:
            row["believed"] = row["differs"] and not row["refused"] and config.get("precision", "fp32") == "fp32"
        row["seconds"] = (time.monotonic() - started) / len(rows)
    return list(rows.values())


def shifted(tensor):
    """The same values in memory that begins at another address modulo a vector register: 16 bytes further, because attention in bfloat16
    returns garbage for inputs aligned to 8 bytes (H100, torch 2.11)."""
    import torch

    by = 16 // tensor.element_size()
    span = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride())) + 1 if tensor.numel() else 0
    return torch.empty(span + by, dtype=tensor.dtype, device=tensor.device).as_strided(tensor.shape, tensor.stride(), by).copy_(tensor)


def _start(library, threads):
    os.environ["DAVINCI_WORKER_LIB"] = library
    import torch

    torch.set_num_threads(threads)


def _one(arguments):
    name, case, target, *_ = arguments
    try:
        return examine(*arguments)
    except Exception as error:  # noqa: BLE001
        return [{"module": name, "relative": "?", "target": target, "error": f"{type(error).__name__}: {str(error)[:300]}", "refused": [],
                 "traceback": traceback.format_exc()[-1500:]}]
    finally:
        if target == "cuda":
            import torch

            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True, help="libdavinci_worker.so")
    parser.add_argument("--target", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--compiled", help="also torch.compile, for names that match")
    parser.add_argument("--no-tasks", action="store_true")
    parser.add_argument("--no-modules", action="store_true")
    parser.add_argument("--law", type=int, default=1, choices=(1, 2))
    parser.add_argument("--distributions", default=",".join(DISTRIBUTIONS), help="those to draw, task among them")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no further case is begun")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--out")
    options = parser.parse_args()
    rows, out = [], pathlib.Path(options.out) if options.out else None
    if out and out.exists():
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    known = {row["module"] for row in rows}
    work = [(name, case, options.target, options.seeds, bool(options.compiled and re.search(options.compiled, name)), options.law,
             options.distributions.split(","))
            for name, case in cases(options.target, options.only, not options.no_tasks, not options.no_modules).items() if name not in known]
    started = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(options.jobs, _start, (os.path.abspath(options.library), options.threads)) as pool:
        for found in pool.imap_unordered(_one, work):
            rows += found
            if out:
                with open(out, "a") as file:
                    file.write("".join(json.dumps(row) + "\n" for row in found))
            for row in found:
                if row.get("believed"):
                    print(f"BELIEVED {row['module']} {row['relative']}: worst error over tolerance {row['worst']:.3g}", flush=True)
                for refused in row["refused"][:3] if options.law == 1 else ():
                    print(f"REFUSED {row['module']} {row['relative']} seed {refused['seed']} {refused['distribution']} against {refused['against']}: {refused['text']}", flush=True)
                if "error" in row:
                    print(f"ERROR {row['module']}: {row['error']}", flush=True)
            if time.monotonic() - started > options.budget:
                pool.terminate()
                print("the budget is used up; the same command continues from here")
                break
    bad = [row for row in rows if ("believed" in row and row["believed"]) or ("law" not in row and row["refused"]) or "error" in row]
    if options.law == 2:
        asked = [row for row in rows if row.get("differs")]
        print(f"{len(asked)} modules in less precision: {sum(bool(row['refused']) for row in asked)} refused, "
              f"{sum(row['believed'] for row in asked)} believed")
    print(f"{len({row['module'] for row in rows})} modules, {len(rows)} relatives, {sum(row.get('answers', 0) for row in rows)} answers, "
          f"{len({row['module'] for row in rows if row['refused']})} modules refused, {sum('error' in row for row in rows)} errors, "
          f"{sum('cannot' in row for row in rows)} relatives could not run; worst error over tolerance "
          f"{max((row.get('worst', 0) for row in rows), default=0):.3g}; {time.monotonic() - started:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
