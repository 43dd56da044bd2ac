"""Score the importance of messages by signals that a reader can check. The formula is the workbench's own; the
threshold of 3.0 is that of the design (docs/strategies.md, Sources).

    score = Σ weight × value, one part per signal:

    request       the user's own message                                            1
    instruction   a rule from the user                                              1
    decision      it contains a decision                                            1
    error         the result of a failed call                                       1
    fix           change that fixed a failed attempt, or the attempt that succeeded 1
    change        its calls changed files, or a command changed something           1
    reuse         names and numbers that it is first to use and later messages use  number / 6, at most 1
    length        its own words                                                     characters / 1 200, at most 1
    recency       its position                                                      0 for the first, 1 for the last

The values depend on the messages alone and are computed once; the weights are the policy's. docs/importance.md has the
scores of three real sessions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul

from pydantic import BaseModel, ConfigDict, Field

from workbench.compaction.progressive.key_events import changed_by, fixes_of
from workbench.compaction.shape import Shape, per_shape
from workbench.compaction.shape_calls import actions_at, calls_of
from workbench.facts.decisions import is_decision
from workbench.facts.standing import is_instruction
from workbench.facts.wording import LONGEST_SENTENCE, message_prose, sentences

REUSE_FULL, LENGTH_FULL = 6, 1_200
SCANNED = 4_000
"""Characters of a message's own words that are searched for names. `TARGET`: the same for a call's path or command."""
TARGET = 400
DIGITS = 6
"""Digits to which scores are rounded, so that a sum of thirds that equals a threshold is not just below it."""

_NAME = re.compile(
    r"(?<!\w)(?:(?:[\w.~-]{1,80}/){1,20}[\w.-]{1,80}|[A-Za-z][A-Za-z0-9]{0,40}_\w{1,60}|[a-z]{1,40}[A-Z]\w{1,60}"
    r"|[A-Z][a-z]{1,40}[A-Z]\w{1,60}|\w{1,60}\.[a-z]{1,5}\b|#\d{1,9}|\d{3,20}|\d{1,9}\.\d{1,9})"
)
"""Paths, names with an underscore or an inner capital, files, numbers. Lengths are bounded because a long run of one
letter would be slow."""


class ImportanceWeights(BaseModel):
    """Points that each signal adds to a message's score; see `workbench.compaction.progressive.importance`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request: float = Field(3.0, ge=0, description="A message from the user.")
    instruction: float = Field(2.0, ge=0, description="A rule from the user (never, always, from now on).")
    decision: float = Field(2.0, ge=0, description="It contains a decision.")
    error: float = Field(1.0, ge=0, description="The result of a call that failed.")
    fix: float = Field(2.0, ge=0, description="The change that made a failed attempt succeed.")
    change: float = Field(
        2.5, ge=0, description="Its calls changed files, or a command changed something (a commit, an install)."
    )
    reuse: float = Field(2.0, ge=0, description="Names and numbers that later messages use; full points at 6.")
    length: float = Field(1.0, ge=0, description="Length of its text; full points at 1 200 characters.")
    recency: float = Field(
        1.0, ge=0, description="Position: no points for the first message, full points for the last."
    )


SIGNALS = tuple(ImportanceWeights.model_fields)


@dataclass(frozen=True, slots=True)
class ScorePart:
    """Contribution of one signal: `points` = weight × `value`."""

    name: str
    value: float
    points: float

    def __str__(self) -> str:
        return f"{self.name} {self.points:+.1f}"


@dataclass(frozen=True, slots=True)
class Score:
    """Score of a message with its parts; parts that add nothing are omitted."""

    total: float
    parts: tuple[ScorePart, ...]

    def __str__(self) -> str:
        return f"{self.total:.1f}" + (f" ({', '.join(map(str, self.parts))})" if self.parts else "")


def score(shape: Shape, index: int, weights: ImportanceWeights) -> Score:
    """Score of message `index` with its parts. Raises IndexError outside the context."""
    factors = _weights(weights)
    parts = tuple(
        ScorePart(name, value, weight * value)
        for name, value, weight in zip(SIGNALS, values_of(shape)[index], factors, strict=True)
        if weight * value
    )
    return Score(round(sum(part.points for part in parts), DIGITS), parts)


def scores(shape: Shape, weights: ImportanceWeights) -> list[float]:
    """Score of every message."""
    factors = _weights(weights)
    rows = values_of(shape)
    return [round(sum(map(mul, factors, row)), DIGITS) for row in rows]


def _weights(weights: ImportanceWeights) -> tuple[float, ...]:
    return tuple(getattr(weights, name) for name in SIGNALS)


@per_shape
def values_of(shape: Shape) -> tuple[tuple[float, ...], ...]:
    """Signals of each message, 0 to 1, in the order of `SIGNALS`."""
    messages = shape.messages
    words = [*map(message_prose, messages)]
    changed, failed = set[int](), set[int]()
    for called in calls_of(shape):
        if changed_by(called):
            changed.add(called.index)
        elif called.ok is False and not called.refused and called.result_index is not None:
            failed.add(called.result_index)
    fixed = {index for fix in fixes_of(shape) for index in (fix.by, fix.success)}
    reused = _count_reused_names(shape, words)
    last = max(len(messages) - 1, 1)
    rows = []
    for index, message in enumerate(messages):
        own = message.starts_round or bool(message.user_text)
        own_sentences = [one for one in sentences(words[index]) if len(one) <= LONGEST_SENTENCE] if words[index] else []
        rows.append((
            float(own),
            float(own and any(map(is_instruction, own_sentences))),
            float(any(map(is_decision, own_sentences))),
            float(index in failed),
            float(index in fixed),
            float(index in changed),
            min(reused[index] / REUSE_FULL, 1.0),
            min(len(words[index]) / LENGTH_FULL, 1.0),
            index / last,
        ))  # fmt: skip
    return tuple(rows)


def _count_reused_names(shape: Shape, words: Sequence[str]) -> list[int]:
    """Number of names that each message is the first to use and that a later message uses again, in words or calls."""
    count = [0] * len(words)
    first: dict[str, int] = {}
    again: set[str] = set()
    for index in range(len(words)):
        for name in set(_names_in(shape, index, words[index])):
            if name not in first:
                first[name] = index
            elif name not in again:
                again.add(name)
                count[first[name]] += 1
    return count


def _names_in(shape: Shape, index: int, words: str) -> Iterator[str]:
    yield from _NAME.findall(words[:SCANNED])
    for action in actions_at(shape, index):
        yield from _NAME.findall(action.target[:TARGET])
