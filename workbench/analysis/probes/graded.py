"""What came of the questions: each answer beside the right one, and what an arm knows, with its interval."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from workbench.analysis.probes.asked import Arm, Exam
from workbench.analysis.probes.lookup import Lookup
from workbench.analysis.probes.probe import KINDS, RIGHT, Mark, Probe, ProbeKind, marked
from workbench.compaction.summary_request import Answer

DRAWS = 1_000
"""So many times the questions are drawn anew for an interval."""

GLYPHS: dict[Mark, str] = {"exact": "✓", "alike": "✓", "judged": "✓", "wrong": "✗", "not known": "·", "unanswered": "?"}
"""How an answer is shown in a cell of the grid."""

LOOKED_UP = "text search, no model"
"""Who answered where no model did."""


class Given(Struct, frozen=True):
    """What an arm answers to one question: the reply, None where none came; how it stands to the right answer; and the
    line of the arm that tells that (`told`) or comes nearest, "" where none does."""

    reply: str | None
    mark: Mark
    line: str = ""
    told: bool = False

    @property
    def right(self) -> bool:
        return self.mark in RIGHT


class Share(Struct, frozen=True):
    """Right answers of all that were given, 0 to 1, and where 95 % of 1 000 draws of the questions lie."""

    right: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.right / self.of


@dataclass(frozen=True)
class Probing:
    """Every arm's answer to every probe: `given[arm][probe]`. `by` is the model, or `LOOKED_UP`."""

    probes: tuple[Probe, ...]
    arms: tuple[Arm, ...]
    given: tuple[tuple[Given, ...], ...]
    by: str

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """The places of the probes that are no controls."""
        return tuple(number for number, probe in enumerate(self.probes) if probe.kind != "control")

    def share(self, arm: int, kind: ProbeKind | None = None) -> Share | None:
        """What an arm knows, of a kind or of all but the controls; None where it gave no answer."""
        return share_of(self.hits(arm, kind))

    def made_up(self, arm: int) -> tuple[int, int]:
        """How many controls an arm answered as if it knew, and of how many."""
        answers = [self.given[arm][n] for n, probe in enumerate(self.probes) if probe.kind == "control"]
        answered = [one for one in answers if one.mark != "unanswered"]
        return sum(not one.right for one in answered), len(answered)

    def unanswered(self, arm: int) -> int:
        return sum(one.mark == "unanswered" for one in self.given[arm])

    def lead(self, arm: int, other: int) -> tuple[float, float, float] | None:
        """By how much an arm knows more than another of the same questions, -1 to 1, with the interval of paired draws;
        None where they answered none in common."""
        return lead_of((self.hits(arm), self.hits(other)))

    def hits(self, arm: int, kind: ProbeKind | None = None) -> list[bool | None]:
        """Whether each question, of a kind or all but the controls, was answered rightly; None where it was not."""
        row = [self.given[arm][number] for number in self.asked if kind in (None, self.probes[number].kind)]
        return [None if given.mark == "unanswered" else given.right for given in row]

    @property
    def kinds(self) -> tuple[ProbeKind, ...]:
        """The kinds that are asked for, controls aside."""
        there = {self.probes[number].kind for number in self.asked}
        return tuple(kind for kind in KINDS if kind in there)


def looked_up(exam: Exam) -> Probing:
    """The answers that code finds in the arms: no model is asked. Linear in the messages."""
    rows = []
    for source in exam.sources:
        lookup = Lookup(source.masked)
        found = [(probe, *lookup.answer(probe)) for probe in exam.probes]
        marks = [marked(probe, reply) for probe, reply, _ in found]
        rows.append(
            tuple(
                Given(reply, mark, line, _told(line, mark)) for (_, reply, line), mark in zip(found, marks, strict=True)
            )
        )
    return Probing(exam.probes, exam.arms, tuple(rows), LOOKED_UP)


def graded(exam: Exam, answers: Mapping[str, Answer], by: str) -> Probing:
    """What a model answered, and a judge found of it; `answers` by the keys of the requests."""
    replies = exam.replies(answers)
    right = exam.found_right(exam.in_doubt(replies), answers)
    rows = []
    for source, row in zip(exam.sources, replies, strict=True):
        lookup = Lookup(source.masked if source.outcome else ())
        given = []
        for number, (probe, reply) in enumerate(zip(exam.probes, row, strict=True)):
            mark: Mark = "judged" if reply and (number, reply.strip()) in right else marked(probe, reply)
            there, line = lookup.answer(probe)
            given.append(Given(reply, mark, line, _told(line, marked(probe, there))))
        rows.append(tuple(given))
    return Probing(exam.probes, exam.arms, tuple(rows), by)


def _told(line: str, looked_up: Mark) -> bool:
    return bool(line) and looked_up in RIGHT


Hits = Sequence[bool | None]
"""Of one session, in the order of the questions."""


def share_of(*sessions: Hits) -> Share | None:
    """Of the answers that were given (None: none), with the interval by bootstrap; the draws are always the same."""
    known = [[float(hit) for hit in hits if hit is not None] for hits in sessions]
    found = drawn_mean(known)
    if found is None:
        return None
    return Share(sum(hit is True for hits in sessions for hit in hits), sum(map(len, known)), *found[1:])


def lead_of(*sessions: tuple[Hits, Hits]) -> tuple[float, float, float] | None:
    """The mean difference of answers to the same questions, and its interval; pairs are drawn, not answers."""
    return drawn_mean(
        [
            [float(a) - float(b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
            for one, other in sessions
        ]
    )


def drawn_mean(sessions: Sequence[Sequence[float]]) -> tuple[float, float, float] | None:
    """The mean of all values, and where 95 % of the means of `DRAWS` draws lie, drawn with replacement: sessions, and
    of each that is drawn its values. None where there is no value."""
    there = [values for values in sessions if values]
    if not there:
        return None
    draw = random.Random(0)
    means = []
    for _ in range(DRAWS):
        drawn = draw.choices(there, k=len(there)) if len(there) > 1 else there
        total = sum(sum(draw.choices(values, k=len(values))) for values in drawn)
        means.append(total / sum(map(len, drawn)))
    means.sort()
    return (
        sum(map(sum, there)) / sum(map(len, there)),
        means[DRAWS * 25 // 1000],
        means[DRAWS * 975 // 1000 - 1],
    )
