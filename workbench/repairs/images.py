"""Images in records: replace those above the limits of the API by a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from workbench.formats.fixes import Fault
from workbench.formats.kit.sheet import Path, RepairSheet, SheetEntry, entry_of, value_at
from workbench.formats.kit.values import dict_of, text_of
from workbench.session import Media, Message, Session
from workbench.session.images import pixels_of_encoded
from workbench.session.message import Pixels
from workbench.tokens.request_limits import ExcessImage, Limit, excess_images, images_of, request_bytes, session_limits

SHORTEST = 40
"""Length in characters of the shortest text that is examined as an image."""

_MAGIC = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
"""First characters of PNG, JPEG, GIF and WebP in base64."""

_DATA_URL = re.compile(r"data:image/[\w.+-]+(?:;[\w=.-]+)*;base64,")

_IMAGE_FAULTS = {
    Limit.PIXELS: Fault.IMAGE_PIXELS,
    Limit.BYTES: Fault.IMAGE_BYTES,
    Limit.COUNT: Fault.IMAGE_COUNT,
    Limit.REQUEST: Fault.REQUEST_BYTES,
}


def limit_images(sheet: RepairSheet, session: Session) -> None:
    """Replace the images that put the newest context above the limits of its API."""
    context = session.context()
    limits = session_limits(session)
    if limits is None:
        return
    images = sum(image.media.size for image in images_of(context))
    if limits.request_bytes is not None and (rest := request_bytes(context) - images) > limits.request_bytes:
        sheet.unrepaired(Fault.REQUEST_BYTES, subject=rest)
    for image in reversed(excess_images(context, limits)):
        for entry in _holders(sheet, session, context[image.message]):
            blocks = [block for block in image_blocks(entry.value) if block.is_image(image.media)]
            if blocks:
                _replace(sheet, entry, blocks[-1], image)
                break


def _holders(sheet: RepairSheet, session: Session, message: Message) -> list[SheetEntry]:
    """Return the records of a message, newest first; for a document that is a single entry, that entry."""
    if len(sheet.entries) == 1:
        return sheet.entries
    found = [entry_of(sheet, sheet.entries, session, record) for record in reversed(message.source)]
    return [entry for entry in found if entry is not None]


def _replace(sheet: RepairSheet, entry: SheetEntry, block: ImageBlock, image: ExcessImage) -> None:
    text = f"[{image}: {image.reason}; removed by a repair]"
    replacement = text_block(value_at(entry.value, block.path), text)
    assert replacement is not None, "an image is found by its block"
    entry.put(block.path, replacement)
    sheet.fixed(_IMAGE_FAULTS[image.limit], entry, f"{image}: {image.reason}")


class ImageBlock(Struct, frozen=True):
    """An image in a record. `path` leads to the block that a text replaces. `sizes` are the lengths of the base64 data
    and of the data URL; readers use either."""

    path: Path
    sizes: tuple[int, int]
    pixels: Pixels | None

    def is_image(self, media: Media) -> bool:
        """Return True for the media that a reader makes of this block."""
        return media.size in self.sizes and media.pixels == self.pixels


def image_blocks(value: Any) -> list[ImageBlock]:
    """Return the images in a record, in order."""
    found: list[ImageBlock] = []
    for path, text in _texts(value, ()):
        url = _DATA_URL.match(text)
        data_size = len(text) - (url.end() if url else 0)
        is_image = text.startswith(_MAGIC, url.end() if url else 0)
        if is_image and (block := _block_path(value, path)) is not None:
            pixels = pixels_of_encoded(text[url.end() :] if url else text)
            found.append(ImageBlock(block, (data_size, len(text)), pixels))
    return found


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, (*path, number))
    elif isinstance(value, str) and len(value) >= SHORTEST and value.startswith((*_MAGIC, "data:image/")):
        yield path, value


def _block_path(value: Any, path: Path) -> Path | None:
    """Return the path of the block that holds the image; None for a text outside a block, as in tool arguments."""
    for stop in (len(path) - 1, len(path) - 2):
        if stop >= 0 and text_block(value_at(value, path[:stop]), "") is not None:
            return path[:stop]
    return None


def text_block(block: Any, text: str) -> dict[str, Any] | None:
    """Return the text block that replaces an image block of a known API; None for any other value."""
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if kind in ("image", "media") and (isinstance(block.get("source"), dict) or isinstance(block.get("data"), str)):
        return {"type": "text", "text": text}
    if kind == "image_url" and "image_url" in block:
        return {"type": "text", "text": text}
    if kind == "input_image":
        return {"type": "input_text", "text": text}
    if kind == "file" and text_of(block.get("mime")).startswith("image/") and "url" in block:
        ids = {key: block[key] for key in ("id", "sessionID", "messageID") if key in block}
        return {**ids, "type": "text", "text": text}
    for key in ("inlineData", "inline_data"):
        if "data" in dict_of(block.get(key)):
            return {"text": text}
    return None
