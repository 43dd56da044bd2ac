"""OpenAI chat messages inside other formats: SWE-agent, mini-swe-agent and tau-bench, which add keys of their own.

These formats do not record the kind of a message, so each has a rule (`Kinds`) that derives the kinds from the entire
list; a writer stores the kind in a message for which the rule would return another one.
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
    """Return the messages of a list of chat items; message `n` has the source `(n,)`."""
    session = Reader.read(path, render({"messages": list(items)}), no_progress)
    warnings += session.warnings
    return session.messages


def pieces(
    raws: Sequence[bytes],
    messages: Sequence[Message],
    convert: Callable[[Item], Item],
    kinds: Kinds,
    mark: Callable[[bytes, Kind], bytes],
) -> tuple[list[bytes], Losses]:
    """Return the elements of the new list, kept ones unchanged and new ones rendered and converted, and the losses.

    `raws` are the elements of the loaded list, empty for a session of another format. A message with several results
    gives as many elements.
    """
    losses: Losses = []
    elements: list[bytes] = []
    expected_kinds: list[Kind] = []
    for message in messages:
        if message.kind == "boundary":
            continue
        if raws and message.source:
            own = [raws[message.source[0]]]
        else:
            own = [render(convert(item)) for item in _rendered(message, losses, own=bool(raws))]
        elements += own
        expected_kinds += [message.kind] * len(own)
    found = kinds([loads(raw) for raw in elements])
    return [
        mark(raw, expected_kind) if kind != expected_kind and raw.startswith(b"{") else raw
        for raw, kind, expected_kind in zip(elements, found, expected_kinds, strict=True)
    ], losses


def _rendered(message: Message, losses: Losses, *, own: bool) -> list[Item]:
    """Return a message as chat items, without their `name`, which would be sent."""
    return [{key: value for key, value in item.items() if key != "name"} for item in rendered(message, losses, own=own)]
