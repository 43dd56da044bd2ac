"""A story as plain data: frames, lanes and parts of contexts. Tokens are whole numbers, times are seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.analysis.watched_rules import RuleVerdict

Kind = Literal["overhead", "summary", "pinned", "going", "talk", "kept"]
"""Kind of a part of a context: system prompt and tools; summary; pinned; about to be replaced; the conversation; its
messages that a compaction keeps."""

State = RuleVerdict | Literal["unsaid"]
"""State of a rule in the context; `unsaid` before the user states it."""


@dataclass(frozen=True, slots=True)
class Part:
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
    """One policy at one call (from 1; 0 before the first). `parts` are those of the prompt, in order.

    `trail` is the largest prompt in each of `TRAIL` equal sections of the session, up to this call. `fires` is the
    trigger of the next compaction in tokens, None if there is none. `cost` is the final cost in words, "" before.
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
"""Sections of a session in a lane's trail."""


@dataclass(frozen=True, slots=True)
class Fall:
    """A compaction in progress: the `share` done (0 to 1), and the parts `after` it."""

    share: float
    after: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture that is shown for `seconds`. `title` is in large type, `says` are sentences under it."""

    title: str
    says: tuple[str, ...]
    lanes: tuple[Lane, ...]
    seconds: float
    fall: Fall | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """A story: `note` is shown on every frame and says that no model was asked. `scale` is the tokens of a full bar,
    `window` the model's window if known, `calls` the number of calls in the session."""

    note: str
    calls: int
    scale: int
    window: int | None
    frames: tuple[Frame, ...]

    @property
    def seconds(self) -> float:
        return sum(frame.seconds for frame in self.frames)
