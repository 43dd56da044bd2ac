"""A session played from its start under a policy: when it would have been compacted, from what to what, at what cost.

Before each of the agent's answers, and where the model refused its prompt as too long, the strategy's own triggers are
read, those that a timer sets off before the message that comes after its time; where one fires, its own generator is
driven on the context as it is then, and the session goes on from what it leaves. The work is linear in the session's
length: the triggers are read from running sums, and a compaction costs what its context costs.

An attempt after which a trigger still fires (nothing could be compacted, it did not become smaller, or not small
enough) is repeated at the next call, as an agent would. Where that never ends it would be quadratic: such attempts may
look at `FUTILE` messages and `FUTILE_SHARE` times those played so far, then they wait for more of these.
"""

from __future__ import annotations

from array import array
from collections import Counter as Tally
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum  # the same in every Python: since 3.12 `sum` rounds otherwise

from msgspec import Struct

from workbench.analysis.cache import CacheLoss, Rates, cache_loss, rates_of
from workbench.analysis.course import Course
from workbench.analysis.retention import is_unreadable
from workbench.analysis.running import Running
from workbench.analysis.spent import spent
from workbench.analysis.watched_rules import RuleTrail, RuleWatcher
from workbench.compaction.agent_preset import preset_for_version
from workbench.compaction.context import Context, prompted
from workbench.compaction.outcome import Outcome, Status
from workbench.compaction.preset import Preset
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import Trigger
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.summarizer import PureSummarizer
from workbench.tokens.cost import MILLION
from workbench.tokens.window import Window

FUTILE, FUTILE_SHARE = 100_000, 1

OnOutcome = Callable[[Context, Outcome], None]


@dataclass(frozen=True, slots=True)
class Compacted:
    """One compaction of a replay, just before call number `call` (from 1) in round number `round` (from 1), or, by a
    timer, while the messages for that call were still to come. `message` is the id of the call's answer, of the last
    message before it where it was refused.

    `before` and `after` are tokens of the context, overhead included. `requests` is the number of the summarizer's
    calls, `request_tokens` and `summary_tokens` what it read and wrote in them, about. `summary_cost` and `cache_cost`
    are in the unit of the replay's rates; `pays_off_after` counts calls, None for never, and `calls_after` how many
    there were until the next compaction or the end.
    """

    call: int
    message: str
    round: int
    triggers: tuple[Trigger, ...]
    status: Status
    reason: str
    before: int
    after: int
    messages_before: int
    messages_after: int
    requests: int
    request_tokens: int
    summary_tokens: int
    cache: CacheLoss
    summary_cost: float
    cache_cost: float
    pays_off_after: int | None
    calls_after: int

    @property
    def pays_off_at(self) -> int | None:
        """The number of the call at which it has paid for itself; None if it never did before the next one."""
        after = self.pays_off_after
        return None if after is None or after >= self.calls_after else self.call + after


class Missed(Struct, frozen=True):
    """A trigger fired before call number `call` (from 1), answered by the message with the id `message`, and nothing
    came of it; the context has `before` tokens."""

    call: int
    message: str
    reason: str
    before: int


@dataclass(frozen=True)
class Replay:
    """What a policy makes of a session. `sent[k]` are the tokens that call k + 1 is sent; one entry per call.

    `full[k]` is what it would have been sent had nothing been compacted just then: the two differ where the saw drops.
    `compacted` and `missed` are in the order of the calls. `triggers` are as they stood at the last call. `window` is
    the model's limit in tokens, None where it is not known. `rates` say in which unit costs are: US dollars where the
    model's prices are known, else as many input tokens as would cost the same, in millions. `watched` says of each
    sentence that was asked for how it came through the compactions, which are named by their calls.
    """

    preset: Preset
    window: int | None
    sent: array[int]
    full: array[int]
    compacted: tuple[Compacted, ...]
    missed: tuple[Missed, ...]
    triggers: tuple[Trigger, ...]
    rates: Rates
    watched: tuple[RuleTrail, ...] = ()

    @property
    def name(self) -> str:
        return self.preset.name

    @cached_property
    def series(self) -> list[tuple[int, int]]:
        """The saw-tooth: (call from 1, tokens), two points where a compaction lies."""
        points: list[tuple[int, int]] = []
        for number, (full, sent) in enumerate(zip(self.full, self.sent, strict=True), 1):
            points += [(number, full), (number, sent)] if full != sent else [(number, sent)]
        return points

    @property
    def peak(self) -> int:
        """The largest prompt in tokens; 0 without a call."""
        return max(self.sent, default=0)

    @property
    def last(self) -> int:
        """The last prompt in tokens; 0 without a call."""
        return self.sent[-1] if self.sent else 0

    @cached_property
    def over_window(self) -> int:
        """How many calls would have been sent more than the window holds."""
        return 0 if self.window is None else sum(1 for tokens in self.sent if tokens > self.window)

    @property
    def rebilled(self) -> int:
        """Tokens that were in the cache and are billed as written again, over all compactions."""
        return sum(one.cache.rebilled for one in self.compacted)

    @property
    def mean_after(self) -> int | None:
        """Mean size of the context after a compaction, in tokens; None without one."""
        return round(sum(one.after for one in self.compacted) / len(self.compacted)) if self.compacted else None

    @cached_property
    def cost(self) -> float:
        """What all prompts and summaries cost, in the rates' unit: each prompt's unchanged beginning read from the
        cache, the rest written to it. The agent's own output is left out: it is the same whatever the policy."""
        first_changed: dict[int, int] = {}
        for one in self.compacted:
            first_changed[one.call] = min(one.cache.first_changed, first_changed.get(one.call, one.cache.first_changed))
        total, cached = 0.0, 0
        for number, sent in enumerate(self.sent, 1):
            read = min(first_changed.get(number, cached), cached, sent)
            total += self.rates.read * read + self.rates.write * (sent - read)
            cached = sent
        return (total / MILLION) + fsum(one.summary_cost for one in self.compacted)


def replay(
    course: Course,
    preset: Preset,
    limit: Window | None,
    answer: PureSummarizer | None = None,
    *,
    pins: Collection[str] = (),
    watched: Sequence[str] = (),
    on_outcome: OnOutcome | None = None,
) -> Replay:
    """Play `course` under a preset, the one of the session's own tool as the version did it that wrote the session,
    with the context window `limit`. `answer` writes the summaries, `writer(watched)` by default; `pins` are ids of
    messages that are pinned from when they come; `watched` are sentences that are judged at every compaction;
    `on_outcome` hears of each. Raises BadInput for a broken table of models."""
    preset = preset_for_version(preset, course.session)
    running = Running(course, strategy(preset.strategy), preset.policy, limit, pins)
    beside = prompted(course.session.system, course.session.memories)
    eyes = [RuleWatcher(sentence, course.layout.shape, beside) for sentence in watched]
    playing = _Playing(running, rates_of(course.session.model), answer or writer(watched), eyes, on_outcome)
    for index in course.calls:
        while running.stop < index:
            playing.idle(index)
            running.advance(running.stop + 1 if playing.timer_runs else index)
        playing.call(index)
    return playing.finished(preset)


def replays(
    course: Course,
    presets: Iterable[Preset],
    limit: Window | None,
    answer: PureSummarizer | None = None,
    watched: Sequence[str] = (),
) -> Iterator[Replay]:
    """One after the other, as they are done."""
    for preset in presets:
        yield replay(course, preset, limit, answer, watched=watched)


def writer(watched: Sequence[str]) -> PureSummarizer:
    """Who writes a replay's summaries unless somebody is named: filler of the likely length; where sentences are
    watched the session's own sentences, for nobody can say what stands in filler."""
    return extractive if watched else estimate


def without(course: Course, less: Mapping[int, tuple[int, int]]) -> array[int]:
    """`Course.plain` if message i had counted fewer tokens: `less[i]` is (how many fewer, from which message on)."""
    drops: Tally[int] = Tally()
    for tokens, since in less.values():
        drops[since] += tokens
    out, gone, places = array("q"), 0, iter(sorted(drops))
    place = next(places, None)
    for index, plain in zip(course.calls, course.plain, strict=True):
        while place is not None and place <= index:
            gone += drops[place]
            place = next(places, None)
        out.append(plain - gone)
    return out


def _untimed(triggers: Iterable[Trigger]) -> tuple[Trigger, ...]:
    """Those that fire at a call."""
    return tuple([one for one in triggers if one.fires and not one.timed])


class _Playing:
    def __init__(
        self,
        running: Running,
        rates: Rates,
        answer: PureSummarizer,
        eyes: Sequence[RuleWatcher],
        on_outcome: OnOutcome | None,
    ) -> None:
        self.running, self.rates, self.answer, self.eyes, self.on_outcome = running, rates, answer, eyes, on_outcome
        self.sent, self.full = array("q"), array("q")
        self.compacted: list[Compacted] = []
        self.missed: list[Missed] = []
        self.triggers: tuple[Trigger, ...] = ()
        self._futile, self._looked_at = False, 0
        self.timer_runs = False
        self._gone = 0
        """Tokens that a timer's compaction has taken from the next call."""

    def idle(self, index: int) -> None:
        """Before the next of the messages that lead to the call at `index`: had a timer gone off by then?"""
        running = self.running
        coming = running.course.messages[running.stop]
        if not self.timer_runs or running.stop == 0 or (coming.role == "assistant" and coming.kind == "normal"):
            return
        found = running.strategy.triggers(running.gauge(coming.time), running.policy)
        if fired := tuple(one for one in found if one.timed and one.fires):
            self.timer_runs = False
            size = running.tokens
            self._compact(index, size, found, fired, coming.time)
            self._gone += size - running.tokens

    def call(self, index: int) -> None:
        """The model is about to be called with the course's messages before `index`."""
        running = self.running
        now = running.gauge()
        self.triggers = running.strategy.triggers(now, running.policy)
        size = sent = now.tokens
        if fired := _untimed(self.triggers):
            self._compact(index, size, self.triggers, fired)
            sent = running.tokens
        self.full.append(size + self._gone)
        self.sent.append(sent)
        self._gone = 0
        self.timer_runs = any(trigger.timed for trigger in self.triggers)

    def _compact(
        self, index: int, size: int, read: tuple[Trigger, ...], fired: tuple[Trigger, ...], at: float | None = None
    ) -> None:
        running = self.running
        if self._futile and self._looked_at > FUTILE + FUTILE_SHARE * running.stop:
            return
        context = running.context(at)
        run = drive(running.strategy.run(context, running.policy, read), self.answer)
        outcome, number, message = run.outcome, len(self.full) + 1, running.course.message_of(index).id
        if outcome.status in ("unchanged", "not_smaller"):
            self.missed.append(Missed(number, message, outcome.reason, size))
            self._futile, self._looked_at = True, self._looked_at + len(context)
            return
        if self.on_outcome is not None:
            self.on_outcome(context, outcome)
        after = context.from_outcome(outcome)
        filler = self.answer is estimate and outcome.summarizes
        for eye in self.eyes:
            eye.compact(
                number, running.stop, after.messages, after.system_text(), unread=filler or is_unreadable(outcome)
            )
        running.replaced(after)
        self._futile = bool(_untimed(running.strategy.triggers(running.gauge(), running.policy)))
        self._looked_at += len(context) if self._futile else 0
        self.compacted.append(self._told(index, size, fired, context, after, run))

    def _told(
        self, index: int, size: int, fired: tuple[Trigger, ...], context: Context, after: Context, run: Run
    ) -> Compacted:
        course, rates = self.running.course, self.rates
        fresh = max(0, size - self.sent[-1]) if self.sent else size
        loss, summaries = cache_loss(context, run.outcome), spent(context, run, fresh)
        summary = summaries.cost(rates)
        return Compacted(
            call=len(self.full) + 1,
            message=course.message_of(index).id,
            round=course.round_of(index),
            triggers=fired,
            status=run.outcome.status,
            reason=run.outcome.reason,
            before=loss.before,
            after=loss.after,
            messages_before=len(context),
            messages_after=len(after),
            requests=summaries.calls,
            request_tokens=summaries.read,
            summary_tokens=summaries.written,
            cache=loss,
            summary_cost=summary,
            cache_cost=loss.extra(fresh, rates) / MILLION,
            pays_off_after=loss.pays_off_after(fresh, rates, summary * MILLION),
            calls_after=0,
        )

    def finished(self, preset: Preset) -> Replay:
        ends = [*(one.call for one in self.compacted[1:]), len(self.full) + 1]
        compacted = (replace(one, calls_after=end - one.call) for one, end in zip(self.compacted, ends, strict=False))
        return Replay(
            preset,
            self.running.limit.tokens if self.running.limit else None,
            self.sent,
            self.full,
            tuple(compacted),
            tuple(self.missed),
            self.triggers,
            self.rates,
            tuple(eye.trail() for eye in self.eyes),
        )
