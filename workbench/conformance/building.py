"""Messages, contexts and sessions for tests, in one line each. Tokens are counted without a tokenizer."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.compaction.context import Context, Layout
from workbench.compaction.shape import Shape
from workbench.session import Block, Kind, Message, Records, Session, Text, ToolResult, ToolUse
from workbench.tokens.sizes import Basis, Sizes, visible_chars
from workbench.tokens.window import Window


@dataclass(frozen=True, slots=True)
class QuarterMeter:
    """Meter that counts four characters as a token, so that tests can compute sizes."""

    method: str = "characters / 4"
    basis: Basis = Basis.CALIBRATED

    def tokens(self, message: Message) -> int:
        return visible_chars(message) // 4 + 1

    def text_tokens(self, text: str) -> int:
        return len(text) // 4


METER = QuarterMeter()


def user(id: str, text: str, kind: Kind = "normal") -> Message:
    return Message(id, "user", (Text(text),), kind=kind)


def agent(id: str, text: str = "", *calls: ToolUse, kind: Kind = "normal") -> Message:
    blocks: tuple[Block, ...] = (*((Text(text),) if text else ()), *calls)
    return Message(id, "assistant", blocks, kind=kind)


def call(id: str, name: str = "Bash", **given: Any) -> ToolUse:
    return ToolUse(id, name, given)


def result(id: str, *answers: tuple[str, str], error: bool = False) -> Message:
    return Message(id, "tool", tuple(ToolResult(of, (Text(text),), error) for of, text in answers))


def summary(id: str, text: str) -> Message:
    return Message(id, "user", (Text(text),), kind="summary")


def context_of(messages: Sequence[Message], **wishes: Any) -> Context:
    """Return a context of these messages. `wishes` are fields of `Context`, and `window`: the user's window in
    tokens."""
    window = wishes.pop("window", None)
    if window:
        wishes["limit"] = Window(window, "given")
    tokens = array("q", map(METER.tokens, messages))
    sizes = Sizes(tokens, Basis.CALIBRATED, 0, Basis.CALIBRATED, 0, METER)
    return Context(Layout(Shape(tuple(messages)), sizes), **wishes)


def chat(rounds: int, prefix: str = "") -> list[Message]:
    """Return rounds of one request and one answer without calls."""
    out: list[Message] = []
    for n in range(rounds):
        out += [user(f"{prefix}u{n}", f"request {prefix}{n}"), agent(f"{prefix}a{n}", f"answer {prefix}{n}")]
    return out


def loop(prefix: str, count: int, text: str = "x" * 200, name: str = "Bash") -> list[Message]:
    """Return one round with a tool loop of `count` calls."""
    out = [user(f"{prefix}u", f"request {prefix}")]
    for n in range(count):
        out += [
            agent(f"{prefix}a{n}", "", call(f"{prefix}c{n}", name, command="ls", file_path=f"{prefix}{n}.py")),
            result(f"{prefix}r{n}", (f"{prefix}c{n}", text)),
        ]
    return [*out, agent(f"{prefix}z", f"answer {prefix}")]


def session_of(messages: Sequence[Message], format: str = "made", **fields: Any) -> Session:
    """Return a session of one epoch without a file."""
    return Session(format, None, tuple(messages), Records(b""), **fields)
