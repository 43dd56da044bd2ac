"""pydantic-ai: the messages of a run as `ModelMessagesTypeAdapter` writes them.

A request holds parts of several roles: a system prompt, the user's words, tool results. Its `instructions` are sent
before all of them, and not kept by later requests. A provider's compaction in a response ends an epoch; system prompts
stay, because providers take them outside the messages. A summary by the application is in a request, in place of the
messages it removed. Checked with version 2.62. https://ai.pydantic.dev/message-history

No usual place: the program that runs the agent stores it.
"""

from __future__ import annotations

from typing import Any

from workbench.formats.format import Codec, Format
from workbench.formats.kit.values import dict_of, list_of
from workbench.formats.look import Look

ID = "pydantic-ai"
KEYS = frozenset(["instructions", "kind", "model_name", "part_kind", "parts", "tool_call_id", "tool_name"])

_LISTS = ("messages", "all_messages", "message_history")


def recognise(look: Look) -> str:
    items = items_of(look.document)
    return "requests and responses with parts that have a part_kind" if items and all(map(_is_message, items)) else ""


def items_of(document: Any) -> list[Any] | None:
    """Return the messages of a list, or of an object that has one under a usual name; None without one."""
    if isinstance(document, list):
        return document
    return next((found for key in _LISTS if isinstance(found := dict_of(document).get(key), list)), None)


def _is_message(item: Any) -> bool:
    fields = dict_of(item)
    parts = list_of(fields.get("parts"))
    return fields.get("kind") in ("request", "response") and all("part_kind" in dict_of(part) for part in parts)


def _codec() -> Codec:
    from workbench.formats.pydantic_ai import read

    return Codec(read.Reader.read)


FORMAT = Format(ID, "pydantic-ai messages", recognise, _codec, keys=KEYS)
