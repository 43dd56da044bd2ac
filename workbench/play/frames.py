"""What one moment of a story is, as plain data. Tokens are whole numbers, times are seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.analysis.watched_rules import RuleVerdict

Kind = Literal["overhead", "summary", "pinned", "going", "talk", "kept"]
"""What a part of a context is: system prompt and tools; made by a compaction; kept by a pin; about to be replaced;
the conversation; of it what a compaction leaves where it stands."""

State = RuleVerdict | Literal["unsaid"]
"""How a rule stands in what the model reads; `unsaid` before the user says it."""


@dataclass(frozen=True, slots=True)
class Part:
    kind: Kind
    tokens: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence and what is left of it; `pinned`: its message is kept by a pin; `said`: there is such a message."""

    text: str
    state: State
    pinned: bool = False
    said: bool = True


@dataclass(frozen=True, slots=True)
class Lane:
    """One policy at one call, from 1; 0 before the first. `parts` are what the call is sent, from its beginning.

    `trail` is the largest prompt in each of `TRAIL` equal stretches of the session, up to this call. `fires` are the
    tokens at which the next compaction comes, None where none comes any more. `cost` is what it all costs in the end,
    in words, and "" before.
    """

    name: str
    call: int
    parts: tuple[Part, ...]
    trail: tuple[int, ...]
    compactions: int
    fires: int | None = None
    rule: Rule | None = None
    cost: str = ""

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)


TRAIL = 96
"""Stretches of a session in a lane's trail."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A compaction under way: `share` (0 to 1) of it is done, and `after` is what it leaves."""

    share: float
    after: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A moment that stands for so many `seconds`. `title` is for large type, `says` are sentences under it."""

    title: str
    says: tuple[str, ...]
    lanes: tuple[Lane, ...]
    seconds: float
    fall: Fall | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """`note` says what is shown and that no model was asked; it stands on every frame. `scale` are the tokens that a
    whole bar stands for, `window` the model's limit where it is known, `calls` how many the session has."""

    note: str
    calls: int
    scale: int
    window: int | None
    frames: tuple[Frame, ...]

    @property
    def seconds(self) -> float:
        return sum(frame.seconds for frame in self.frames)
