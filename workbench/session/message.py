"""What a message is: a role, blocks, and where its bytes lie.

A message is one entry of the conversation as the *model* sees it. A format that spreads one API message over
several lines (Claude Code) gives one `Message` with several `source` records; a format that keeps a request and its
response in one record (Augment) gives several messages that share a record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from workbench.base.stamps import is_time

Role = Literal["system", "user", "assistant", "tool"]
"""`tool` is any message that carries a tool result, whatever role the format's API gives it."""

Kind = Literal["normal", "summary", "boundary", "meta"]
"""`summary` stands for older messages; `boundary` marks a recorded compaction and is never sent; `meta` is sent but was
not typed by the user (injected reminders, command wrappers, interruption texts). Only a `normal` user message starts a
round."""


@dataclass(frozen=True, slots=True)
class Text:
    """`injected`: written by the tool or an editor and not by the person, though it stands in the person's message: the
    open file of an IDE, a date, a reminder, a skill. Each format says so once, where it is read."""

    text: str
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning. `text` may be empty while `signature` (opaque, bound to the message) still costs context."""

    text: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call. `input` is the decoded JSON object, or the raw string where it did not decode."""

    id: str
    name: str
    input: dict[str, Any] | str


Pixels = tuple[int, int]
"""Width and height of an image."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image, document or sound: never decoded, counted as its placeholder. `size` is in bytes of the encoded
    data. `pixels` are width and height of an image, None where its header does not name them (`images.media_of`)."""

    media_type: str
    size: int
    pixels: Pixels | None = None

    @property
    def placeholder(self) -> str:
        return f"[{self.media_type}, {self.size} bytes]"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to the call `call_id`, as the model sees it. `said` is what the person said through the tool: the
    answers to its questions, why a plan or a call was refused; it stands in `content` in whatever wrapping."""

    call_id: str
    content: tuple[Text | Media, ...]
    is_error: bool = False
    said: str = ""

    @property
    def text(self) -> str:
        """The result as one string, media as placeholders."""
        if len(self.content) == 1 and isinstance(one := self.content[0], Text):  # nearly every one, and asked for often
            return one.text
        return "\n".join(part.text if isinstance(part, Text) else part.placeholder for part in self.content)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of a type this program does not know. `raw` is the decoded JSON, written back as it is."""

    type: str
    raw: Any


Block = Text | Thinking | ToolUse | ToolResult | Media | Opaque


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider billed for the API call which produced a message.

    `input` excludes what was read from or written to the cache. `output` is trustworthy only when `output_final`:
    Claude Code often records the number at the start of the stream. `cost` is in dollars, as recorded; None where it is
    not. `reasoning` is the part of `output` that was, 0 where that is not told. `absurd`: so little cannot have been
    billed for what stands before the message; no figure stands on it. `replayed`: the call was made in the session that
    this one was forked from; it has the size of the context here, and its cost there. `cache_life` are the seconds for
    which what was written to the cache is kept without use; 0 where that is not recorded.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output_final: bool = True
    cost: float | None = None
    absurd: bool = False
    reasoning: int = 0
    replayed: bool = False
    cache_life: int = 0

    @property
    def context(self) -> int:
        """Tokens of the prompt: everything the model was sent for this call."""
        return self.input + self.cache_read + self.cache_write


class Billed(NamedTuple):
    """What one call to `model` was billed, in tokens as `Usage` has them; None for the session's own model."""

    model: str | None
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Equality is by value; identity of a message in a session is its `id`, unique there.

    `time` is seconds since the epoch, UTC; one that no calendar has becomes None. `source` numbers the records of the
    session that hold this message's bytes (empty for a message this program made).
    """

    id: str
    role: Role
    blocks: tuple[Block, ...]
    kind: Kind = "normal"
    time: float | None = None
    usage: Usage | None = None
    model: str | None = None
    source: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.time is not None and not is_time(self.time):
            object.__setattr__(self, "time", None)

    @property
    def bill(self) -> int:
        """Tokens that were billed for the prompt which the message answers; 0 where none are recorded, or absurd
        ones."""
        usage = self.usage
        if usage is None or usage.absurd:
            return 0
        return max(0, usage.input + usage.cache_read + usage.cache_write)

    @property
    def text(self) -> str:
        """The text blocks alone, joined by newlines."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        return tuple([block for block in self.blocks if isinstance(block, ToolUse)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple([block for block in self.blocks if isinstance(block, ToolResult)])

    @property
    def said(self) -> str:
        """The person's own words in the message: what was typed, and what was said through a tool. "" for none."""
        through = [block.said for block in self.blocks if isinstance(block, ToolResult) and block.said]
        if not self.starts_round:
            return "\n".join(through)
        typed = [block.text for block in self.blocks if isinstance(block, Text) and not block.injected]
        return "\n".join([*typed, *through])

    @property
    def starts_round(self) -> bool:
        """Whether this is a user's own message: with each begins a round."""
        return self.role == "user" and self.kind == "normal"

    @property
    def is_summary(self) -> bool:
        """Whether it only stands for what was. A reply to a summary that the agent's next call has joined does not: the
        call is a step of its own, and its result stands behind it."""
        return self.kind == "summary" and not self.calls

    @property
    def is_own_system(self) -> bool:
        """Whether this is one of the session's own system messages, which every compaction leaves as they are."""
        return self.role == "system" and self.kind == "normal"
