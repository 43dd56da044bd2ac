"""Context of a replay: it grows message by message, and its gauge is kept as running sums.

`Strategy.gauge` reads a complete context: before each call of a replay, that takes quadratic time. The sums here give
the same figures, the strategy's own meters included, in linear time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection
from typing import Any

from workbench.analysis.course import Course
from workbench.compaction.context import Context, Gauge, Layout, RunningMeter, add_messages, cache_age_ms
from workbench.compaction.opening import api_of, transcript_of
from workbench.compaction.shape import Shape
from workbench.compaction.stored_history import first_context_of, stored_history_of
from workbench.compaction.strategy import Strategy
from workbench.session import Message, leading_system
from workbench.tokens.sizes import Basis, Sizes
from workbench.tokens.window import Window


class RunningContext:
    """Context to which the messages of a course are added, and which a compaction may replace.

    It consists of `base`, the context after the last compaction (at first empty), and the messages `[start, stop)` of
    the course. `limit`: context window, None if unknown. `pins`: ids of messages that are pinned once they are in the
    context. `compacted`: True after the first `replace_base`.
    """

    def __init__(
        self,
        course: Course,
        strategy: Strategy[Any],
        policy: Any,
        limit: Window | None,
        pins: Collection[str] = (),
    ) -> None:
        self.course, self.strategy, self.policy, self.limit, self.pins = course, strategy, policy, limit, pins
        self.start = self.stop = 0
        self.compacted = self.marker = False
        session = course.session
        sizes = Sizes(array("q"), Basis.CALIBRATED, course.sizes.overhead, Basis.CALIBRATED, 0, course.sizes.meter)
        self.base = Context(
            Layout(Shape(()), sizes),
            manual=False,
            limit=limit,
            model=session.model,
            system=session.system,
            tools=session.tools,
            memories=session.memories,
            transcript=transcript_of(session),
            summary_versions=session.facts.summary_versions,
            api=api_of(session),
            stored_history=stored_history_of(session, course.numbers[0]),
            first_context=first_context_of(session, course.numbers[0]),
        )
        self._restart(self.base)

    def _restart(self, context: Context) -> None:
        """Compute the sums of a complete context."""
        layout = context.layout
        rounds = layout.shape.rounds
        self.messages, self.events = len(context), layout.shape.events
        self.lead = leading_system(context.messages)
        self.answered = not len(rounds.current_input)
        self.rounds = len(rounds.rounds) + (not self.answered)
        start, stop = rounds.current_input.start, rounds.current_input.stop
        self.open_tokens = layout.tokens[stop] - layout.tokens[start]
        self.open_chars = layout.shape.chars[stop] - layout.shape.chars[start]
        # Only an answer of the session can hold `SUMMARY_MARKER`: a compaction can remove it, but not add it.
        self.marker = self.marker and layout.shape.marker is not None
        self.newest: Message | None = context.messages[-1] if len(context) else None
        self.answer = layout.shape.newest_answer
        self.usage: int | None = layout.last_usage
        self.usage_at = layout.sizes.anchored_until
        self.memory_lines = len(context.memory_lines)
        self.base_tokens, self.base_api_chars = layout.tokens[-1], layout.shape.api_chars[-1]
        self.meters: dict[str, RunningMeter] = {
            name: start(context, self.policy) for name, start in self.strategy.meters.items()
        }
        add_messages(self.meters.values(), layout, 0, self.messages)

    def advance(self, stop: int) -> None:
        """Add the course's messages from `self.stop` to before `stop`."""
        course, start = self.course, self.stop
        messages, open_since = course.messages, start
        if self.meters:
            add_messages(self.meters.values(), course.layout, start, stop)
        if self.lead == self.messages:
            self.lead += leading_system(messages[start:stop])
        for index in course.turns[bisect_left(course.turns, start) : bisect_left(course.turns, stop)]:
            message = messages[index]
            if message.role == "assistant":
                self.answered, self.answer = True, message
                self.marker = self.marker or index in course.marked
                if message.usage is not None and message.bill and index:
                    self.usage, self.usage_at = message.bill + message.usage.output, index
            elif self.answered:
                self.rounds += 1
                self.answered = False
                self.open_tokens, self.open_chars, open_since = 0, 0, index
        if not self.answered:
            tokens, chars = course.layout.tokens, course.layout.shape.chars
            self.open_tokens += tokens[stop] - tokens[open_since]
            self.open_chars += chars[stop] - chars[open_since]
        if start < stop:
            self.newest = messages[stop - 1]
        self.messages += stop - start
        self.events += course.events[stop] - course.events[start]
        self.stop = stop

    @property
    def is_recorded(self) -> bool:
        """True while this equals the recorded context of the first epoch: recorded usage and errors apply to it."""
        return not self.compacted and self.stop <= self.course.recorded

    @property
    def overhead(self) -> int:
        """Tokens sent with the next call besides the messages: system + tools, and text that is not recorded."""
        course = self.course
        if not course.messages:
            return course.sizes.overhead
        at = min(self.stop, len(course.messages) - 1)
        return course.settled[at] if self.compacted else course.beyond[at]

    @property
    def tokens(self) -> int:
        """Tokens of the next call's prompt, overhead included."""
        tokens = self.course.layout.tokens
        return self.base_tokens + tokens[self.stop] - tokens[self.start] + self.overhead

    def gauge(self, at: float | None = None) -> Gauge:
        """Return the figures that the strategy's gauge has for `context(at)`, from the sums. `at`: seconds since the
        epoch, None for the time of the newest message."""
        api, waits = self.course.layout.shape.api_chars, not self.answered
        return Gauge(
            messages=self.messages,
            lead=self.lead,
            rounds=self.rounds - waits,
            events=self.events,
            chars=self.base_api_chars + api[self.stop] - api[self.start],
            tokens=self.tokens,
            last_usage=self.usage if self.is_recorded else None,
            input_tokens=self.open_tokens if waits else 0,
            input_chars=self.open_chars if waits else 0,
            limit=self.limit,
            marker_seen=self.marker,
            overflow_error_seen=self._overflowed(),
            cache_age_ms=cache_age_ms(self.answer, self.newest, at),
            memory_lines=self.memory_lines,
            meters={name: meter.value for name, meter in self.meters.items()} if self.meters else {},
        )

    def context(self, at: float | None = None) -> Context:
        """Build the context for a strategy, in O(messages). `at`: its time in seconds since 1970, or None."""
        course, base = self.course, self.base
        overhead, basis = self.overhead, course.sizes.overhead_basis
        tokens = base.layout.sizes.tokens + course.sizes.tokens[self.start : self.stop]
        anchored = self.usage_at if self.is_recorded else 0
        sizes = Sizes(tokens, base.layout.sizes.meter.basis, overhead, basis, anchored, course.sizes.meter)
        layout = Layout(base.shape.followed_by(course.layout.shape, self.start, self.stop), sizes)
        if self.compacted:
            layout.billed = {}  # recorded usage is of another context
        here = frozenset(id for id in self.pins if id in layout.shape.index_of)
        return base.with_(layout=layout, at=at, pins=here, overflow_error_seen=self._overflowed())

    def replace_base(self, after: Context) -> None:
        """Replace all messages so far by `after`, the context after a compaction."""
        self.base, self.start, self.compacted = after, self.stop, True
        self._restart(after)

    def _overflowed(self) -> bool:
        """True if the API has rejected the recorded context up to here; False once this context differs from it."""
        return self.is_recorded and self.stop >= min(self.course.refused, default=self.stop + 1)
