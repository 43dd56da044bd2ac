"""Content of requests to the Gemini API and of its responses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.formats.gemini.parts import NOWHERE, messages_of
from workbench.formats.kit.chat import tools_of
from workbench.formats.kit.contents import Calls
from workbench.formats.kit.usage import usage_of_prompt
from workbench.formats.kit.values import count_of, dict_of, list_of, word_of
from workbench.session import Message, Text, Tool


def request_parts(body: dict[str, Any]) -> tuple[tuple[Message, ...], tuple[Tool, ...], int]:
    """Return a request's messages, beginning with its system instruction, its tools, and the number of its contents."""
    instruction = body.get("systemInstruction", body.get("system_instruction"))
    parts = list_of(dict_of(instruction).get("parts")) or ([instruction] if instruction else [])
    system = "\n\n".join(text for part in parts if (text := word_of(dict_of(part).get("text"))))
    messages: list[Message] = [Message("system", "system", (Text(system),))] if system else []
    calls, contents = Calls(), list_of(body.get("contents"))
    for number, content in enumerate(map(dict_of, contents)):
        messages += _content(content, f"m{number}", calls)
    declared = [
        one for tool in map(dict_of, list_of(body.get("tools"))) for one in list_of(tool.get("functionDeclarations"))
    ]
    return tuple(messages), tools_of(declared), len(contents)


def response_message(body: dict[str, Any], id: str) -> Message | None:
    """Return the first candidate with its usage; None without content."""
    content = dict_of(dict_of(next(iter(list_of(body["candidates"])), None)).get("content"))
    found = _content({**content, "role": "model"}, id, Calls())
    usage = dict_of(body.get("usageMetadata"))
    prompt, cached = count_of(usage.get("promptTokenCount")), count_of(usage.get("cachedContentTokenCount"))
    output = count_of(usage.get("candidatesTokenCount")) + count_of(usage.get("thoughtsTokenCount"))
    return replace(found[-1], usage=usage_of_prompt(prompt, output, cached)) if found else None


def _content(content: dict[str, Any], id: str, calls: Calls) -> list[Message]:
    type = "gemini" if content.get("role") == "model" else "user"
    return messages_of({"type": type, "content": list_of(content.get("parts"))}, id, NOWHERE, calls)
