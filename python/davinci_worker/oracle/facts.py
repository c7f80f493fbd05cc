"""The reference as the judge asks about it: how it loads, what it needs and does, its state."""

from typing import cast

from davinci_worker import arena, handover, outputs, reads, reference_graph, weights
from davinci_worker.compare import Comparator
from davinci_worker.messages import Message
from davinci_worker.oracle import description
from davinci_worker.oracle.draws import Draws
from davinci_worker.oracle.messages import Described, Done, ExportedState, Load, Mutates, Nothing, Reweigh, Seeded, State, Unchanged, Unread
from davinci_worker.oracle.truth import Truth
from davinci_worker.reference import Reference


class Facts:
    """Holds no state of its own but graphs that were asked for: facts follow from the reference and inputs drawn for the question."""

    def __init__(self, reference: Reference, draws: Draws, truth: Truth, comparator: Comparator) -> None:
        self._reference = reference
        self._draws = draws
        self._truth = truth
        self._comparator = comparator
        self._graphs: dict[int, Message] = {}  # by variant

    def load(self, asked: Load) -> Message:
        self._graphs.clear()
        self._draws.forget_task()
        self._draws.know(asked)
        return self._reference.load(cast(Message, asked))

    def describe(self, asked: Seeded) -> Described:
        """What a runner needs to build a variant of its own, plus facts about the task."""
        self._reference.instance(asked.variant)
        return description.describe(self._reference, self._draws.draw(asked.seed, "task", asked.variant), asked.seed)

    def graph(self, asked: Seeded) -> Message:
        """What the reference computes, as calls of PyTorch (module_graph.py); {"untraceable": why} where that cannot be said."""
        found = reference_graph.graph(self._reference, asked.seed, asked.variant)
        self._graphs[asked.variant] = found
        return found

    def symbolic_graph(self, asked: Seeded) -> Message:
        """The same with symbols for the sizes in which the graphs that were asked for differ (symbolic_graph.py)."""
        return reference_graph.symbolic(self._reference, asked.seed, self._graphs)

    def reweigh(self, asked: Reweigh) -> ExportedState | Unchanged:
        """Draws new parameters (and, with ``buffers``, floating buffers) around those of the start and exports them as
        ``state`` does; ``changed`` is false where there is nothing that may change."""
        if not self._reference.reweigh(asked.seed, asked.buffers):
            return Unchanged()
        self._truth.weights = asked.seed, asked.buffers
        exported = self.state(State())
        exported.changed = True
        return exported

    def state(self, asked: State) -> ExportedState:
        """The randomised parameters and buffers, in shared memory."""
        built = self._reference.instance(asked.variant)
        self._reference.restore_state(built)
        state = weights.state(built.model)
        layout, num_bytes = arena.plan([t.contiguous() for _, t in state])
        shared = arena.HostArena.create("davinci-state", num_bytes)
        for (_, tensor), placed, item in zip(state, layout, handover.offer(built.model, built.initial, built.constants)):
            placed.update(item)
            shared.view(placed).copy_(tensor)
        return ExportedState(layout, shared.num_bytes, [shared.fd])

    def unread(self, asked: Seeded) -> Unread:
        """Names of parameters and buffers that forward does not read: a candidate need not hold them."""
        return Unread(reads.unread(self._reference, self._draws.draw(asked.seed, "task", asked.variant)))

    def unrandomise(self, asked: Nothing) -> Done:
        self._reference.keep_initial_weights()
        return Done()

    def mutates(self, asked: Seeded) -> Mutates:
        """Does the reference itself change its inputs, and any that it does not return?"""
        drawn = self._draws.draw(asked.seed, "task", 0)
        returned, used = self._reference.forward(self._reference.instance(0).model, drawn)
        self._reference.learn_changes(drawn, returned, used)
        changed = [a for a, b in zip(used, drawn.tensors) if not self._comparator.same_bytes(a, b)]
        hides = not self._reference.spec.get("inplace") and not all(outputs.lie_in(changed, outputs.flat(returned)))
        return Mutates(bool(changed), hides)
