"""A session as it happened, from its start to its end, as one line of messages with figures: what a replay plays.

Every message of the epochs stands here once, in the order in which the model first saw it; the summaries that recorded
compactions left, and the copies they made, do not, for a replay makes its own. What the agent answered is taken to be
the same whatever the context would have been: nobody can know what it would have said instead.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate

from msgspec import Struct

from workbench.analysis.growth import Point, growth
from workbench.compaction.layout import Layout
from workbench.compaction.shape import SUMMARY_MARKER, Shape
from workbench.session import Message, Session
from workbench.tokens import Counter, Scale, Sizes, billed_beyond, session_sizes
from workbench.tokens.sizes import Basis


class Figures(Struct, frozen=True):
    """Tokens of a course's messages. `beyond[i]` are those that the provider billed beyond the messages before i
    (system prompt, tools, what no file records) as the nearest bill up to i says; `settled[i]` the overhead of i's
    epoch where that is less, which is what still stands after a compaction."""

    sizes: Sizes
    beyond: array[int]
    settled: array[int]


@dataclass(frozen=True)
class Course:
    """The messages of one or more epochs in one line.

    `members[i]` is the place of message i in `Session.messages`; `starts[k]` the first message of the k-th epoch, whose
    number is `numbers[k]`. `recorded` is the number of messages that stand in the first epoch: up to there the recorded
    bills speak of this very context. `measure` gives the `figures`, when they are first asked for.
    """

    session: Session
    messages: tuple[Message, ...]
    members: array[int]
    numbers: tuple[int, ...]
    starts: tuple[int, ...]
    recorded: int
    counter: Counter
    measure: Callable[[], Figures]
    scale: Scale | None = None

    @cached_property
    def figures(self) -> Figures:
        return self.measure()

    @cached_property
    def sizes(self) -> Sizes:
        return self.figures.sizes

    @cached_property
    def beyond(self) -> array[int]:
        return self.figures.beyond

    @cached_property
    def settled(self) -> array[int]:
        return self.figures.settled

    @cached_property
    def layout(self) -> Layout:
        return Layout(Shape(self.messages), self.sizes)

    @cached_property
    def answers(self) -> array[int]:
        """Indexes of the agent's answers, without copies that a compaction made of some."""
        copies = frozenset[int]().union(*(epoch.copies for epoch in self.session.epochs))
        answers = (i for i, message in enumerate(self.messages) if message.role == "assistant")
        return array("q", [i for i in answers if self.messages[i].kind == "normal" and self.members[i] not in copies])

    @cached_property
    def refused(self) -> tuple[int, ...]:
        """Where the model refused what it was sent as too long: indexes of the messages before which it did, the number
        of messages where it did after the last. Refusals without a time are not known here."""
        if not self.session.facts.overflow_errors:
            return ()
        timed = [(message.time, i) for i, message in enumerate(self.messages) if message.time is not None]
        errors = (error.time for error in self.session.facts.overflow_errors if error.time is not None)
        after = [bisect_right(timed, (error, len(self.messages))) for error in errors]
        places = [*(i for _, i in timed), len(self.messages)]
        return tuple(sorted({places[at] for at in after if at}))

    @cached_property
    def calls(self) -> array[int]:
        """Indexes of the messages before which the model was called, with all that stands before them: of its answers,
        and where it refused."""
        return array("q", sorted({*self.answers, *self.refused}))

    def message_of(self, call: int) -> Message:
        """The answer to a call of `calls`; to a refused one there is none: the last message that it was sent."""
        at = bisect_left(self.answers, call)
        return self.messages[call if call in self.answers[at : at + 1] else call - 1]

    def round_of(self, call: int) -> int:
        """The number of the round in which a call of `calls` was made, from 1; 0 before the first."""
        return self.round_numbers[call - 1] if call else 0

    @cached_property
    def turns(self) -> array[int]:
        """Indexes of the messages at which it turns whether a request is open: the agent's answers and the user's own
        messages."""
        said = enumerate(self.messages)
        return array("q", [i for i, one in said if one.kind == "normal" and one.role in ("assistant", "user")])

    @cached_property
    def events(self) -> array[int]:
        """The blocks of the messages before each, of all of them last."""
        return array("q", accumulate((len(message.blocks) for message in self.messages), initial=0))

    @cached_property
    def marked(self) -> frozenset[int]:
        """Indexes of the answers that ask for a summary by `SUMMARY_MARKER`."""
        answers = (i for i in self.turns if self.messages[i].role == "assistant")
        return frozenset(i for i in answers if SUMMARY_MARKER in self.messages[i].text)

    @cached_property
    def round_numbers(self) -> array[int]:
        """For every message the number of its round, from 1; 0 before the first."""
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
        """The context's tokens at each call if nothing were ever compacted: at a recorded bill of the first epoch just
        what was billed."""
        tokens, beyond = self.layout.tokens, self.beyond
        last = len(self.messages) - 1
        return array("q", [tokens[index] + beyond[min(index, last)] for index in self.calls])

    @cached_property
    def growth(self) -> tuple[Point, ...]:
        """The growth of the whole session as it was recorded, with the figures of this course."""
        return growth(self.session, self.counter, self.scale)

    @cached_property
    def recorded_at(self) -> dict[int, Point]:
        """By the number of a call, from 1, the point of the growth that it is."""
        calls = {index: call for call, index in enumerate(self.calls, 1)}
        number = {self.members[index]: calls[index] for index in self.answers}
        return {number[point.message]: point for point in self.growth if point.message in number}

    @cached_property
    def recorded_line(self) -> list[tuple[int, int]]:
        """The same as (call, tokens), in the order of the growth."""
        return [(call, point.tokens) for call, point in self.recorded_at.items()]

    @cached_property
    def growth_in(self) -> dict[int, list[Point]]:
        """The same by the number of the epoch."""
        found: dict[int, list[Point]] = {}
        for point in self.growth:
            found.setdefault(point.epoch, []).append(point)
        return found


def course_of(session: Session, counter: Counter, *, first: int = 1, scale: Scale | None = None) -> Course:
    """The course of a session from epoch `first` to its end, with the figures that `counter` knows now, by the `scale`
    that an exact count taught, if there was one. Each epoch's messages get the figures they have in that epoch,
    anchored on its bills. Raises ValueError where there is no epoch `first`."""
    course = unmeasured(session, counter, first=first, scale=scale)
    _ = course.figures
    return course


def unmeasured(session: Session, counter: Counter, *, first: int = 1, scale: Scale | None = None) -> Course:
    """The same with figures when they are first asked for: of most of many sessions nobody asks."""
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
    measure = partial(_measured, session, counter, scale, tuple(zip(numbers, places, strict=True)))
    return Course(session, kept, members, tuple(numbers), tuple(starts), recorded, counter, measure, scale)


def _measured(
    session: Session, counter: Counter, scale: Scale | None, shown: Sequence[tuple[int, Sequence[int]]]
) -> Figures:
    """The figures of the messages that each epoch shows, by their places in it."""
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
    return Figures(Sizes(tokens, basis, sizes.overhead, sizes.overhead_basis, 0, sizes.meter), beyond, settled)


def uncounted(session: Session) -> tuple[Message, ...]:
    """The messages that a course of the whole session needs counted."""
    members = dict.fromkeys(member for epoch in session.epochs for member in epoch.members)
    return tuple(session.messages[member] for member in members)
