"""Replay a session under a policy: times, sizes and costs of the compactions that it would have had.

The strategy's triggers are read before each of the agent's answers and each request that the API rejected as too long;
timed triggers before the first message after their time. If one fires, the strategy compacts the context, and the
session continues from the result. Work is linear in the session's length: triggers are read from running sums, and a
compaction is linear in its context.

If a trigger still fires after an attempt (nothing to compact, not smaller, or not small enough), the attempt is
repeated at the next call, as an agent would. To stay linear, such attempts together read at most `FUTILE_MESSAGES` plus
`FUTILE_SHARE` times the messages replayed so far; then they wait for more messages.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum  # the same in every Python: since 3.12 `sum` rounds differently

from msgspec import Struct

from workbench.analysis.compaction_cost import CacheLoss, cache_loss, summary_usage
from workbench.analysis.course import Course
from workbench.analysis.retention import is_unreadable
from workbench.analysis.running_context import RunningContext
from workbench.analysis.watched_rules import RuleTrail, RuleWatcher
from workbench.compaction.context import Context, prompted
from workbench.compaction.outcome import Outcome, Status
from workbench.compaction.preset import Preset, preset_for_version
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import Trigger
from workbench.summarizers.driver import Run, drive
from workbench.summarizers.estimate import estimate
from workbench.summarizers.extractive import extractive
from workbench.summarizers.summarizer import PureSummarizer
from workbench.tokens.cost import MILLION, Rates, rates_of
from workbench.tokens.window import Window

FUTILE_MESSAGES, FUTILE_SHARE = 100_000, 1

OnOutcome = Callable[[Context, Outcome], None]


@dataclass(frozen=True, slots=True)
class ReplayedCompaction:
    """Compaction of a replay, just before call number `call` (from 1) in round `round` (from 1), or by a timer while
    the messages for that call were arriving. `message` is the id of the call's answer, or of the last message before a
    rejected call.

    `before` and `after` are tokens of the context, overhead included. `requests` is the number of summarizer calls,
    `request_tokens` and `summary_tokens` their approximate input and output. `summary_cost` and `cache_cost` are in the
    unit of the replay's rates; `pays_off_after` counts calls, None for never; `calls_after` are the calls until the
    next compaction or the end.
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
        """Number of the call at which the compaction has paid for itself; None if not before the next compaction."""
        after = self.pays_off_after
        return None if after is None or after >= self.calls_after else self.call + after


class MissedCompaction(Struct, frozen=True):
    """Attempt to compact before call number `call` (from 1) that changed nothing, for `reason`. `message` is the id of
    the call's answer, or of the last message before a rejected call; `before` is the size of the context in tokens."""

    call: int
    message: str
    reason: str
    before: int


@dataclass(frozen=True)
class Replay:
    """Replay of a session under one policy. `sent[k]` are the tokens that call k + 1 is sent.

    `full[k]` is the size without a compaction just before that call; the two differ only where one took place.
    `compacted` and `missed` are in call order. `triggers` are read at the last call. `window` is the model's limit in
    tokens, None if unknown. `rates` name the unit of costs: US dollars if prices are known, else equivalent million
    input tokens. `watched` has the trail of each watched rule, compactions named by their calls.
    """

    preset: Preset
    window: int | None
    sent: array[int]
    full: array[int]
    compacted: tuple[ReplayedCompaction, ...]
    missed: tuple[MissedCompaction, ...]
    triggers: tuple[Trigger, ...]
    rates: Rates
    watched: tuple[RuleTrail, ...] = ()

    @property
    def name(self) -> str:
        """Name of the preset."""
        return self.preset.name

    @cached_property
    def series(self) -> list[tuple[int, int]]:
        """The saw-tooth as (call from 1, tokens), with two points at a compaction."""
        points: list[tuple[int, int]] = []
        for number, (full, sent) in enumerate(zip(self.full, self.sent, strict=True), 1):
            points += [(number, full), (number, sent)] if full != sent else [(number, sent)]
        return points

    @property
    def peak(self) -> int:
        """Largest prompt in tokens; 0 without a call."""
        return max(self.sent, default=0)

    @property
    def last(self) -> int:
        """Last prompt in tokens; 0 without a call."""
        return self.sent[-1] if self.sent else 0

    @cached_property
    def over_window(self) -> int:
        """Number of calls larger than the window."""
        return 0 if self.window is None else sum(1 for tokens in self.sent if tokens > self.window)

    @property
    def rebilled(self) -> int:
        """Tokens after the first change of each compacted context, which are billed as cache writes; summed."""
        return sum(one.cache.rebilled for one in self.compacted)

    @property
    def mean_after(self) -> int | None:
        """Mean size of the context after a compaction, in tokens; None without one."""
        return round(sum(one.after for one in self.compacted) / len(self.compacted)) if self.compacted else None

    @cached_property
    def cost(self) -> float:
        """Cost of all prompts and summaries in the rates' unit. Unchanged prefixes are read from the cache, the rest is
        written. The agent's output is left out, because it is the same under any policy."""
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
    """Replay `course` under a preset (as of the version that wrote the session, if it is the agent's own) with context
    window `limit`. `answer` writes the summaries, `default_summarizer(watched)` by default; `pins` are ids pinned from
    their arrival; `watched` rules are judged at every compaction; `on_outcome` is called with the context and outcome
    of each. Raises BadInput for a broken table of models."""
    preset = preset_for_version(preset, course.session)
    running = RunningContext(course, strategy(preset.strategy), preset.policy, limit, pins)
    system = prompted(course.session.system, course.session.memories)
    watchers = [RuleWatcher(sentence, course.layout.shape, system) for sentence in watched]
    replayer = _Replayer(
        running, rates_of(course.session.model), answer or default_summarizer(watched), watchers, on_outcome
    )
    for index in course.calls:
        while running.stop < index:
            replayer.check_timer(index)
            running.advance(running.stop + 1 if replayer.timer_runs else index)
        replayer.call(index)
    return replayer.result(preset)


def replays(
    course: Course,
    presets: Iterable[Preset],
    limit: Window | None,
    answer: PureSummarizer | None = None,
    watched: Sequence[str] = (),
) -> Iterator[Replay]:
    """Yield the replays of several presets as they finish."""
    for preset in presets:
        yield replay(course, preset, limit, answer, watched=watched)


def default_summarizer(watched: Sequence[str]) -> PureSummarizer:
    """Return the summarizer of a replay: filler of the likely length, or, if rules are watched, sentences of the
    session, because filler keeps no rule."""
    return extractive if watched else estimate


def _untimed(triggers: Iterable[Trigger]) -> tuple[Trigger, ...]:
    """Return the triggers that fire at a call."""
    return tuple([one for one in triggers if one.fires and not one.timed])


class _Replayer:
    """State of a replay: the running context, and the compactions so far."""

    def __init__(
        self,
        running: RunningContext,
        rates: Rates,
        answer: PureSummarizer,
        watchers: Sequence[RuleWatcher],
        on_outcome: OnOutcome | None,
    ) -> None:
        self.running, self.rates, self.answer, self.watchers, self.on_outcome = (
            running,
            rates,
            answer,
            watchers,
            on_outcome,
        )
        self.sent, self.full = array("q"), array("q")
        self.compacted: list[ReplayedCompaction] = []
        self.missed: list[MissedCompaction] = []
        self.triggers: tuple[Trigger, ...] = ()
        self._futile, self._futile_messages = False, 0
        self.timer_runs = False
        self._saved_by_timer = 0
        """Tokens that a timer's compaction saved before the next call."""

    def check_timer(self, index: int) -> None:
        """Compact if a timer fires before the next message that leads to the call at `index`."""
        running = self.running
        coming = running.course.messages[running.stop]
        if not self.timer_runs or running.stop == 0 or (coming.role == "assistant" and coming.kind == "normal"):
            return
        found = running.strategy.triggers(running.gauge(coming.time), running.policy)
        if fired := tuple(one for one in found if one.timed and one.fires):
            self.timer_runs = False
            size = running.tokens
            self._compact(index, size, found, fired, coming.time)
            self._saved_by_timer += size - running.tokens

    def call(self, index: int) -> None:
        """Read the triggers before the call at `index`, and compact if one fires."""
        running = self.running
        now = running.gauge()
        self.triggers = running.strategy.triggers(now, running.policy)
        size = sent = now.tokens
        if fired := _untimed(self.triggers):
            self._compact(index, size, self.triggers, fired)
            sent = running.tokens
        self.full.append(size + self._saved_by_timer)
        self.sent.append(sent)
        self._saved_by_timer = 0
        self.timer_runs = any(trigger.timed for trigger in self.triggers)

    def _compact(
        self, index: int, size: int, read: tuple[Trigger, ...], fired: tuple[Trigger, ...], at: float | None = None
    ) -> None:
        running = self.running
        if self._futile and self._futile_messages > FUTILE_MESSAGES + FUTILE_SHARE * running.stop:
            return
        context = running.context(at)
        run = drive(running.strategy.run(context, running.policy, read), self.answer)
        outcome, number, message = run.outcome, len(self.full) + 1, running.course.message_of(index).id
        if outcome.status in ("unchanged", "not_smaller"):
            self.missed.append(MissedCompaction(number, message, outcome.reason, size))
            self._futile, self._futile_messages = True, self._futile_messages + len(context)
            return
        if self.on_outcome is not None:
            self.on_outcome(context, outcome)
        after = context.from_outcome(outcome)
        filler = self.answer is estimate and outcome.summarizes
        for watcher in self.watchers:
            watcher.compact(
                number, running.stop, after.messages, after.system_text(), unread=filler or is_unreadable(outcome)
            )
        running.replace_base(after)
        self._futile = bool(_untimed(running.strategy.triggers(running.gauge(), running.policy)))
        self._futile_messages += len(context) if self._futile else 0
        self.compacted.append(self._compaction_of(index, size, fired, context, after, run))

    def _compaction_of(
        self, index: int, size: int, fired: tuple[Trigger, ...], context: Context, after: Context, run: Run
    ) -> ReplayedCompaction:
        course, rates = self.running.course, self.rates
        fresh = max(0, size - self.sent[-1]) if self.sent else size
        loss, summaries = cache_loss(context, run.outcome), summary_usage(context, run, fresh)
        summary = summaries.cost(rates)
        return ReplayedCompaction(
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

    def result(self, preset: Preset) -> Replay:
        """Return the replay after the last call."""
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
            tuple(watcher.trail() for watcher in self.watchers),
        )
