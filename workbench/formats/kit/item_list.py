"""A document's list of items written anew: what is kept is copied, what is new is rendered.

One item may hold several messages (a call with its results) and one message may lie in several items (reasoning, text
and calls of one answer); an item is copied only when all of it is kept.
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
    """The new list for `document.splice`: indexes of items kept byte for byte, and the JSON of new ones.

    `own` are the messages of the loaded document, none where the messages come from another format. An item of which
    only a part is kept is rendered from its blocks. Boundaries are never written.
    """
    whole: dict[tuple[int, ...], list[str]] = {}
    for message in own:
        whole.setdefault(message.source, []).append(message.id)
    made: list[int | bytes] = []
    for source, run in groupby(messages, key=lambda message: message.source):
        group = list(run)
        if source and [message.id for message in group] == whole.get(source):
            made += source
        else:
            for message in group:
                made += map(as_json, render(message, losses) if message.kind != "boundary" else ())
    return made


def with_unread(made: Sequence[int | bytes], unread: Sequence[int]) -> list[int | bytes]:
    """The new list with the items that hold no message, each before the first kept item that it stood before."""
    whole: list[int | bytes] = []
    waiting = list(unread)
    for piece in made:
        while isinstance(piece, int) and waiting and waiting[0] < piece:
            whole.append(waiting.pop(0))
        whole.append(piece)
    return whole + waiting
