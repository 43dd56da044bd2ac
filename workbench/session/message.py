"""Messages: a role, blocks, and the records of the file that hold them.

A message is one entry of the conversation as the *model* sees it. A format that spreads one API message over
several lines (Claude Code) gives one `Message` with several `source` records; a format that keeps a request and its
response in one record (Augment) gives several messages that share a record.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.base.stamps import is_time

Role = Literal["system", "user", "assistant", "tool"]
"""`tool` is any message with a tool result, whatever role the format's API gives it."""

Kind = Literal["normal", "summary", "boundary", "meta"]
"""`summary` replaces older messages; `boundary` marks a recorded compaction and is never sent; `meta` is sent but not
typed by the user (injected reminders, command wrappers, interruption texts). Only a `normal` user message starts a
round."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text. `injected`: the agent or an editor added it to the user's message, for example the open file of an IDE, a
    date, a reminder or a skill. The format's reader sets it."""

    text: str
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning. `text` may be empty; `signature` (opaque, bound to the message) costs context all the same."""

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
    """An image, document or sound, counted as its placeholder. `size` is in bytes of the encoded data; `pixels` are
    width and height of an image, None where its header does not give them (`images.media_of`)."""

    media_type: str
    size: int
    pixels: Pixels | None = None

    @property
    def placeholder(self) -> str:
        """Text that stands for it in sizes and exports."""
        return f"[{self.media_type}, {self.size} bytes]"


def _deprecated_said(one: ToolResult | Message) -> str:
    warnings.warn(f"{type(one).__name__}.said is now {type(one).__name__}.user_text", DeprecationWarning, stacklevel=3)
    return one.user_text


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Result of the call `call_id`, as the model sees it. `user_text` is the user's own words in `content`, without the
    agent's wrapping: answers to the tool's questions, or the reason for refusing a plan or a call."""

    call_id: str
    content: tuple[Text | Media, ...]
    is_error: bool = False
    user_text: str = ""

    if not TYPE_CHECKING:  # a type checker reports the deprecated name

        @property
        def said(self) -> str:
            """Former name of `user_text`."""
            return _deprecated_said(self)

    @property
    def text(self) -> str:
        """The result as one string, media as placeholders."""
        if len(self.content) == 1 and isinstance(one := self.content[0], Text):  # the usual case, read often
            return one.text
        return "\n".join(part.text if isinstance(part, Text) else part.placeholder for part in self.content)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of an unknown type. `raw` is the decoded JSON, written back unchanged."""

    type: str
    raw: Any


Block = Text | Thinking | ToolUse | ToolResult | Media | Opaque


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider billed for the API call which produced a message.

    `input` excludes tokens read from or written to the cache. `output` is reliable only if `output_final`: Claude Code
    often records the number at the start of the stream. `cost` is in dollars as recorded, None if not recorded.
    `reasoning` is the part of `output` spent on reasoning, 0 if not recorded. `absurd`: too few tokens for the messages
    before it; no figure uses it. `replayed`: the call was made in the session that this one was forked from; it gives
    the size of the context but no cost here. `cache_life`: seconds for which cache writes are kept without use, 0 if
    not recorded.
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
        """Tokens of the prompt, cached ones included."""
        return self.input + self.cache_read + self.cache_write


class Billed(NamedTuple):
    """Billed tokens of one call to `model`, as in `Usage`; None for the session's own model."""

    model: str | None
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Equality is by value; `id` is unique in the session.

    `time` is in seconds since 1970, UTC; None if unknown or outside the calendar. `source` are the indexes of the
    session's records that hold the message, empty for a message that this program made.
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
        """Billed tokens of the prompt that the message answers; 0 if unrecorded or absurd."""
        usage = self.usage
        if usage is None or usage.absurd:
            return 0
        return max(0, usage.input + usage.cache_read + usage.cache_write)

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """The tool calls, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolUse)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        return tuple([block for block in self.blocks if isinstance(block, ToolResult)])

    @property
    def user_text(self) -> str:
        """The user's own words, typed or given through a tool; "" without any."""
        through = [block.user_text for block in self.blocks if isinstance(block, ToolResult) and block.user_text]
        if not self.starts_round:
            return "\n".join(through)
        typed = [block.text for block in self.blocks if isinstance(block, Text) and not block.injected]
        return "\n".join([*typed, *through])

    if not TYPE_CHECKING:  # a type checker reports the deprecated name

        @property
        def said(self) -> str:
            """Former name of `user_text`."""
            return _deprecated_said(self)

    @property
    def starts_round(self) -> bool:
        """True for a message that the user typed; each starts a round."""
        return self.role == "user" and self.kind == "normal"

    @property
    def is_summary(self) -> bool:
        """True for a summary message. One that also has the agent's next call does not count, because the call's result
        follows it."""
        return self.kind == "summary" and not self.calls

    @property
    def is_own_system(self) -> bool:
        """True for one of the session's own system messages, which no compaction changes."""
        return self.role == "system" and self.kind == "normal"
