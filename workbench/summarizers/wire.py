"""A context as the Messages API takes it: what is counted and compacted on the server is what an export would send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from workbench.base.errors import BadInput
from workbench.formats.anthropic_messages.write import write as anthropic_body
from workbench.session import Message, Session


def wire_body(session: Session, messages: Sequence[Message]) -> dict[str, Any]:
    """`system`, `tools` and `messages` as the exporter writes them, of any session; no model, no limits.

    Kept messages of a Messages API body go byte for byte, images included; in other formats images are placeholders.
    Raises BadInput when nothing of the messages can be sent.
    """
    written = orjson.loads(anthropic_body(session, messages).data)
    document: dict[str, Any] = written if isinstance(written, dict) else {"messages": written}
    if not any(message.kind != "boundary" and message.blocks for message in messages) or not document.get("messages"):
        raise BadInput("Nothing of this context can be sent to the Messages API; choose another part of the session.")
    return {name: document[name] for name in ("system", "tools", "messages") if document.get(name)}
