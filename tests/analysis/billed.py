"""Sessions whose usage can be worked out by hand: every character is a token (gpt-5: 4 more per message)."""

from __future__ import annotations

from workbench.session import Epoch, Message, Records, Session, Text, ToolResult, ToolUse, Usage

OVERHEAD = 5_000
LENGTH = 996
"""Characters of a result: 1 000 tokens a message."""


def session(bills: list[int], *, length: int = LENGTH, epochs: tuple[Epoch, ...] = (), **usage: int) -> Session:
    """A request, then for every bill an answer with a call of 100 tokens and a result of `length` characters."""
    messages = [Message("u", "user", (Text("u" * 96),))]
    for number, billed in enumerate(bills):
        call = ToolUse(f"t{number}", "r", "c" * 95)
        cached = usage.get("cached", 0)
        billing = Usage(billed - cached, usage.get("output", 0), cache_read=cached)
        messages.append(Message(f"a{number}", "assistant", (call,), usage=billing))
        messages.append(Message(f"r{number}", "tool", (ToolResult(f"t{number}", (Text("r" * length),)),)))
    return Session("codex", None, tuple(messages), Records(b""), model="gpt-5", epochs=epochs)


def right(calls: int, step: int = 1_100) -> list[int]:
    """The bills of a session whose context is shown as it was sent."""
    return [OVERHEAD + 100 + step * call for call in range(calls)]
