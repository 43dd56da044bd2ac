"""The rows of an audit: a session, and the compactions that it records. Plain values, the same in a cache, on a cluster
and in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.session import Way


@dataclass(frozen=True, slots=True)
class CompactionRow:
    """A compaction that the agent recorded, at the end of `epoch`, before call number `call` (from 1).

    `before` and `after` are tokens of the context, as the agent recorded both; else before a summary as it recorded
    them, or of the last prompt, and behind it of the first; None where nothing tells. `larger`: there are more behind
    it. `seconds` are as recorded, else between the newest message before an automatic one and its record. `cost` in
    dollars is about what its summary took and what was billed anew for it; None where no price is known. `gone` are
    messages that were taken away or shortened, `gone_results` those of them with results of tools, `gone_said` with
    words of the user's; None where what went is not in the file. `rework` counts what was done again because of it,
    `rework_tokens` what that cost, `resumed` the calls before the first new step. Of `instructions` in force before its
    tail, `lost` are held nowhere any more; None where nobody can read its summary, or what went is not in the file.
    `time` is in seconds since the epoch. `id` is alike wherever the same compaction is written down; a `copy` of one
    that counts in another session counts in none of the sums.
    """

    epoch: int
    call: int
    way: Way
    asked: bool
    time: float | None
    before: int | None
    after: int | None
    larger: bool
    seconds: float | None
    cost: float | None
    gone: int | None
    gone_results: int | None
    gone_said: int | None
    rework: int
    rework_tokens: int
    resumed: int
    instructions: int
    lost: int | None
    id: str = ""
    copy: bool = False


TRIGGERS = tuple(1_000 * n for n in (60, 80, 100, 120, 150, 180, 250, 400, 600, 900))
"""Sizes of the context in tokens at which compaction is tried."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What all prompts and summaries of a session would have cost, compacted at `trigger` tokens: in tokens, each worth
    one of input. `summaries` is how often; a `trigger` of 0 is as the tool does by itself."""

    trigger: int
    cost: float
    summaries: int


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session. `error` says in a sentence why a file gives none, and then only its name and size are known beside.

    `tool` is in words, `project` the folder in which the agent worked. `calls` are those with a bill, `tokens` the size
    of the last prompt, `peak` that of the largest, `window` the last one known, `overhead` the tokens that the first
    call was sent beyond the conversation (system prompt, tools, what no file records), None where nothing tells. `cost`
    is in dollars, as recorded or by the prices known here; `price` that of a million tokens of input. `tried` are the
    settings under which the session was played, none where it was not.
    """

    path: str
    part: str = ""
    bytes: int = 0
    time: float = 0.0
    format: str = ""
    tool: str = ""
    version: str = ""
    model: str = ""
    project: str = ""
    title: str = ""
    calls: int = 0
    tokens: int = 0
    peak: int = 0
    window: int | None = None
    overhead: int | None = None
    cost: float | None = None
    price: float | None = None
    compactions: tuple[CompactionRow, ...] = ()
    tried: tuple[Tried, ...] = ()
    error: str = ""

    @property
    def own(self) -> tuple[CompactionRow, ...]:
        """Its compactions that count in no other session."""
        return tuple(one for one in self.compactions if not one.copy)

    @property
    def full(self) -> float | None:
        """Share of the window that the last prompt took; None where either is not known."""
        return self.tokens / self.window if self.tokens and self.window else None

    @property
    def larger(self) -> int:
        return sum(one.larger for one in self.own)

    @property
    def rework(self) -> int:
        return sum(one.rework for one in self.own)

    @property
    def gone(self) -> int | None:
        """Messages that its compactions took away or shortened; None where that is not known of one."""
        return _sum([one.gone for one in self.own])

    @property
    def lost(self) -> int | None:
        """Instructions that its compactions lost; None where that is not known of one."""
        return _sum([one.lost for one in self.own])


def _sum(values: Sequence[int | None]) -> int | None:
    return None if None in values else sum(value for value in values if value)


def row_from(fields: Mapping[str, Any]) -> SessionRow:
    """The row of which `dataclasses.asdict` made these. Raises TypeError or KeyError for fields that are no row's."""
    made = tuple(CompactionRow(**one) for one in fields["compactions"])
    return SessionRow(**{**fields, "compactions": made, "tried": tuple(Tried(**one) for one in fields["tried"])})
