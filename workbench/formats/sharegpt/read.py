"""Read ShareGPT data sets."""

from __future__ import annotations

from typing import Any

from workbench.base.errors import BadInput
from workbench.formats.format import Progress, no_progress
from workbench.formats.kit.blocks import arguments_of, as_text
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.document import parse
from workbench.formats.kit.jsonl import loads_text, objects_of, records_of
from workbench.formats.kit.names import first_words
from workbench.formats.kit.several import Numbered
from workbench.formats.kit.values import dict_of, list_of, text_of, word_of
from workbench.formats.sharegpt import ID
from workbench.session import LoadWarning, Message, Records, Role, Session, Text, ToolResult, ToolUse

_ROLES: dict[str, Role] = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "system": "system",
    "observation": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "tool": "tool",
    "function": "tool",
}
_CALLS = ("function_call", "tool_call")


class Reader(Numbered[dict[str, Any]]):
    def read_entries(self, progress: Progress) -> list[dict[str, Any]]:
        data = self.data
        found = objects_of(records_of(data), len(data), Records(data), self.warnings, no_progress)
        lines = [value for value, _, _ in found]
        if len(lines) < 2 or "conversations" not in lines[0]:
            document, self.warnings = parse(self.path, data)
            lines = [*map(dict_of, document if isinstance(document, list) else [document])]
        entries = [line for line in lines if _turns(line)]
        if not entries:
            raise BadInput(f"{self.path}: has no conversation with a turn; open a ShareGPT data set.")
        return entries

    def describe(self, entry: dict[str, Any]) -> tuple[str, int]:
        return first_words(_messages(entry, [])), len(_turns(entry))

    def session(self, entry: dict[str, Any]) -> Session:
        messages = _messages(entry, self.warnings)
        return Session(
            format=ID,
            path=self.path,
            messages=messages,
            records=Records(self.data),
            id=as_text(entry.get("id") or ""),
            title=first_words(messages),
            model=word_of(entry.get("model")),
            system=text_of(entry.get("system")),
            tools=tools_of(_tools(entry.get("tools"))),
            warnings=tuple(self.warnings),
        )


def _turns(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [turn for turn in list_of(entry.get("conversations")) if isinstance(turn, dict)]


def _tools(definitions: Any) -> Any:
    """Return tool definitions, which may be JSON text."""
    if not isinstance(definitions, str):
        return definitions
    try:
        return loads_text(definitions)
    except ValueError:
        return None


def _messages(entry: dict[str, Any], warnings: list[LoadWarning]) -> tuple[Message, ...]:
    """Return the messages of an entry. Calls have no ids, so a result answers the oldest waiting call."""
    waiting: list[str] = []
    messages: list[Message] = []
    for number, turn in enumerate(_turns(entry), 1):
        named = text_of(turn.get("from", turn.get("role"))).lower().replace("-", "_")
        value = turn.get("value", turn.get("content"))
        role = _ROLES.get(named)
        if role is None:
            warnings.append(LoadWarning(f"turn {number} has the role {named[:40] or 'none'}; read as user"))
        if named in _CALLS:
            calls = _calls(value, f"call-{number}")
            waiting += [call.id for call in calls]
            messages.append(Message(f"m{number}", "assistant", calls or (Text(as_text(value)),)))
        elif role == "tool":
            answered = waiting.pop(0) if waiting else ""
            messages.append(Message(f"m{number}", "tool", (ToolResult(answered, (Text(as_text(value)),)),)))
        else:
            text = "" if value is None else as_text(value)
            messages.append(Message(f"m{number}", role or "user", (Text(text),) if text else ()))
    return tuple(messages)


def _calls(value: Any, id: str) -> tuple[ToolUse, ...]:
    """Return the calls of a turn: `{name, arguments}` as text, or a list of them; empty for any other value."""
    try:
        decoded = loads_text(value) if isinstance(value, str) else value
    except ValueError:
        return ()
    items = decoded if isinstance(decoded, list) else [decoded]
    named = [(name, item) for item in map(dict_of, items) if (name := word_of(item.get("name")))]
    return tuple(
        ToolUse(id if len(named) == 1 else f"{id}-{place}", name, arguments_of(item.get("arguments")))
        for place, (name, item) in enumerate(named, 1)
    )
