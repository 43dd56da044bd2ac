"""Recognise Google ADK sessions."""

from __future__ import annotations

from typing import Any

from workbench.formats.kit.item_list import Item
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

ID = "adk"
KEYS = frozenset(
    ["app_name", "appName", "events", "id", "invocation_id", "invocationId", "author", "user_id", "userId", "state"]
)


def recognise(look: Look) -> str:
    body = dict_of(look.document)
    events = body.get("events")
    owned = either(body, "app_name") is not None and either(body, "user_id") is not None
    if owned and (isinstance(events, list) or "state" in body):
        return "events with app_name and user_id"
    first = dict_of(events[0]) if isinstance(events, list) and events else {}
    return "events with author and invocation id" if "author" in first and either(first, "invocation_id") else ""


def camel(key: str) -> str:
    """Return a snake_case key in camelCase."""
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def either(holder: Item, key: str) -> Any:
    """Return the value of a key written in snake_case or in camelCase, None without it."""
    return holder[key] if key in holder else holder.get(camel(key))
