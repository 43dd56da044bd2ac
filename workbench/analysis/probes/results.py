"""Results of probes: each answer next to the right one, and the score of each arm with its interval, for one session
and over several."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from workbench.analysis.probes.exam import FULL, NOTHING, QUESTIONS_PER_PROMPT, Arm, Exam
from workbench.analysis.probes.lookup import Lookup
from workbench.analysis.probes.probe import KINDS, RIGHT, Mark, Probe, ProbeKind, mark_reply
from workbench.compaction.summary_request import Answer

DRAWS = 1_000
"""Bootstrap draws per interval."""

GLYPHS: dict[Mark, str] = {"exact": "✓", "alike": "✓", "judged": "✓", "wrong": "✗", "not known": "·", "unanswered": "?"}
"""Signs of answers in a cell of the grid."""

LOOKED_UP = "text search, no model"
"""Origin of answers without a model."""


class ProbeAnswer(Struct, frozen=True):
    """Answer of an arm to one question: the reply, None if missing, and its mark. `line` is the line of the arm with
    the right answer, or the nearest one, "" for none; `is_stated`: it states the right answer."""

    reply: str | None
    mark: Mark
    line: str = ""
    is_stated: bool = False

    @property
    def right(self) -> bool:
        """True for a correct answer."""
        return self.mark in RIGHT


class ProbeScore(Struct, frozen=True):
    """Share of right answers, 0 to 1, with its 95 % bootstrap interval."""

    right: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Share of right answers, 0 to 1."""
        return self.right / self.of


@dataclass(frozen=True)
class ProbeResults:
    """Answers of every arm to every probe: `answers[arm][probe]`. `by` is the name of the model, or `LOOKED_UP`;
    `per_prompt` the number of questions that a prompt to it has, None without a model."""

    probes: tuple[Probe, ...]
    arms: tuple[Arm, ...]
    answers: tuple[tuple[ProbeAnswer, ...], ...]
    by: str
    per_prompt: int | None = None

    @cached_property
    def scored(self) -> tuple[int, ...]:
        """Indexes of the probes except the controls."""
        return tuple(number for number, probe in enumerate(self.probes) if probe.kind != "control")

    @property
    def used(self) -> int:
        """Number of questions about something that the session used later."""
        return sum(self.probes[number].used for number in self.scored)

    def share(self, arm: int, kind: ProbeKind | None = None) -> ProbeScore | None:
        """Return the score of an arm for one kind, or for all kinds except controls; None without an answer."""
        return share_of(self.hits(arm, kind))

    def invented_answers(self, arm: int) -> tuple[int, int]:
        """Return the number of controls that an arm answered as if it knew, and of all that it answered."""
        answers = [self.answers[arm][n] for n, probe in enumerate(self.probes) if probe.kind == "control"]
        answered = [one for one in answers if one.mark != "unanswered"]
        return sum(not one.right for one in answered), len(answered)

    def unanswered(self, arm: int) -> int:
        """Return the number of missing answers of an arm."""
        return sum(one.mark == "unanswered" for one in self.answers[arm])

    def lead(self, arm: int, other: int) -> tuple[float, float, float] | None:
        """Return (lead, lower, upper): how much more `arm` knows than `other` on the questions that both answered, -1
        to 1, with the interval of paired draws. None without common answers."""
        return lead_of((self.hits(arm), self.hits(other)))

    def hits(self, arm: int, kind: ProbeKind | None = None) -> list[bool | None]:
        """Return True for each right answer, False for each wrong one and None for each missing one; for one kind, or
        for all kinds except controls."""
        row = [self.answers[arm][number] for number in self.scored if kind in (None, self.probes[number].kind)]
        return [None if one.mark == "unanswered" else one.right for one in row]

    @property
    def kinds(self) -> tuple[ProbeKind, ...]:
        """Kinds of the questions, controls aside."""
        there = {self.probes[number].kind for number in self.scored}
        return tuple(kind for kind in KINDS if kind in there)


def looked_up(exam: Exam) -> ProbeResults:
    """Return the answers that code finds in the arms, without a model. Linear in the messages."""
    rows = []
    for source in exam.contexts:
        lookup = Lookup(source.masked)
        found = [(probe, *lookup.answer(probe)) for probe in exam.probes]
        marks = [mark_reply(probe, reply) for probe, reply, _ in found]
        rows.append(
            tuple(
                ProbeAnswer(reply, mark, line, _is_stated(line, mark))
                for (_, reply, line), mark in zip(found, marks, strict=True)
            )
        )
    return ProbeResults(exam.probes, exam.arms, tuple(rows), LOOKED_UP)


def graded(exam: Exam, answers: Mapping[str, Answer], by: str) -> ProbeResults:
    """Grade a model's answers with a judge's verdicts; `answers` is keyed by request."""
    replies = exam.replies(answers)
    right = exam.accepted_replies(exam.doubtful_replies(replies), answers)
    rows = []
    for source, row in zip(exam.contexts, replies, strict=True):
        lookup = Lookup(source.masked if source.outcome else ())
        row_answers = []
        for number, (probe, reply) in enumerate(zip(exam.probes, row, strict=True)):
            mark: Mark = "judged" if reply and (number, reply.strip()) in right else mark_reply(probe, reply)
            there, line = lookup.answer(probe)
            row_answers.append(ProbeAnswer(reply, mark, line, _is_stated(line, mark_reply(probe, there))))
        rows.append(tuple(row_answers))
    return ProbeResults(exam.probes, exam.arms, tuple(rows), by, QUESTIONS_PER_PROMPT)


def _is_stated(line: str, looked_up: Mark) -> bool:
    return bool(line) and looked_up in RIGHT


Hits = Sequence[bool | None]
"""Hits of one session in the order of the questions."""


def share_of(*sessions: Hits) -> ProbeScore | None:
    """Return the score over sessions, with a bootstrap interval from fixed draws; None without an answer."""
    known = [[float(hit) for hit in hits if hit is not None] for hits in sessions]
    found = bootstrap_mean(known)
    if found is None:
        return None
    return ProbeScore(sum(hit is True for hits in sessions for hit in hits), sum(map(len, known)), *found[1:])


def lead_of(*sessions: tuple[Hits, Hits]) -> tuple[float, float, float] | None:
    """Return the mean difference of answers to the same questions, with its interval by drawing pairs."""
    return bootstrap_mean(
        [
            [float(a) - float(b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
            for one, other in sessions
        ]
    )


def bootstrap_mean(sessions: Sequence[Sequence[float]]) -> tuple[float, float, float] | None:
    """Return the mean of all values with its 95 % interval, by `DRAWS` draws with replacement of sessions, and of
    values within each. None without a value."""
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


@dataclass(frozen=True)
class ProbeTotals:
    """Arms of the same name over several sessions. Intervals draw sessions first, then questions of each, because
    questions of one session are not independent. An arm is measured on the sessions that have it."""

    several: tuple[ProbeResults, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the arms: full context, every compaction in order of appearance, no context."""
        found = dict.fromkeys(arm.name for one in self.several for arm in one.arms)
        return (FULL, *(name for name in found if name not in (FULL, NOTHING)), NOTHING)

    @cached_property
    def kinds(self) -> tuple[ProbeKind, ...]:
        """Kinds of the questions."""
        there = {kind for one in self.several for kind in one.kinds}
        return tuple(kind for kind in KINDS if kind in there)

    def sessions(self, name: str) -> int:
        """Return the number of sessions with an arm."""
        return len(self._with(name))

    def tokens(self, name: str) -> int:
        """Return the tokens of an arm over its sessions."""
        return sum(one.arms[arm].tokens for one, arm in self._with(name))

    def share(self, name: str, kind: ProbeKind | None = None) -> ProbeScore | None:
        """Return the score of an arm over its sessions."""
        return share_of(*(one.hits(arm, kind) for one, arm in self._with(name)))

    def invented_answers(self, name: str) -> tuple[int, int]:
        """Return the number of controls answered as if known, and of all that were answered."""
        counts = [one.invented_answers(arm) for one, arm in self._with(name)]
        return sum(invented for invented, _ in counts), sum(controls for _, controls in counts)

    def unanswered(self, name: str) -> int:
        """Return the number of missing answers of an arm."""
        return sum(one.unanswered(arm) for one, arm in self._with(name))

    def lead_of_full(self, name: str) -> tuple[float, float, float] | None:
        """Return the lead of the full context over an arm of the same session, -1 to 1, with the interval of paired
        draws."""
        return lead_of(*((one.hits(0), one.hits(arm)) for one, arm in self._with(name)))

    def _with(self, name: str) -> Sequence[tuple[ProbeResults, int]]:
        return [(one, at) for one in self.several if (at := _place(one, name)) is not None]


def _place(one: ProbeResults, name: str) -> int | None:
    return next((at for at, arm in enumerate(one.arms) if arm.name == name), None)
