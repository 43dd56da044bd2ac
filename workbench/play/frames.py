"""Plain data of a demo: a story has frames, a frame has lanes (one preset each), a lane has parts of the prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.analysis.rule_text import RuleVerdict

Kind = Literal["overhead", "summary", "pinned", "going", "talk", "kept"]
"""Kind of a part of a context. overhead: system + tools. going: messages that the compaction replaces. pinned: messages
that a pin keeps. kept: messages that the compaction keeps without a pin, and replacements other than a summary. talk:
messages between two compactions, drawn as one part."""

State = RuleVerdict | Literal["unsaid"]
"""State of a rule in the context. unsaid: no message has stated it yet."""


@dataclass(frozen=True, slots=True)
class BarPart:
    kind: Kind
    tokens: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule and its state. `pinned`: a pin keeps its message; `stated`: a message states it."""

    text: str
    state: State
    pinned: bool = False
    stated: bool = True


@dataclass(frozen=True, slots=True)
class Lane:
    """The session under the preset `name` at one call (from 1; 0 before the first).

    `parts`: parts of the prompt from left to right. `trail`: tokens of the largest prompt in each completed section of
    the session, at most `TRAIL` numbers. `compactions`: number of compactions so far. `fires`: tokens at which the next
    compaction starts, None if none follows. `cost`: cost of the session as text, "" before the last frame.
    """

    name: str
    call: int
    parts: tuple[BarPart, ...]
    trail: tuple[int, ...]
    compactions: int
    fires: int | None = None
    rule: Rule | None = None
    cost: str = ""

    @property
    def tokens(self) -> int:
        return sum(part.tokens for part in self.parts)


TRAIL = 96
"""Number of equal sections of calls into which a trail divides the session."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A compaction in progress. `share`: part that is drawn so far, 0 to 1. `after`: parts of the prompt after it."""

    share: float
    after: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture, shown for `seconds`. `says`: sentences below the title. `fall`: the compaction that the frame draws,
    None without one."""

    title: str
    says: tuple[str, ...]
    lanes: tuple[Lane, ...]
    seconds: float
    fall: Fall | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """All frames of a demo. `note`: how it was made, shown on every frame. `calls`: number of calls in the session.
    `scale`: tokens of a full bar. `window`: context window in tokens, None if unknown."""

    note: str
    calls: int
    scale: int
    window: int | None
    frames: tuple[Frame, ...]

    @property
    def seconds(self) -> float:
        return sum(frame.seconds for frame in self.frames)
