"""A story as plain data: frames, lanes and parts of contexts. Tokens are whole numbers, times are seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.analysis.watched_rules import RuleVerdict

Kind = Literal["overhead", "summary", "pinned", "going", "talk", "kept"]
"""Kind of a part of a context. overhead: system prompt and tools. going: messages that the compaction replaces. talk:
conversation. kept: messages of it that the compaction keeps without a pin."""

State = RuleVerdict | Literal["unsaid"]
"""State of a rule in the context. `unsaid`: no message has stated it yet."""


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
    """The session under one preset at one call (from 1; 0 before the first). `parts` are the parts of the prompt, in
    order.

    `trail` is the size in tokens of the largest prompt in each of `TRAIL` equal sections of the session, up to this
    call. `fires` is the size in tokens at which the next compaction starts, None if there is none. `cost` is the final
    cost in words, "" before the end.
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
"""Number of sections in the trail of a complete session."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A compaction in progress: the `share` done (0 to 1), and the parts `after` it."""

    share: float
    after: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture that is shown for `seconds`. `title` is in large letters, `says` are the sentences below it. `fall` is
    a compaction in progress, None if there is none."""

    title: str
    says: tuple[str, ...]
    lanes: tuple[Lane, ...]
    seconds: float
    fall: Fall | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """All frames. `note` is shown on every frame and says that no model was used. `calls` is the number of calls in the
    session, `scale` the tokens of a full bar, `window` the model's window in tokens, None if unknown."""

    note: str
    calls: int
    scale: int
    window: int | None
    frames: tuple[Frame, ...]

    @property
    def seconds(self) -> float:
        return sum(frame.seconds for frame in self.frames)
