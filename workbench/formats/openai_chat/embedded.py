"""What SWE-agent's and mini-swe-agent's files have in common: OpenAI chat messages, with keys of their own.

Neither format says what kind of message one is, so each has a rule (`Kinds`) that reads it from the list as a whole; a
writer losses the kind in a message of which the rule would say something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.formats.format import no_progress
from workbench.formats.kit.document import render
from workbench.formats.kit.jsonl import loads
from workbench.formats.loss import Losses
from workbench.formats.openai_chat.read import Reader
from workbench.formats.openai_chat.write import rendered
from workbench.session import Kind, LoadWarning, Message

Item = dict[str, Any]
Kinds = Callable[[Sequence[Any]], list[Kind]]


def chat_messages(path: Path, items: Sequence[Any], warnings: list[LoadWarning]) -> tuple[Message, ...]:
    """The messages of a list of chat items; message `n` has the source `(n,)`."""
    session = Reader.read(path, render({"messages": list(items)}), no_progress)
    warnings += session.warnings
    return session.messages


def pieces(
    raws: Sequence[bytes],
    messages: Sequence[Message],
    dress: Callable[[Item], Item],
    kinds: Kinds,
    mark: Callable[[bytes, Kind], bytes],
) -> tuple[list[bytes], Losses]:
    """The elements of the new list: kept ones as they are, new ones rendered and dressed, and what to say of it.

    `raws` are the elements of the loaded list, empty for a session of another format. A message with several results
    gives as many elements.
    """
    losses: Losses = []
    made: list[bytes] = []
    wanted: list[Kind] = []
    for message in messages:
        if message.kind == "boundary":
            continue
        if raws and message.source:
            own = [raws[message.source[0]]]
        else:
            own = [render(dress(item)) for item in _rendered(message, losses, own=bool(raws))]
        made += own
        wanted += [message.kind] * len(own)
    found = kinds([loads(raw) for raw in made])
    return [
        mark(raw, want) if kind != want and raw.startswith(b"{") else raw
        for raw, kind, want in zip(made, found, wanted, strict=True)
    ], losses


def _rendered(message: Message, losses: Losses, *, own: bool) -> list[Item]:
    """A message as chat items. Their `name` is left out: it would be sent."""
    return [{key: value for key, value in item.items() if key != "name"} for item in rendered(message, losses, own=own)]
