"""Which recorded bills the context shown explains, call by call, and where it ceases to.

A call is expected to be billed for an overhead, the same for all calls of a model in the session (its system prompt and
tools: what the model's first call was billed beyond the messages before it), and for the messages that are shown before
it, as the counter weighs them, by one scale of the model. The scale is learnt from the stretches between bills, without
the two that the judged bill bounds, so that no bill explains itself. What the model wrote counts by its recorded output
where that fits the bills better, hidden reasoning with it: for good, or until the person's next message.

A difference is what a reader of the session ought to know: a removal that no file records, texts that the agent sent
and did not write down, a bill that counts something else, or a context read wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Literal

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.session import Session
from workbench.tokens import Counter, calls_of
from workbench.tokens.calibration import PRIOR_CALLS, Family

TOLERANCE, FEW_TOKENS = 0.03, 100
"""The share of a bill by which it may differ from what is expected and still is explained, and so few tokens in any
case."""

SLACK_TOKENS, SLACK_OF_BILL, SLACK_OF_STEP, SLACK_UNSURE = 1_000, 0.01, 0.15, 0.35
"""What may be unexplained from one call to the next without a word: so many tokens and this share of the bill, for
reminders that no file records, and this share of the messages between, for text that tokenizes unlike the rest; a
larger one where neither is the model's tokenizer known nor have `PRIOR_CALLS` calls taught it."""

DRIFT = 0.1
"""The share of a bill that may be unexplained without a word where it came little by little."""

NEAR_TOKENS, NEAR_SHARE = 200, 0.25
"""A stretch that is off by more than the greater of these does not shape the scale."""

WORST = 4_000
"""No stretch counts for more than so many tokens when it is judged which way of counting answers fits the bills."""

BEHIND, ANEW = 0.97, 0.5
"""A call that read the first share of the call before from the cache began with all of it; one that read less than the
second share of the overhead began otherwise, or came when the cache had expired."""

WAYS = ("shown", "billed", "billed in its round")
"""How an answer weighs in later prompts: by what is shown of it; by its billed output, hidden reasoning included; by
that until the person's next message, and by what is shown from then on."""


class Bill(Struct, frozen=True):
    """One billed call: the `call`-th of the session, from 1, those without a bill counted, too, which message `message`
    of an epoch answered, by its id.

    `expected` is what the context shown makes of it, in tokens as `billed`; None for the call from which the overhead
    is learnt.
    """

    call: int
    epoch: int
    message: str
    billed: int
    expected: int | None

    @property
    def difference(self) -> int:
        """How many tokens more were sent than is shown; negative for less."""
        return 0 if self.expected is None else self.billed - self.expected

    @property
    def explained(self) -> bool:
        return abs(self.difference) <= max(FEW_TOKENS, TOLERANCE * self.billed)


Where = Literal["", "behind", "anew", "compacted", "drift"]


@dataclass(frozen=True, slots=True)
class Gap:
    """Where the context shown ceases to explain the bills: at `call`, and so to call `last` of the epoch.

    `message` is the id of the answer. `tokens` more were sent than is shown, less where it is negative. By what was
    read from the cache they stood `behind` all that had been sent before, or the prompt was sent `anew` from its start;
    "" where that tells nothing. What a call after a recorded compaction was sent beside what that left is `compacted`;
    a `drift` came little by little, in the calls up to this one.
    """

    call: int
    last: int
    epoch: int
    message: str
    tokens: int
    where: Where = ""

    def __str__(self) -> str:
        several = self.last > self.call
        calls = f"Calls {grouped(self.call)}–{grouped(self.last)} were" if several else f"Call {grouped(self.call)} was"
        tokens = f"{grouped(abs(self.tokens))} tokens"
        billed = f"for {tokens} that are not in the file" if self.tokens > 0 else f"{tokens} less than the file shows"
        return f"{calls} billed {billed}{_WHERE[self.where]}."


_WHERE: dict[Where, str] = {
    "": "",
    "behind": ", after the messages sent before: neither system prompt nor tools",
    "compacted": ". They first appear with the compaction",
    "drift": ". The difference grew gradually",
    "anew": ". The prompt changed from its start: system prompt or tools may differ",
}


class Bills(Struct, frozen=True):
    """Every billed call of a session, in order, and where they cease to be explained."""

    calls: tuple[Bill, ...]
    gaps: tuple[Gap, ...]

    @property
    def judged(self) -> int:
        return sum(bill.expected is not None for bill in self.calls)

    @property
    def unexplained(self) -> tuple[Bill, ...]:
        return tuple(bill for bill in self.calls if not bill.explained)

    def gaps_in(self, epoch: int) -> tuple[Gap, ...]:
        """Those of an epoch, the largest first."""
        return tuple(sorted((gap for gap in self.gaps if gap.epoch == epoch), key=lambda gap: -abs(gap.tokens)))


def bills_of(session: Session, counter: Counter) -> Bills:
    """Judge every recorded bill of the session, each in the first epoch that holds its answer; copies and absurd bills
    are no bills. Counts what `counter` has not counted: for a long session to be done off the event loop."""
    models: dict[str, list[_Call]] = {}
    for call in _calls(session, counter):
        models.setdefault(call.model, []).append(call)
    bills: list[Bill] = []
    gaps: list[Gap] = []
    for calls in models.values():
        expected = _expected(calls)
        bills += [Bill(c.number, c.epoch, c.message, c.billed, e) for c, e in zip(calls, expected, strict=True)]
        gaps += _gaps(calls, expected)
    return Bills(tuple(sorted(bills, key=lambda one: one.call)), tuple(sorted(gaps, key=lambda one: one.call)))


# -- What was sent


class _Call(Struct, frozen=True):
    """A call as it is judged. `weights` are the tokens of the messages before it, a figure for each of `WAYS`; `cached`
    what was read from the cache, `known` whether the model's tokenizer is."""

    number: int
    epoch: int
    message: str
    model: str
    billed: int
    cached: int
    known: bool
    weights: tuple[float, ...]


def _calls(session: Session, counter: Counter) -> list[_Call]:
    found: list[_Call] = []
    seen: set[int] = set()
    number = 0
    for epoch in session.epochs:
        seen |= epoch.copies
        messages = session.context(epoch.number)
        calls = {call.index: call for call in calls_of(messages, session.model)}
        before: dict[str, Sequence[tuple[float, ...]]] = {}
        for index, (member, answer) in enumerate(zip(epoch.members, messages, strict=True)):
            if member in seen or answer.role != "assistant":
                continue
            number += answer.kind == "normal"
            call = calls.get(index)
            if call is None or answer.usage is None:
                continue
            family, model = call.family, answer.model or session.model or ""
            if family.id not in before:
                before[family.id] = _weights(session, epoch.number, counter, family)
            at, cached = (number, epoch.number, answer.id), answer.usage.cache_read
            found.append(_Call(*at, model, call.context, cached, family.known, before[family.id][index]))
        seen.update(epoch.members)
    return found


def _weights(session: Session, epoch: int, counter: Counter, family: Family) -> list[tuple[float, ...]]:
    """For every message of an epoch the tokens before it, a figure for each of `WAYS`."""
    shown = billed = over = 0.0  # `over`: hidden reasoning of rounds that are over
    found: list[tuple[float, ...]] = []
    for message in session.context(epoch):
        found.append((shown, billed, billed - over))
        if message.starts_round:
            over = billed - shown
        tokens, usage = family.tokens(message.role, counter.weigh(message)), message.usage
        shown += tokens
        said = usage.output if usage and usage.output_final and message.role == "assistant" else 0
        billed += said if said * 2 >= tokens else tokens
    return found


# -- What is expected


def _expected(calls: Sequence[_Call]) -> list[int | None]:
    """What is expected of each of one model's calls; None for the first, unless the messages before it alone are much
    more than was billed."""
    fit = min((_fit(calls, way) for way in range(len(WAYS))), key=lambda one: one.off)
    first = calls[0]
    found: list[int | None] = []
    for index, call in enumerate(calls):
        scale = fit.scale(index)
        overhead = first.billed - scale * first.weights[fit.way]
        short = -overhead > _slack(first, scale * first.weights[fit.way], sure=False)
        expected = round(max(0.0, overhead) + scale * call.weights[fit.way])
        found.append(expected if index or short else None)
    return found


Step = tuple[float, float]
"""What came between two calls: as it was billed, and as it weighs."""


class _Fit(Struct, frozen=True):
    """One way to count answers, fitted to the bills, which are `off` from it by so many tokens in all.

    `steps[i]` came between calls i and i + 1; (0, 0) where it does not shape the scale.
    """

    way: int
    steps: Sequence[Step]
    total: Step
    number: int
    off: float

    def scale(self, index: int) -> float:
        """The scale by the steps that do not begin or end at call `index`."""
        (billed, weight), number = self.total, self.number
        for less, heavy in self.steps[max(0, index - 1) : index + 1]:
            billed, weight, number = billed - less, weight - heavy, number - (heavy > 0)
        return _scale(billed, weight, number)


def _fit(calls: Sequence[_Call], way: int) -> _Fit:
    steps = [
        (float(after.billed - call.billed), after.weights[way] - call.weights[way]) for call, after in pairwise(calls)
    ]
    inside = [call.epoch == after.epoch for call, after in pairwise(calls)]
    grown = [step if within and min(step) > 0 else (0.0, 0.0) for step, within in zip(steps, inside, strict=True)]
    middle = _weighted_median([(billed / weight, weight) for billed, weight in grown if weight])
    used = [step if _is_near(*step, middle) else (0.0, 0.0) for step in grown]
    billed, weight, number = sum(b for b, _ in used), sum(w for _, w in used), sum(1 for _, w in used if w)
    scale = _scale(billed, weight, number)
    off = sum(min(WORST, abs(b - scale * w)) for (b, w), within in zip(steps, inside, strict=True) if within)
    return _Fit(way, used, (billed, weight), number, off)


def _weighted_median(ratios: list[tuple[float, float]]) -> float:
    """The ratio below which half of the weight lies; 1 without any."""
    ratios.sort()
    half = sum(weight for _, weight in ratios) / 2
    sums = accumulate(weight for _, weight in ratios)
    return next((ratio for (ratio, _), upto in zip(ratios, sums, strict=True) if upto >= half), 1.0)


def _is_near(billed: float, weight: float, scale: float) -> bool:
    return abs(billed - scale * weight) <= max(NEAR_TOKENS, NEAR_SHARE * scale * weight)


def _scale(billed: float, weight: float, number: int) -> float:
    """What was billed over what it weighs, within 0.5..2, towards 1 where it is learnt from few."""
    ratio = min(2.0, max(0.5, billed / weight)) if number else 1.0
    return 1 + (ratio - 1) * number / (number + PRIOR_CALLS)


def _slack(call: _Call, between: float, *, sure: bool) -> float:
    """By how much a step of `between` tokens to a call may be off."""
    return SLACK_TOKENS + SLACK_OF_BILL * call.billed + (SLACK_OF_STEP if sure else SLACK_UNSURE) * abs(between)


# -- Where it ceases


def _gaps(calls: Sequence[_Call], expected: Sequence[int | None]) -> list[Gap]:
    """Steps of the difference that are too large for what came between two calls of an epoch, or before its first; one
    that only takes back what an earlier one brought ends that one instead."""
    sure, caches = calls[0].known or len(calls) > PRIOR_CALLS, any(call.cached for call in calls)
    ends = {call.epoch: call.number for call in calls}
    found: list[Gap] = []
    standing: list[tuple[int, int]] = []  # places in `found`, each with the difference before it
    off = 0
    for index, call in enumerate(calls):
        before = calls[index - 1] if index and calls[index - 1].epoch == call.epoch else None
        if before is None:
            off, standing = 0, []
        say = call.billed if (told := expected[index]) is None else told
        now = call.billed - say
        slack = _slack(call, say - (before.billed - off if before else 0), sure=sure)
        crept = now - sum(found[place].tokens for place, _ in standing)
        tokens = 0
        where: Where = ""
        if abs(now - off) > slack:
            back = next((at for at, (_, then) in enumerate(standing) if abs(now - then) <= slack), None)
            if back is None:
                tokens, where = now - off, _where(call, before, calls[0], now - off, caches=caches)
            else:
                for place, _ in standing[back:]:
                    found[place] = replace(found[place], last=call.number - 1)
                del standing[back:]
        elif sure and abs(crept) > SLACK_TOKENS + DRIFT * call.billed:
            tokens, where = crept, "drift"
        if tokens:
            standing.append((len(found), now - tokens))
            found.append(Gap(call.number, ends[call.epoch], call.epoch, call.message, tokens, where))
        off = now
    return found


def _where(call: _Call, before: _Call | None, first: _Call, step: int, *, caches: bool) -> Where:
    if before is None:
        return "compacted" if step > 0 and call.epoch > first.epoch else ""
    if not caches:
        return ""
    if step > 0 and call.cached >= BEHIND * before.billed:
        return "behind"
    return "anew" if call.cached < ANEW * (first.billed - first.weights[0]) else ""
