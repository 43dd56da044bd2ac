"""New list of items for a document: kept items are copied, new messages rendered.

One item may hold several messages (a call with its results), and one message may span several items (reasoning, text
and calls of one response). An item is copied only if all of it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from workbench.formats.kit.document import render as as_json
from workbench.formats.loss import Losses
from workbench.session import Message

Item = dict[str, Any]
Render = Callable[[Message, Losses], list[Item]]


def pieces(own: Sequence[Message], messages: Sequence[Message], render: Render, losses: Losses) -> list[int | bytes]:
    """Return the new list for `document.splice`: indexes of items to copy, and the JSON of new ones.

    `own` are the messages of the loaded document, empty if the messages come from another format. An item of which only
    a part is kept is rendered from its blocks. Boundaries are never written.
    """
    whole: dict[tuple[int, ...], list[str]] = {}
    for message in own:
        whole.setdefault(message.source, []).append(message.id)
    items: list[int | bytes] = []
    for source, run in groupby(messages, key=lambda message: message.source):
        group = list(run)
        if source and [message.id for message in group] == whole.get(source):
            items += source
        else:
            for message in group:
                items += map(as_json, render(message, losses) if message.kind != "boundary" else ())
    return items


def with_unread(items: Sequence[int | bytes], unread: Sequence[int]) -> list[int | bytes]:
    """Insert the items without a message into the new list, each before the first kept item that followed it."""
    whole: list[int | bytes] = []
    waiting = list(unread)
    for piece in items:
        while isinstance(piece, int) and waiting and waiting[0] < piece:
            whole.append(waiting.pop(0))
        whole.append(piece)
    return whole + waiting
