"""Task admission: which wrong answers would pass under the task's own tolerance, and which mutants of its reference?

A task whose tolerance accepts zeros or yesterday's output says little about kernels. Nothing is refused: the task gets
tags, every evaluation on it carries them, and numbers on tagged tasks are reported apart.
"""

import time

import torch

from davinci_worker import memory, mutants, weights

# wrong answer -> tag of a task that accepts it on its own distribution
TAGS = {"zeros": "accepts-zeros", "constant": "constant-output", "identity": "identity", "cached": "cached-output",
        "weights": "weights-ignored"}
NOT_REPEATABLE = "not-repeatable"
SURVIVES_MUTATION = "survives-mutation"
_DISTRIBUTIONS = ("task", "heavy_tailed", "log_uniform")


def check(truth, seed, stochastic, budget_seconds=None):
    """{"tags", "answers": {answer: {distribution: {"passes", …}}}, "caught_by": {answer: [distribution]}, …}.

    ``truth``: the oracle's. ``stochastic``: what the judge found when it called the reference twice without reseeding. With a budget only the
    task's own distribution is asked about, which is what tags are made of; and nothing when even that would take longer:
    {"skipped": estimate in seconds}. Without one, "mutants" (mutants.survivors) of a reference that repeats itself: on every distribution that a
    candidate is checked on.
    """
    started = time.monotonic()
    estimate = 1.5 * truth.judging_seconds
    if budget_seconds is not None and estimate > budget_seconds:
        return {"skipped": estimate}
    answers, used = {}, {}
    for distribution in _DISTRIBUTIONS if budget_seconds is None else ("task",):
        try:
            drawn, used[distribution], judged = truth.draw_judged(seed, distribution, 0)
        except RuntimeError as error:
            if distribution == "task" or memory.ran_out(error):
                raise
            used[distribution] = f"the reference raised: {type(error).__name__}"
            continue
        if distribution == "task":
            repeatable = not stochastic and _repeatable(truth, drawn)
        elif used[distribution] == "task":
            continue  # the reference is not defined on these inputs
        for answer, tensors in _wrong_answers(truth, drawn, seed):
            report = truth.comparator.compare(drawn.truth, tensors)
            ratios = [o["max_ratio"] for o in report["outputs"] if isinstance(o["max_ratio"], (int, float))]
            answers.setdefault(answer, {})[distribution] = {
                "passes": report["passed"], "error_over_tolerance": max(ratios, default=0.0)}
    tags = [TAGS[a] for a in TAGS if answers.get(a, {}).get("task", {}).get("passes")]
    if not repeatable:
        tags.append(NOT_REPEATABLE)
    found = {
        "tags": tags, "answers": answers, "repeatable": repeatable, "distributions": used,
        "caught_by": {a: [d for d, r in found.items() if not r["passes"]] for a, found in answers.items()},
    }
    if budget_seconds is None and repeatable and not truth.reference.published:
        found["mutants"] = mutants.survivors(truth, seed + 3)
        if found["mutants"]["survive"]:
            tags.append(SURVIVES_MUTATION)
    found["seconds"] = time.monotonic() - started
    return found


def _repeatable(truth, drawn):
    """The same inputs once more, against the first call's truth."""
    again = truth.reference.outputs_for(drawn)
    return truth.comparator.compare(drawn.truth, again)["passed"]


def _wrong_answers(truth, drawn, seed):
    """(name, outputs) of answers that ignore the question. Those that the task's shapes rule out are left out."""
    honest = drawn.reference
    yield "zeros", [torch.zeros(t.shape, dtype=t.dtype, device=t.device) for t in honest]
    identity = [_same_kind(drawn.tensors, t) for t in honest]
    if identity and all(t is not None for t in identity):
        yield "identity", identity
    other = truth.reference.outputs_for(truth.draws.draw(seed + 1, drawn.distribution, drawn.variant))
    if [t.shape for t in other] == [t.shape for t in honest]:
        yield "cached", other
        # Of other inputs too: the mean of the one right number is no constant that can be known in advance.
        yield "constant", [_mean_of(t) for t in other]
    if (foreign := outputs_of_other_weights(truth.reference, drawn, seed + 2)) is not None:
        yield "weights", foreign


def outputs_of_other_weights(reference, drawn, seed):
    """None where there are no other weights."""
    model = reference.of_other_weights(drawn.variant, seed)
    return None if model is None else reference.outputs(model, drawn)


def _mean_of(output):
    finite = output[torch.isfinite(output)] if output.is_floating_point() else output
    mean = finite.double().mean().item() if finite.numel() else 0.0
    if output.dtype is torch.bool:
        mean = mean >= 0.5
    elif not output.is_floating_point():
        mean = round(mean)
    return torch.full(output.shape, mean, dtype=output.dtype, device=output.device)


def _same_kind(inputs, output):
    return next((t.contiguous() for t in inputs if t.shape == output.shape and t.dtype == output.dtype), None)


def other_weights(make, like, seed):
    """A module built like the reference with other weights, or None when it has none."""
    if not any(t.is_floating_point() for t in list(like.parameters()) + list(like.buffers())):
        return None
    torch.manual_seed(seed)
    model = make()
    weights.randomise(model, seed)
    model.train(like.training)
    return model
