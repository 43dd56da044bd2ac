"""Compare recorded usage with the context shown, call by call, and find the calls at which they diverge.

The expected size of a call is an overhead plus the counted tokens of the messages before it, times a scale. The
overhead (system prompt and tools) is the part of the model's first call that its messages do not explain. The scale is
learnt per model from the steps between calls, without the two steps next to the checked call, so that no call explains
itself. An answer counts by its text, by its recorded output (hidden reasoning included), or by that output until the
user's next message: whichever fits best.

A difference means a removal that no file records, texts that the agent sent and did not record, usage that counts
something else, or a context that was read wrongly.
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
"""Largest difference of an explained call: a share of the billed tokens, or a number of tokens if that is more."""

SLACK_TOKENS, SLACK_OF_BILL, SLACK_OF_STEP, SLACK_UNSURE = 1_000, 0.01, 0.15, 0.35
"""Tolerated change of the difference from one call to the next, as a sum: tokens, a share of the prompt (both for
unrecorded reminders), and a share of the messages in between (for text that tokenizes unlike the rest). `SLACK_UNSURE`
replaces `SLACK_OF_STEP` if the model's tokenizer is unknown and there are at most `PRIOR_CALLS` calls."""

DRIFT = 0.1
"""Share of the prompt above which a gradually grown difference is a gap."""

NEAR_TOKENS, NEAR_SHARE = 200, 0.25
"""Distance from the median scale beyond which a step is ignored: tokens, or a share if that is more."""

MOST_OFF = 4_000
"""Cap on the difference of one step, in tokens, when `ANSWER_WEIGHTS` are compared."""

CACHED_PREFIX, CACHED_OVERHEAD = 0.97, 0.5
"""Cache reads of at least the first share of the previous prompt mean that the call began with all of it; reads below
the second share of the overhead mean that it began differently, or that the cache had expired."""

ANSWER_WEIGHTS = ("shown", "billed", "billed in its round")
"""Weights of an answer in later prompts: the text shown; the billed output, hidden reasoning included; the latter until
the user's next message, then the text shown."""


class CheckedCall(Struct, frozen=True):
    """Call with recorded usage: the `call`-th of the session, from 1, answered by message `message`.

    `expected` is its size by the context shown, in tokens; None for the call from which the overhead is known.
    """

    call: int
    epoch: int
    message: str
    billed: int
    expected: int | None

    @property
    def difference(self) -> int:
        """Tokens sent beyond the context shown; negative for fewer."""
        return 0 if self.expected is None else self.billed - self.expected

    @property
    def explained(self) -> bool:
        """True if the difference is within the tolerance."""
        return abs(self.difference) <= max(FEW_TOKENS, TOLERANCE * self.billed)


GapPosition = Literal["", "behind", "anew", "compacted", "drift"]


@dataclass(frozen=True, slots=True)
class Gap:
    """Calls `call` to `last` of an epoch with usage that the context shown does not explain.

    `message` is the id of the first answer. `tokens` were sent beyond the context shown; negative for fewer. `where`:
    after all earlier messages (`behind`) or by a prompt that changed from its start (`anew`), as the cache reads show;
    with a recorded compaction (`compacted`); gradually (`drift`); "" if unknown.
    """

    call: int
    last: int
    epoch: int
    message: str
    tokens: int
    where: GapPosition = ""

    def __str__(self) -> str:
        several = self.last > self.call
        calls = f"Calls {grouped(self.call)}–{grouped(self.last)} were" if several else f"Call {grouped(self.call)} was"
        tokens = f"{grouped(abs(self.tokens))} tokens"
        billed = f"for {tokens} that are not in the file" if self.tokens > 0 else f"{tokens} less than the file shows"
        return f"{calls} billed {billed}{_POSITIONS[self.where]}."


_POSITIONS: dict[GapPosition, str] = {
    "": "",
    "behind": ", after the messages sent before: neither system prompt nor tools",
    "compacted": ". They first appear with the compaction",
    "drift": ". The difference grew gradually",
    "anew": ". The prompt changed from its start: system prompt or tools may differ",
}


class UsageCheck(Struct, frozen=True):
    """Every call of a session with recorded usage, in order, and the gaps."""

    calls: tuple[CheckedCall, ...]
    gaps: tuple[Gap, ...]

    @property
    def judged(self) -> int:
        """Number of calls with an expected size."""
        return sum(call.expected is not None for call in self.calls)

    @property
    def unexplained(self) -> tuple[CheckedCall, ...]:
        """Calls outside the tolerance."""
        return tuple(call for call in self.calls if not call.explained)

    def gaps_in(self, epoch: int) -> tuple[Gap, ...]:
        """Return the gaps of an epoch, largest first."""
        return tuple(sorted((gap for gap in self.gaps if gap.epoch == epoch), key=lambda gap: -abs(gap.tokens)))


def check_usage(session: Session, counter: Counter) -> UsageCheck:
    """Check the recorded usage of a session, each call in the first epoch that holds its answer; copies and absurd
    usage are left out. Counts messages that `counter` does not know: run off the event loop for long sessions."""
    models: dict[str, list[_BilledCall]] = {}
    for call in _calls(session, counter):
        models.setdefault(call.model, []).append(call)
    checked: list[CheckedCall] = []
    gaps: list[Gap] = []
    for calls in models.values():
        expected = _expected_tokens(calls)
        checked += [
            CheckedCall(c.number, c.epoch, c.message, c.billed, e) for c, e in zip(calls, expected, strict=True)
        ]
        gaps += _gaps(calls, expected)
    return UsageCheck(tuple(sorted(checked, key=lambda one: one.call)), tuple(sorted(gaps, key=lambda one: one.call)))


# --- calls


class _BilledCall(Struct, frozen=True):
    """Call to check. `weights` are the tokens of the messages before it by each of `ANSWER_WEIGHTS`, `cached` the
    tokens read from the cache; `known`: the model's tokenizer is known."""

    number: int
    epoch: int
    message: str
    model: str
    billed: int
    cached: int
    known: bool
    weights: tuple[float, ...]


def _calls(session: Session, counter: Counter) -> list[_BilledCall]:
    found: list[_BilledCall] = []
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
            found.append(_BilledCall(*at, model, call.context, cached, family.known, before[family.id][index]))
        seen.update(epoch.members)
    return found


def _weights(session: Session, epoch: int, counter: Counter, family: Family) -> list[tuple[float, ...]]:
    """Return the tokens before each message of an epoch, by each of `ANSWER_WEIGHTS`."""
    shown = billed = over = 0.0  # `over`: hidden reasoning of finished rounds
    found: list[tuple[float, ...]] = []
    for message in session.context(epoch):
        found.append((shown, billed, billed - over))
        if message.starts_round:
            over = billed - shown
        tokens, usage = family.tokens(message.role, counter.weigh(message)), message.usage
        shown += tokens
        output = usage.output if usage and usage.output_final and message.role == "assistant" else 0
        billed += output if output * 2 >= tokens else tokens
    return found


# --- expected sizes


def _expected_tokens(calls: Sequence[_BilledCall]) -> list[int | None]:
    """Return the expected tokens of one model's calls. None for the first, which defines the overhead, unless its
    messages alone far exceed its usage."""
    fit = min((_fit_weights(calls, way) for way in range(len(ANSWER_WEIGHTS))), key=lambda one: one.off)
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
"""Growth between two calls: as billed, and as weighed."""


class _Fit(Struct, frozen=True):
    """Fit of one of `ANSWER_WEIGHTS` (index `way`) to the usage; `off` is the sum of the differences in tokens.

    `steps[i]` lies between calls i and i + 1; (0, 0) if it is ignored. `total` and `number` are the sum and count of
    the others.
    """

    way: int
    steps: Sequence[Step]
    total: Step
    number: int
    off: float

    def scale(self, index: int) -> float:
        """Return the scale without the steps that begin or end at call `index`."""
        (billed, weight), number = self.total, self.number
        for less, heavy in self.steps[max(0, index - 1) : index + 1]:
            billed, weight, number = billed - less, weight - heavy, number - (heavy > 0)
        return _scale(billed, weight, number)


def _fit_weights(calls: Sequence[_BilledCall], way: int) -> _Fit:
    steps = [
        (float(after.billed - call.billed), after.weights[way] - call.weights[way]) for call, after in pairwise(calls)
    ]
    inside = [call.epoch == after.epoch for call, after in pairwise(calls)]
    grown = [step if within and min(step) > 0 else (0.0, 0.0) for step, within in zip(steps, inside, strict=True)]
    middle = _weighted_median([(billed / weight, weight) for billed, weight in grown if weight])
    used = [step if _is_near(*step, middle) else (0.0, 0.0) for step in grown]
    billed, weight, number = sum(b for b, _ in used), sum(w for _, w in used), sum(1 for _, w in used if w)
    scale = _scale(billed, weight, number)
    off = sum(min(MOST_OFF, abs(b - scale * w)) for (b, w), within in zip(steps, inside, strict=True) if within)
    return _Fit(way, used, (billed, weight), number, off)


def _weighted_median(ratios: list[tuple[float, float]]) -> float:
    """Return the weighted median of (ratio, weight) pairs; 1 without pairs. Sorts `ratios` in place."""
    ratios.sort()
    half = sum(weight for _, weight in ratios) / 2
    sums = accumulate(weight for _, weight in ratios)
    return next((ratio for (ratio, _), upto in zip(ratios, sums, strict=True) if upto >= half), 1.0)


def _is_near(billed: float, weight: float, scale: float) -> bool:
    return abs(billed - scale * weight) <= max(NEAR_TOKENS, NEAR_SHARE * scale * weight)


def _scale(billed: float, weight: float, number: int) -> float:
    """Return the ratio of billed to weighed tokens, from 0.5 to 2; drawn towards 1 if learnt from few steps."""
    ratio = min(2.0, max(0.5, billed / weight)) if number else 1.0
    return 1 + (ratio - 1) * number / (number + PRIOR_CALLS)


def _slack(call: _BilledCall, between: float, *, sure: bool) -> float:
    """Return the tolerated difference of a step of `between` tokens."""
    return SLACK_TOKENS + SLACK_OF_BILL * call.billed + (SLACK_OF_STEP if sure else SLACK_UNSURE) * abs(between)


# --- gaps


def _gaps(calls: Sequence[_BilledCall], expected: Sequence[int | None]) -> list[Gap]:
    """Return the gaps of one model's calls. A gap begins where the difference between billed and expected tokens
    changes by more than the slack since the epoch's previous call (since 0 at its first), or has drifted too far. It
    ends where the difference returns to its earlier value."""
    sure, caches = calls[0].known or len(calls) > PRIOR_CALLS, any(call.cached for call in calls)
    ends = {call.epoch: call.number for call in calls}
    found: list[Gap] = []
    open_gaps: list[tuple[int, int]] = []  # (index in `found`, difference before the gap)
    off = 0
    for index, call in enumerate(calls):
        before = calls[index - 1] if index and calls[index - 1].epoch == call.epoch else None
        if before is None:
            off, open_gaps = 0, []
        estimate = call.billed if (known := expected[index]) is None else known
        now = call.billed - estimate
        slack = _slack(call, estimate - (before.billed - off if before else 0), sure=sure)
        drift = now - sum(found[place].tokens for place, _ in open_gaps)
        tokens = 0
        where: GapPosition = ""
        if abs(now - off) > slack:
            back = next((at for at, (_, then) in enumerate(open_gaps) if abs(now - then) <= slack), None)
            if back is None:
                tokens, where = now - off, _gap_position(call, before, calls[0], now - off, caches=caches)
            else:
                for place, _ in open_gaps[back:]:
                    found[place] = replace(found[place], last=call.number - 1)
                del open_gaps[back:]
        elif sure and abs(drift) > SLACK_TOKENS + DRIFT * call.billed:
            tokens, where = drift, "drift"
        if tokens:
            open_gaps.append((len(found), now - tokens))
            found.append(Gap(call.number, ends[call.epoch], call.epoch, call.message, tokens, where))
        off = now
    return found


def _gap_position(
    call: _BilledCall, before: _BilledCall | None, first: _BilledCall, step: int, *, caches: bool
) -> GapPosition:
    if before is None:
        return "compacted" if step > 0 and call.epoch > first.epoch else ""
    if not caches:
        return ""
    if step > 0 and call.cached >= CACHED_PREFIX * before.billed:
        return "behind"
    return "anew" if call.cached < CACHED_OVERHEAD * (first.billed - first.weights[0]) else ""
