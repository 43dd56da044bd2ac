"""Short ways to write messages down."""

from __future__ import annotations

from itertools import count
from typing import Any

from workbench.session import Kind, Message, Text, ToolResult, ToolUse

_numbers = count(1)


def user(text: str, kind: Kind = "normal") -> Message:
    return Message(f"u{next(_numbers)}", "user", (Text(text),), kind)


def injecting(put_in: str, text: str) -> Message:
    """A person's message into which a tool put something."""
    return Message(f"u{next(_numbers)}", "user", (Text(put_in, injected=True), Text(text)))


def agent(text: str = "", *calls: ToolUse) -> Message:
    blocks = ((Text(text),) if text else ()) + calls
    return Message(f"a{next(_numbers)}", "assistant", blocks)


def call(name: str, given: dict[str, Any] | str, id: str = "") -> ToolUse:
    return ToolUse(id or f"call-{next(_numbers)}", name, given)


def result(of: ToolUse, text: str, *, is_error: bool = False) -> Message:
    return Message(f"t{next(_numbers)}", "tool", (ToolResult(of.id, (Text(text),), is_error),))


def answered(of: ToolUse, said: str) -> Message:
    """A result through which the person speaks."""
    content = (Text(f"User has answered: {said}. You can now continue."),)
    return Message(f"t{next(_numbers)}", "tool", (ToolResult(of.id, content, user_text=said),))


def ran(command: str, output: str, *, is_error: bool = False) -> tuple[Message, Message]:
    """A Bash call and its result."""
    used = call("Bash", {"command": command})
    return agent("", used), result(used, output, is_error=is_error)


def edited(path: str) -> tuple[Message, Message]:
    used = call("Edit", {"file_path": path, "old_string": "a", "new_string": "b"})
    return agent("", used), result(used, "The file has been updated.")
