"""Sizes of a session over its calls: its growth as recorded, and its course as if nothing had been compacted.

Growth has a point per call, over all epochs; bench, `why`, replays and the report draw these points.

A course has every message of the epochs once, in the order in which the model first saw it, as a replay uses them.
Summaries and copies made by recorded compactions are left out, because a replay makes its own. The agent's answers are
assumed to be the same whatever the context, because others cannot be known.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate

from msgspec import Struct

from workbench.compaction.context import Layout
from workbench.compaction.shape import SUMMARY_MARKER, Shape
from workbench.session import Message, Session
from workbench.tokens import Basis, Counter, Scale, Sizes, billed_beyond, session_sizes
from workbench.tokens.fitting import calls_of


class Point(Struct, frozen=True):
    """Context of one API call.

    `message` is the answer's index in `Session.messages`; `tokens` the billed prompt (exact), or an estimate from the
    messages and the nearest usage. `compacted`: a recorded compaction lies just before.
    """

    message: int
    epoch: int
    tokens: int
    basis: Basis
    compacted: bool


def growth(session: Session, counter: Counter, scale: Scale | None = None) -> tuple[Point, ...]:
    """Return one point per answer, epoch by epoch. An answer in two epochs counts in the first; copies made by a
    compaction do not count.

    Recorded usage is exact. Without it a point is the sum of the messages before the answer, as `counter` sizes them,
    and the tokens that the nearest usage shows beyond them (the overhead if the epoch has no usage).
    """
    points: list[Point] = []
    seen: set[int] = set()
    for epoch in session.epochs:
        messages = session.context(epoch.number)
        seen |= epoch.copies
        fresh = [
            index
            for index, (member, message) in enumerate(zip(epoch.members, messages, strict=True))
            if message.role == "assistant" and message.kind == "normal" and member not in seen
        ]
        usage = {call.index: call.context for call in calls_of(messages, session.model)}
        prompts: Sequence[int] = ()
        if any(index not in usage for index in fresh):  # measure nothing if every answer has usage
            prompts = _prompts(messages, session.model, session_sizes(session, epoch.number, counter, scale))
        for index in fresh:
            billed = usage.get(index)
            tokens, basis = (prompts[index], Basis.ESTIMATE) if billed is None else (billed, Basis.EXACT)
            points.append(
                Point(epoch.members[index], epoch.number, tokens, basis, epoch.number > 1 and index == fresh[0])
            )
        seen.update(epoch.members)
    return tuple(points)


def growth_messages(session: Session) -> tuple[Message, ...]:
    """Return the messages that must be counted for `growth`: those of epochs with an answer without usage."""
    found: dict[int, Message] = {}
    for epoch in session.epochs:
        messages = session.context(epoch.number)
        billed = {call.index for call in calls_of(messages, session.model)}
        answers = (
            index
            for index, (member, message) in enumerate(zip(epoch.members, messages, strict=True))
            if message.role == "assistant" and message.kind == "normal" and member not in epoch.copies
        )
        if any(index not in billed for index in answers):
            found.update(zip(epoch.members, messages, strict=True))
    return tuple(found.values())


def _prompts(messages: Sequence[Message], model: str | None, sizes: Sizes) -> array[int]:
    """Return the tokens sent before each message."""
    before = accumulate(sizes.tokens, initial=0)
    beyond = billed_beyond(messages, model, sizes)
    return array("q", (tokens + more for tokens, more in zip(before, beyond, strict=False)))


class CourseTokens(Struct, frozen=True):
    """Tokens of a course's messages. `beyond[i]` are the tokens billed beyond the messages before i (system prompt,
    tools, unrecorded text), by the nearest usage up to i. `settled[i]` is the part of it that remains after a
    compaction: at most the overhead of i's epoch, at least 0."""

    sizes: Sizes
    beyond: array[int]
    settled: array[int]


@dataclass(frozen=True)
class Course:
    """Messages of one or more epochs in one sequence.

    `members[i]` is the index of message i in `Session.messages`; `starts[k]` the first message of the k-th epoch, whose
    number is `numbers[k]`. `recorded` is the number of messages of the first epoch: up to there, recorded usage is that
    of the course. `measure` computes `figures` on first use.
    """

    session: Session
    messages: tuple[Message, ...]
    members: array[int]
    numbers: tuple[int, ...]
    starts: tuple[int, ...]
    recorded: int
    counter: Counter
    measure: Callable[[], CourseTokens]
    scale: Scale | None = None

    @cached_property
    def figures(self) -> CourseTokens:
        """Token figures, computed once."""
        return self.measure()

    @cached_property
    def sizes(self) -> Sizes:
        """Sizes of the messages."""
        return self.figures.sizes

    @cached_property
    def beyond(self) -> array[int]:
        """See `CourseTokens.beyond`."""
        return self.figures.beyond

    @cached_property
    def settled(self) -> array[int]:
        """See `CourseTokens.settled`."""
        return self.figures.settled

    @cached_property
    def layout(self) -> Layout:
        """Layout of all messages."""
        return Layout(Shape(self.messages), self.sizes)

    @cached_property
    def answers(self) -> array[int]:
        """Indexes of the agent's answers, without copies that a compaction made."""
        copies = frozenset[int]().union(*(epoch.copies for epoch in self.session.epochs))
        answers = (i for i, message in enumerate(self.messages) if message.role == "assistant")
        return array("q", [i for i in answers if self.messages[i].kind == "normal" and self.members[i] not in copies])

    @cached_property
    def refused(self) -> tuple[int, ...]:
        """Indexes of the messages before which the API rejected a request as too long; `len(messages)` for a rejection
        after the last message. Rejections without a time are left out."""
        if not self.session.facts.overflow_errors:
            return ()
        timed = [(message.time, i) for i, message in enumerate(self.messages) if message.time is not None]
        errors = (error.time for error in self.session.facts.overflow_errors if error.time is not None)
        after = [bisect_right(timed, (error, len(self.messages))) for error in errors]
        places = [*(i for _, i in timed), len(self.messages)]
        return tuple(sorted({places[at] for at in after if at}))

    @cached_property
    def calls(self) -> array[int]:
        """Indexes of the messages before which the model was called: answers and rejected requests."""
        return array("q", sorted({*self.answers, *self.refused}))

    def message_of(self, call: int) -> Message:
        """Return the answer to `call`, an item of `calls`; the last sent message if the API rejected it."""
        at = bisect_left(self.answers, call)
        return self.messages[call if call in self.answers[at : at + 1] else call - 1]

    def round_of(self, call: int) -> int:
        """Return the round of `call`, an item of `calls`, from 1; 0 before the first round."""
        return self.round_numbers[call - 1] if call else 0

    @cached_property
    def turns(self) -> array[int]:
        """Indexes of the agent's answers and the user's own messages."""
        numbered = enumerate(self.messages)
        return array("q", [i for i, one in numbered if one.kind == "normal" and one.role in ("assistant", "user")])

    @cached_property
    def events(self) -> array[int]:
        """Number of blocks before each message; the last item is the number of all blocks."""
        return array("q", accumulate((len(message.blocks) for message in self.messages), initial=0))

    @cached_property
    def marked(self) -> frozenset[int]:
        """Indexes of answers that ask for a summary by `SUMMARY_MARKER`."""
        answers = (i for i in self.turns if self.messages[i].role == "assistant")
        return frozenset(i for i in answers if SUMMARY_MARKER in self.messages[i].text)

    @cached_property
    def round_numbers(self) -> array[int]:
        """Round of each message, from 1; 0 before the first round."""
        numbers, number, answered = array("q"), 0, True
        for message in self.messages:
            if message.role == "assistant" and message.kind == "normal":
                answered = True
            elif message.starts_round and answered:
                number, answered = number + 1, False
            numbers.append(number)
        return numbers

    @cached_property
    def plain(self) -> array[int]:
        """Tokens at each call if nothing were ever compacted; exact at recorded usage of the first epoch."""
        tokens, beyond = self.layout.tokens, self.beyond
        last = len(self.messages) - 1
        return array("q", [tokens[index] + beyond[min(index, last)] for index in self.calls])

    @cached_property
    def growth(self) -> tuple[Point, ...]:
        """Recorded growth of the whole session."""
        return growth(self.session, self.counter, self.scale)

    @cached_property
    def recorded_at(self) -> dict[int, Point]:
        """Points of the growth by the number of their call, from 1."""
        calls = {index: call for call, index in enumerate(self.calls, 1)}
        number = {self.members[index]: calls[index] for index in self.answers}
        return {number[point.message]: point for point in self.growth if point.message in number}

    @cached_property
    def recorded_line(self) -> list[tuple[int, int]]:
        """The growth as (call, tokens)."""
        return [(call, point.tokens) for call, point in self.recorded_at.items()]

    @cached_property
    def growth_in(self) -> dict[int, list[Point]]:
        """The growth by epoch number."""
        found: dict[int, list[Point]] = {}
        for point in self.growth:
            found.setdefault(point.epoch, []).append(point)
        return found


def course_of(session: Session, counter: Counter, *, first: int = 1, scale: Scale | None = None) -> Course:
    """Return the course from epoch `first` to the end. Its figures are computed now, from the counts that `counter` has
    and the `scale` of an exact count, if any. Each message is sized in its own epoch, by the usage recorded in it.
    Raises ValueError if there is no such epoch."""
    course = lazy_course(session, counter, first=first, scale=scale)
    _ = course.figures
    return course


def lazy_course(session: Session, counter: Counter, *, first: int = 1, scale: Scale | None = None) -> Course:
    """Return the course with figures computed on first use, because most sessions need none. Raises ValueError like
    `course_of`."""
    numbers: list[int] = []
    places: list[array[int]] = []
    members, starts = array("q"), array("q")
    seen: set[int] = set()
    for epoch in session.epochs[first - 1 :]:
        here = array("q")
        for index, member in enumerate(epoch.members):
            if member in seen or (numbers and (member in epoch.copies or session.messages[member].kind == "summary")):
                continue
            seen.add(member)
            here.append(index)
        numbers.append(epoch.number)
        starts.append(len(members))
        members.extend(epoch.members[index] for index in here)
        places.append(here)
    if not numbers:
        raise ValueError(f"no epoch {first}")
    recorded = next((len(here) for here in places if here), 0)
    kept = tuple(session.messages[member] for member in members)
    measure = partial(_measure_course, session, counter, scale, tuple(zip(numbers, places, strict=True)))
    return Course(session, kept, members, tuple(numbers), tuple(starts), recorded, counter, measure, scale)


def _measure_course(
    session: Session, counter: Counter, scale: Scale | None, shown: Sequence[tuple[int, Sequence[int]]]
) -> CourseTokens:
    """Return the figures of the course's messages; `shown` has each epoch's number with the indexes of its messages."""
    tokens, beyond, settled = array("q"), array("q"), array("q")
    bases: list[Basis] = []
    for number, places in shown:
        messages = session.context(number)
        sizes = session_sizes(session, number, counter, scale)
        offsets = billed_beyond(messages, session.model, sizes)
        for index in places:
            tokens.append(sizes.tokens[index])
            bases.append(sizes.basis_of(index))
            beyond.append(offsets[index])
            settled.append(min(max(offsets[index], 0), sizes.overhead))
    basis = bases[0] if len(set(bases)) == 1 else tuple(bases) if bases else sizes.basis
    return CourseTokens(Sizes(tokens, basis, sizes.overhead, sizes.overhead_basis, 0, sizes.meter), beyond, settled)


def course_messages(session: Session) -> tuple[Message, ...]:
    """Return the messages that must be counted for a course of the whole session."""
    members = dict.fromkeys(member for epoch in session.epochs for member in epoch.members)
    return tuple(session.messages[member] for member in members)


def sizes_without(course: Course, less: Mapping[int, tuple[int, int]]) -> array[int]:
    """Return `Course.plain` if message i had fewer tokens: `less[i]` is (tokens fewer, from which message on)."""
    drops: defaultdict[int, int] = defaultdict(int)
    for tokens, since in less.values():
        drops[since] += tokens
    out, saved, places = array("q"), 0, iter(sorted(drops))
    place = next(places, None)
    for index, plain in zip(course.calls, course.plain, strict=True):
        while place is not None and place <= index:
            saved += drops[place]
            place = next(places, None)
        out.append(plain - saved)
    return out
