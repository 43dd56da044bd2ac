"""Token figures of messages, fitted to the usage of the recorded API calls between them (docs/tokens.md)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from msgspec import Struct

from workbench.session import Message
from workbench.tokens.calibration import Family, family_of
from workbench.tokens.counting import Weight, guess
from workbench.tokens.sizes import Basis, Meter, Sizes

ABSURD_RATIO = 4
"""Factor by which usage and predicted tokens of the messages between two calls must differ, in either direction, to be
inconsistent: something unrecorded was sent, or something recorded was not."""

ABSURD_TOKENS = 4_000
"""Difference in tokens that must also be exceeded: between calls close together, reminders that no file records make a
large ratio."""


class MeasuredCall(Struct, frozen=True):
    """A recorded API call: message `index` answered a prompt of `context` tokens with `output`, None if unknown."""

    index: int
    context: int
    output: int | None
    family: Family


def calls_of(messages: Sequence[Message], model: str | None = None) -> list[MeasuredCall]:
    """Return the API calls that a context records, in order. A message without a model of its own counts as `model`'s.

    A call is omitted if a summary, or a message without records, stands before it and is newer: the call was billed for
    the context before that compaction.
    """
    return list(_calls(messages, model))


def first_call(messages: Sequence[Message], model: str | None = None) -> MeasuredCall | None:
    """First call of `calls_of`, None without one."""
    return next(_calls(messages, model), None)


def _calls(messages: Sequence[Message], model: str | None) -> Iterator[MeasuredCall]:
    replaced = float("-inf")
    for index, message in enumerate(messages):
        time, usage = message.time, message.usage
        if time is not None:
            if message.kind == "summary" or not message.source:
                replaced = max(replaced, time)
            if time < replaced:
                continue
        if usage is None or message.role != "assistant" or not (bill := message.bill):
            continue
        family = family_of(message.model or model)
        output = usage.output if usage.output_final and usage.output > 0 and family.output_stays else None
        yield MeasuredCall(index, bill, output, family)


def overhead_at(first: MeasuredCall, messages: Sequence[Message], model: str | None) -> int:
    """Return the tokens that the first call was billed for in addition to the messages before it, estimated from
    characters. Equals the overhead that `sizes_of` returns for a context that ends with this call as long as no
    message has been counted."""
    family = family_of(model) if model else first.family
    before = messages[: first.index]
    return unexplained(first, [round(family.tokens(message.role, guess(message))) for message in before])


def unexplained(first: MeasuredCall, before: Sequence[int]) -> int:
    """Tokens that the first call was billed for in addition to the messages before it, of `before` tokens each."""
    return max(0, first.context - sum(before))


def share(total: int, weights: Sequence[int]) -> list[int]:
    """Split `total` in proportion to `weights` (≥ 0) into parts that add up to it exactly; each differs by less than 1
    from its exact share. If all weights are 0, the first part gets everything."""
    whole = sum(weights)
    if not whole:
        return [total, *([0] * (len(weights) - 1))] if weights else []
    uptos = [(2 * total * running + whole) // (2 * whole) for running in accumulate(weights, initial=0)]
    return [upto - before for before, upto in pairwise(uptos)]


def consistent_intervals(calls: Sequence[MeasuredCall], base: Sequence[float]) -> list[tuple[int, float]]:
    """Return (billed, predicted) tokens between each two calls with the same tokenizer and consistent usage, from which
    a session's scale can be learnt."""
    found: list[tuple[int, float]] = []
    for call, after in pairwise(calls):
        billed, predicted = after.context - call.context, sum(base[call.index : after.index])
        if call.family is after.family and billed > 0 and not is_inconsistent(billed, predicted):
            found.append((billed, predicted))
    return found


def is_inconsistent(billed: int, predicted: float) -> bool:
    """True if the usage differs so much from the prediction that it was billed for something else."""
    far = billed * ABSURD_RATIO < predicted or billed > predicted * ABSURD_RATIO
    return far and abs(billed - predicted) > ABSURD_TOKENS


class Figures:
    """Token figures of messages: at first their calibrated weights; `anchor` and `fit_recorded` fit them to recorded
    usage."""

    def __init__(self, tokens: list[int], weights: Sequence[Weight], family: Family) -> None:
        self.tokens = tokens
        self.basis = [Basis.CALIBRATED if w.exact and family.known else Basis.ESTIMATE for w in weights]
        self.overhead = 0
        self.overhead_basis = Basis.ESTIMATE
        self.anchored_until = 0
        self._restart: tuple[int, int] | None = None

    def sizes(self, meter: Meter) -> Sizes:
        alike = len(set(self.basis)) <= 1
        basis = (self.basis[0] if self.basis else meter.basis) if alike else tuple(self.basis)
        return Sizes(array("q", self.tokens), basis, self.overhead, self.overhead_basis, self.anchored_until, meter)

    def anchor(self, calls: Sequence[MeasuredCall]) -> None:
        first = calls[0]
        self._open_with(first)
        for call, after in pairwise(calls):
            self._fit_interval(call, after)
        self._apply_restart()
        last = calls[-1]
        self.anchored_until = last.index
        if last.output is not None:
            self._bill(last.index, last.index + 1, last.output)
            self.anchored_until = last.index + 1

    def fit_recorded(self, total: int, stop: int) -> bool:
        """Fit the messages before `stop` and the overhead to a size that the agent recorded. False, and nothing is
        changed, if the messages are so much larger that the size must belong to another context."""
        known = self.tokens[:stop]
        if is_inconsistent(total, sum(known)) and total < sum(known):
            return False
        self.overhead, self.overhead_basis = max(0, total - sum(known)), Basis.CALIBRATED
        if not self.overhead:
            self.tokens[:stop] = share(total, known)
        return True

    def _open_with(self, first: MeasuredCall) -> None:
        """Set the overhead (system prompt and tools) to the tokens that the first call was billed for in addition to
        the messages before it."""
        known = self.tokens[: first.index]
        self.overhead = unexplained(first, known)
        guessed = Basis.ESTIMATE in self.basis[: first.index]
        self.overhead_basis = Basis.ESTIMATE if guessed else Basis.CALIBRATED
        if not self.overhead:
            self.tokens[: first.index] = share(first.context, known)

    def _fit_interval(self, call: MeasuredCall, after: MeasuredCall) -> None:
        start, stop = call.index, after.index
        billed = after.context - call.context
        rest = sum(self.tokens[start + 1 : stop])
        output = call.output if call.output is not None and call.output * 2 >= self.tokens[start] else None
        predicted = rest + (self.tokens[start] if output is None else output)
        is_far = is_inconsistent(billed, predicted)
        if call.family is not after.family or billed <= 0 or (billed < predicted and is_far):
            self._start_over(call, after, predicted)
        elif is_far:
            # Far more was billed than the messages hold: attachments, reminders, new tools. Count the rest as overhead.
            self.overhead += billed - predicted
            if output is not None:
                self.tokens[start] = output
        elif output is not None and output < billed and rest and not is_inconsistent(billed - output, rest):
            self._bill(start, start + 1, output)
            self._bill(start + 1, stop, billed - output)
        else:
            self._bill(start, stop, billed)

    def _start_over(self, call: MeasuredCall, after: MeasuredCall, predicted: int) -> None:
        """Fit all messages before `after` to its usage again, because the context shrank or the tokenizer changed."""
        if call.family is not after.family or after.context <= self.overhead:
            self.overhead = after.context * self.overhead // (call.context + predicted)
        # Only the last restart determines the figures; fitting at each one would take quadratic time.
        self._restart = after.index, after.context - self.overhead

    def _apply_restart(self) -> None:
        if self._restart is None:
            return
        stop, total = self._restart
        self.tokens[:stop] = share(total, self.tokens[:stop])
        self.basis[:stop] = [Basis.CALIBRATED if basis is Basis.EXACT else basis for basis in self.basis[:stop]]

    def _bill(self, start: int, stop: int, total: int) -> None:
        """Fit messages `start`..`stop` to their usage. A single message gets an exact figure; several get shares of an
        exact sum."""
        if stop - start == 1:
            self.tokens[start] = total
            self.basis[start] = Basis.EXACT
        else:
            self.tokens[start:stop] = share(total, self.tokens[start:stop])
