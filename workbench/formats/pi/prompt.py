"""System messages of pi 0.86 and later: prompt sections and tool declarations, replayed as pi replays them.

The first one declares the whole prompt and every tool; each later one names what changes. pi-ai, `utils/transcript.js`
and `utils/text.js`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbench.formats.kit.document import render
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Tool


def prompt_text(message: Mapping[str, Any]) -> str:
    """The text of a system message as a complete prompt."""
    sections = (value for _, value in _sections(message) if value)
    return "\n\n".join(filter(None, (_content(message), *sections)))


def update_text(message: Mapping[str, Any]) -> str:
    """The text of a later system message, where it stands in the conversation: each change names its section."""
    changes = (
        f'Removed system prompt section "{name}".'
        if value is None
        else f'Updated system prompt section "{name}":\n\n{value}'
        for name, value in _sections(message)
    )
    return "\n\n".join(filter(None, (_content(message), *changes)))


def replayed(messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One system message with the prompt and the tools that are in force after all of these, without a timestamp."""
    content: list[str] = []
    sections: dict[str, str] = {}
    tools: dict[str, Any] = {}
    for message in messages:
        content += filter(None, [_content(message)])
        for name, value in _sections(message):
            if value is None:
                sections.pop(name, None)
            else:
                sections[name] = value
        for tool in list_of(message.get("toolsRemoved")):
            tools.pop(text_of(dict_of(tool).get("name")), None)
        for tool in list_of(message.get("toolsAdded")):
            tools[text_of(dict_of(tool).get("name"))] = tool
    merged: dict[str, Any] = {"role": "system", "content": "\n\n".join(content)}
    merged |= {"sections": sections} if sections else {}
    return merged | ({"toolsAdded": [*tools.values()]} if tools else {})


def declared_tools(messages: Iterable[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """The tools in force after all of these system messages."""
    tools = map(dict_of, list_of(replayed(messages).get("toolsAdded")))
    return tuple(Tool(text_of(tool.get("name")), render(tool).decode()) for tool in tools if tool.get("name"))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    parts = (part for part in map(dict_of, list_of(content)) if part.get("type") == "text")
    return content if isinstance(content, str) else "\n".join(text_of(part.get("text")) for part in parts)


def _sections(message: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    for name, value in dict_of(message.get("sections")).items():
        if value is None or isinstance(value, str):
            yield name, value
