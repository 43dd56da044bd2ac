"""Storage of message kinds that do not follow from the items.

An assistant item may have an id, which then contains the kind. The API accepts no id on user and system items, so the
`metadata` of the body holds their kinds: https://platform.openai.com/docs/api-reference/responses/create.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from workbench.formats.kit.blocks import as_text
from workbench.formats.kit.document import Item, render
from workbench.formats.kit.jsonl import loads
from workbench.formats.kit.marks import MARK
from workbench.formats.kit.values import dict_of
from workbench.session import Kind, Message

_ID = re.compile(r"msg_(normal|summary|meta)_\d+")
_KIND_ENTRY = re.compile(r"(?<!\S)(\d{1,9})=(normal|summary|meta)(?!\S)")
_LONGEST = 512
"""Length in characters of the longest `metadata` value that the API accepts."""


def id_of(message: Message) -> str:
    """Return an id for a message's item that contains its kind."""
    return f"msg_{message.kind}_{crc32(message.id.encode(errors='replace'))}"


def kind_in(item: Item) -> Kind | None:
    """Return the kind in an item's id, None without one."""
    found = _ID.fullmatch(as_text(item.get("id") or ""))
    return found[1] if found else None  # type: ignore[return-value]


def kinds_in(body: Item) -> dict[int, Kind]:
    """Return the kinds in a body's metadata, by item index from 0."""
    entries = as_text(dict_of(body.get("metadata")).get(MARK) or "")
    return {int(place): kind for place, kind in _KIND_ENTRY.findall(entries)}


def with_kinds_in_metadata(pieces: Sequence[int | bytes], body: Item) -> tuple[list[int | bytes], Item | None]:
    """Return the pieces (index of a loaded item, or a new item) without ids on user and system items, and the body's
    metadata with the kinds of these items; None if the body needs no metadata. Kinds that do not fit are lost."""
    loaded = kinds_in(body)
    kinds: dict[int, Kind] = {}
    items: list[int | bytes] = []
    for place, piece in enumerate(pieces):
        if isinstance(piece, int):
            kind = loaded.get(piece)
        else:
            piece, kind = _without_id(piece)
        if kind:
            kinds[place] = kind
        items.append(piece)
    others = {key: value for key, value in dict_of(body.get("metadata")).items() if key != MARK}
    if kinds:
        return items, others | {MARK: " ".join(_fitting(kinds))}
    return items, others if body.get("metadata") else None


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
