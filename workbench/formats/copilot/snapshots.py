"""The requests of which Copilot CLI keeps the messages, in events of their own."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.formats.kit.jsonl import object_of
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Session


def request_texts(session: Session) -> Iterator[str]:
    """Text at the end of each, without its first message; "" for one without a text of the user."""
    return map(_last_text, session.records)


def _last_text(record: bytes) -> str:
    event = object_of(record) if b'"model.messages_snapshot"' in record else None
    messages = [dict_of(one) for one in list_of(dict_of(dict_of(event).get("data")).get("messages"))]
    asked = [one.get("content") for one in messages[1:] if one.get("role") == "user"]
    return text_of(asked[-1]).strip() if asked else ""
