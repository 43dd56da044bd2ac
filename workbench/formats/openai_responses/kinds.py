"""Kinds of messages that their items do not show.

An item of the model's may have an id, which then says it. The API knows none on what the user or the system says, so
that a body's `metadata` says it for them: https://platform.openai.com/docs/api-reference/responses/create.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import render
from workbench.formats.kit.item_list import Item
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.mark import MARK
from workbench.formats.kit.values import dict_of
from workbench.session import Kind, Message

_ID = re.compile(r"msg_(normal|summary|meta)_\d+")
_NOTED = re.compile(r"(?<!\S)(\d{1,9})=(normal|summary|meta)(?!\S)")
_LONGEST = 512
"""Characters of a value of `metadata`, which the API refuses if it has more."""


def id_of(message: Message) -> str:
    """An id for a message's item that says its kind."""
    return f"msg_{message.kind}_{crc32(message.id.encode(errors='replace'))}"


def kind_in(item: Item) -> Kind | None:
    """The kind that an item's id says."""
    found = _ID.fullmatch(as_text(item.get("id") or ""))
    return found[1] if found else None  # type: ignore[return-value]


def kinds_in(body: Item) -> dict[int, Kind]:
    """The kinds that a body's metadata say, by the places of their items from 0."""
    noted = as_text(dict_of(body.get("metadata")).get(MARK) or "")
    return {int(place): kind for place, kind in _NOTED.findall(noted)}


def noted(pieces: Sequence[int | bytes], body: Item) -> tuple[list[int | bytes], Item | None]:
    """The list for a body without ids on what the user or the system says, and its metadata with their kinds.

    Kinds that it has no room for are lost. None where the body has no metadata and needs none.
    """
    loaded = kinds_in(body)
    kinds: dict[int, Kind] = {}
    made: list[int | bytes] = []
    for place, piece in enumerate(pieces):
        if isinstance(piece, int):
            kind = loaded.get(piece)
        else:
            piece, kind = _without_id(piece)
        if kind:
            kinds[place] = kind
        made.append(piece)
    others = {key: value for key, value in dict_of(body.get("metadata")).items() if key != MARK}
    if kinds:
        return made, others | {MARK: " ".join(_fitting(kinds))}
    return made, others if body.get("metadata") else None


def _without_id(piece: bytes) -> tuple[bytes, Kind | None]:
    item: dict[str, Any] = loads(piece)
    kind = kind_in(item)
    if kind is None or item.get("role") == "assistant":
        return piece, None
    del item["id"]
    return render(item), kind


def _fitting(kinds: Mapping[int, Kind]) -> Iterator[str]:
    length = -1
    for place, kind in kinds.items():
        word = f"{place}={kind}"
        length += len(word) + 1
        if length > _LONGEST:
            return
        yield word
