"""Limits of one request besides tokens, and the images of a context that exceed them.

In short, for a context that is or would be sent:

    limits = session_limits(session)                              # None: nothing is documented for its model
    for image in excess_images(messages, limits):                 # exactly those to be replaced or dropped
        image.message, image.block, image.part                    # indexes: messages[…].blocks[…].content[…]
        str(image)                                                # "image/png, 2162 × 322 px, 13 708 bytes"
        image.reason                                              # "more than 2 000 px a side, …"

`excess_images` returns as few images as possible. Without them the context is within every limit for images. If the
request has too many bytes, the largest images are added until the rest fits. `request_bytes` is the size of the JSON
body. The figures and their sources are in `limits.toml` next to this module. `session.media_of` reads pixels from the
data.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.base.values import json_text
from workbench.session import Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse
from workbench.tokens.models import find, plain_name

TABLE = Path(__file__).resolve().parent / "limits.toml"

_ENVELOPE = 60
"""Bytes of JSON keys and quotes that each message adds to a request, and each block."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request to `api`; None if not documented. `source`: who documents them."""

    api: str
    source: str
    image_side: int | None = None
    many_images: int | None = None
    many_side: int | None = None
    image_bytes: int | None = None
    images: int | None = None
    request_bytes: int | None = None

    def side(self, images: int) -> int | None:
        """Longest side in pixels that an image may have in a request with this number of images; None if unlimited."""
        many = self.many_images is not None and images > self.many_images
        return self.many_side if many and self.many_side is not None else self.image_side

    def as_stated(self, error: str) -> RequestLimits:
        """Limits with the figures that an API error names in place of the documented ones."""
        stated = self
        if many := _MANY.search(error):
            stated = replace(stated, many_side=_number(many["side"]))
        elif side := _SIDE.search(error):
            stated = replace(stated, image_side=_number(side["side"]))
        if size := _BYTES.search(error):
            stated = replace(stated, image_bytes=_number(size["most"]))
        return stated


_MANY = re.compile(r"many-image requests?\D{0,5}(?P<side>\d[\d,]{0,17}) ?(?:px|pixels)", re.IGNORECASE)
_SIDE = re.compile(r"exceeds? max(?:imum)? allowed size:? (?P<side>\d[\d,]{0,17}) ?(?:px|pixels)", re.IGNORECASE)
_BYTES = re.compile(r"image exceeds [\d.]+ MB maximum: [\d,]+ bytes > (?P<most>\d[\d,]{0,17}) bytes", re.IGNORECASE)


def _number(figure: str) -> int:
    return int(figure.replace(",", ""))


class _Entry(Struct, frozen=True):
    limits: RequestLimits
    models: tuple[str, ...]
    providers: tuple[str, ...]
    agents: tuple[str, ...]
    up_to_window: int | None


def session_limits(session: Session) -> RequestLimits | None:
    """Limits of a request that continues the session, with the figures that its API errors state; None if none are
    documented for its model. Raises BadInput for a broken table of models."""
    limits = limits_of(session.model, session.facts.provider, session.format)
    if limits is None:
        return None
    for error in session.facts.api_errors:
        limits = limits.as_stated(error.text)
    return limits


def limits_of(model: str | None, provider: str = "", agent: str = "") -> RequestLimits | None:
    """Limits of a request to the model at `provider`, sent by `agent` (id of a format); None if none are documented for
    the model."""
    name, where = plain_name(model or ""), f"{provider} {model}".lower()
    for entry in _entries():
        if not name.startswith(entry.models) or (entry.providers and not any(one in where for one in entry.providers)):
            continue
        if entry.agents and agent not in entry.agents:
            continue
        if entry.up_to_window is None or ((info := find(model)) and info.window <= entry.up_to_window):
            return entry.limits
    return None


@cache
def _entries() -> tuple[_Entry, ...]:
    entries = []
    for fields in tomllib.loads(TABLE.read_text(encoding="utf-8"))["limits"]:
        models, providers = tuple(fields.pop("models")), tuple(fields.pop("providers", ()))
        agents, up_to = tuple(fields.pop("agents", ())), fields.pop("up_to_window", None)
        entries.append(_Entry(RequestLimits(**fields), models, providers, agents, up_to))
    return tuple(entries)


class Limit(StrEnum):
    """Reason to remove an image: a limit that the image exceeds, or that the request exceeds."""

    PIXELS = "pixels"
    BYTES = "bytes"
    COUNT = "count"
    REQUEST = "request"


@dataclass(frozen=True, slots=True)
class Image:
    """Image or document of a context: block `block` of message `message`, or part `part` of that block if it is a tool
    result."""

    message: int
    block: int
    part: int | None
    media: Media

    def __str__(self) -> str:
        """`image/png, 2 162 × 322 px, 13 708 bytes`: the bytes of its base64 text."""
        pixels = self.media.pixels
        size = f", {grouped(pixels[0])} × {grouped(pixels[1])} px" if pixels else ""
        return f"{self.media.media_type}{size}, {grouped(self.media.size)} bytes"


@dataclass(frozen=True, slots=True)
class ExcessImage(Image):
    """Image that must be removed. `most`: the limit's figure. `images`: number of images in the request."""

    limit: Limit
    most: int
    images: int

    @property
    def reason(self) -> str:
        """Limit in words, to end a sentence about the image."""
        most = grouped(self.most)
        match self.limit:
            case Limit.PIXELS:
                return f"more than {most} px a side in a request with {counted(self.images, 'image')}"
            case Limit.BYTES:
                return f"more than {most} bytes of base64"
            case Limit.COUNT:
                return f"one of {counted(self.images, 'image')}, more than {most} in a request"
        return f"part of a request of more than {most} bytes"


def images_of(messages: Sequence[Message]) -> tuple[Image, ...]:
    """Images and documents of a context, in order."""
    return tuple(_images(messages))


def _images(messages: Sequence[Message]) -> Iterator[Image]:
    for number, message in enumerate(messages):
        if message.kind == "boundary":
            continue
        for at, block in enumerate(message.blocks):
            if isinstance(block, Media):
                yield Image(number, at, None, block)
            elif isinstance(block, ToolResult):
                for part, content in enumerate(block.content):
                    if isinstance(content, Media):
                        yield Image(number, at, part, content)


def excess_images(
    messages: Sequence[Message], limits: RequestLimits, *, unseen_bytes: int = 0
) -> tuple[ExcessImage, ...]:
    """Images that must be removed to bring the context within the limits, in order.

    `unseen_bytes`: bytes of the request outside the messages (system prompt, tools). The limit on pixels is that for
    the number of images before any is removed, so the remaining images meet it whatever else is removed.
    """
    images = images_of(messages)
    over: dict[int, ExcessImage] = {}

    def add(at: int, limit: Limit, most: int) -> None:
        one = images[at]
        over[at] = ExcessImage(one.message, one.block, one.part, one.media, limit, most, len(images))

    side = limits.side(len(images))
    for at, one in enumerate(images):
        if limits.image_bytes is not None and one.media.size > limits.image_bytes and _is_image(one.media):
            add(at, Limit.BYTES, limits.image_bytes)
        elif side is not None and one.media.pixels is not None and max(one.media.pixels) > side:
            add(at, Limit.PIXELS, side)
    left = [at for at in range(len(images)) if at not in over]
    if limits.images is not None:
        for at in left[: max(0, len(left) - limits.images)]:  # the oldest
            add(at, Limit.COUNT, limits.images)
    if limits.request_bytes is not None:
        room = limits.request_bytes - unseen_bytes - request_bytes(messages)
        room += sum(one.media.size for one in over.values())
        largest = sorted((at for at in left if at not in over), key=lambda at: -images[at].media.size)
        for at in largest:
            if room >= 0:
                break
            room += images[at].media.size
            add(at, Limit.REQUEST, limits.request_bytes)
    return tuple(over[at] for at in sorted(over))


def _is_image(media: Media) -> bool:
    return media.pixels is not None or media.media_type.startswith("image")


def request_bytes(messages: Sequence[Message]) -> int:
    """Estimated bytes of the messages in the JSON body of a request, media in base64. Exact bytes vary, because agents
    order keys and escape texts differently."""
    total = 0
    for message in messages:
        if message.kind != "boundary":
            total += _ENVELOPE + sum(
                _ENVELOPE + sum(_bytes(part) for part in _parts(block)) for block in message.blocks
            )
    return total


def _parts(block: object) -> Iterator[str | Media]:
    match block:
        case Text(text):
            yield text
        case Thinking(text, signature):
            yield text
            yield signature
        case ToolUse(id, name, given):
            yield from (id, name, given if isinstance(given, str) else json_text(given))
        case ToolResult(call_id, content):
            yield call_id
            for part in content:
                yield from _parts(part)
        case Media():
            yield block
        case Opaque(_, raw):
            yield json_text(raw)


def _bytes(part: str | Media) -> int:
    """Bytes of a text in JSON, without its quotes, or of base64."""
    if isinstance(part, Media):
        return part.size
    escaped = part.count("\n") + part.count('"') + part.count("\\") + part.count("\t")
    return (len(part) if part.isascii() else len(part.encode("utf-8", "surrogatepass"))) + escaped
