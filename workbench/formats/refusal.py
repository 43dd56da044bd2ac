"""Explanation of a file that no format recognises: its appearance, the closest format, and a remedy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from workbench.base.text import clip
from workbench.formats.claude_code import is_iflows
from workbench.formats.format import Format
from workbench.formats.kit.compressed import ZIP, ZSTD
from workbench.formats.kit.database import SQLITE
from workbench.formats.kit.outline import outline
from workbench.formats.kit.values import dict_of
from workbench.formats.look import Look

NAMES = 6
"""Names of keys, columns, tables or files that are listed."""
LONGEST = 30
"""Characters of a name from the file."""
NEAR = 0.5
"""Score of two or more common keys at which a format is called close: a key of n formats scores 1/n."""

_UNPACK = "unpack it and open a session file in it"
_NAME = "open the session file that the agent wrote"
_GIVE = f"{_NAME}, or a JSON list of messages with role and content"
_WHOLE = "restore a whole copy and open that"

_MAGIC = {
    b"\x1f\x8b": ("gzip-compressed", _UNPACK),
    b"BZh": ("bzip2-compressed", _UNPACK),
    b"\xfd7zXZ\x00": ("xz-compressed", _UNPACK),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", _UNPACK),
    b"\x89PNG": ("an image", _NAME),
    b"\xff\xd8\xff": ("an image", _NAME),
    b"GIF8": ("an image", _NAME),
    b"%PDF": ("a PDF", _NAME),
    b"\x7fELF": ("a program", _NAME),
    b"\xff\xfe": ("UTF-16 text", "save it as UTF-8 and open that"),
    b"\xfe\xff": ("UTF-16 text", "save it as UTF-8 and open that"),
}
_REQUEST = "open its request, or the session that has both"
_ANSWERS = {
    "one response of the Messages API without its request": {"type", "role", "content"},
    "one response of Chat Completions without its request": {"object", "choices"},
    "one response of Gemini without its request": {"candidates"},
}
"""API responses without their request, with their characteristic keys."""
_SSE = re.compile(rb"(?:event|data|id|retry):[^\n]*\n")
_MARKUP = re.compile(rb"\s*<(?:!DOCTYPE|\?xml|html|[A-Za-z][\w-]*[ >/])", re.IGNORECASE)
_MARKDOWN = re.compile(rb"^(?:#{1,6} \S|```|[-*] \S|<!-- )", re.MULTILINE)
_CONTROLS = b"\x00\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x7f"


class _Appearance(Struct, frozen=True):
    """Appearance of a file, a remedy, and the keys of its objects."""

    what: str
    remedy: str = _GIVE
    keys: frozenset[str] = frozenset()


def explain_refusal(look: Look, formats: Iterable[Format]) -> str:
    """Explain why no format opens a file, in a sentence without the file's name."""
    seen = _appearance(look)
    near = _nearest(seen.keys, [*formats])
    return f"Not a known session format: {seen.what}{near}; {seen.remedy}."


def refused_folder(path: Path, inside: str) -> str:
    """Explain why no format opens a folder; `inside` is the name of a session found in it, if any."""
    try:
        names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in islice(path.iterdir(), 1000))
    except OSError:
        names = []
    holding = f" holding {_list_names(names)}" if names else " that is empty"
    remedy = f"open {path / inside}" if inside else "open a session file, or a folder that an agent keeps as a session"
    return f"{path} is a folder{holding}, not a known session format; {remedy}."


def _appearance(look: Look) -> _Appearance:
    head = look.head
    for magic, (what, remedy) in _MAGIC.items():
        if head.startswith(magic):
            return _Appearance(what, remedy)
    if head.startswith(SQLITE):
        if not look.tables:
            return _Appearance("an SQLite database that is damaged or empty", _WHOLE)
        return _Appearance(f"an SQLite database with {_named('table', [*look.tables])}", _NAME)
    if head.startswith(ZIP):
        if not look.members:
            return _Appearance("a zip archive that is damaged or empty", _WHOLE)
        return _Appearance(f"a zip archive holding {_list_names(look.members)}", _UNPACK)
    if head.startswith(ZSTD):
        inner = _appearance(look.unpacked) if look.unpacked is not None else None
        return (
            _Appearance(f"zstd-compressed, and inside {inner.what}", inner.remedy)
            if inner
            else _Appearance("damaged zstd data", _WHOLE)
        )
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return _json(look)
    if sum(map(head.count, (bytes([byte]) for byte in _CONTROLS))) * 50 > len(head):
        return _Appearance("a binary file", _NAME)
    return _text(head)


def _json(look: Look) -> _Appearance:
    lines = [record.value for record in look.records if isinstance(record.value, dict)]
    document = look.document
    if isinstance(document, dict):
        for what, having in _ANSWERS.items():
            if having <= document.keys():
                return _Appearance(what, _REQUEST)
        return _Appearance(f"a JSON object with {_named('key', [*document])}", keys=frozenset(map(str, document)))
    if isinstance(document, list):
        objects = [item for item in document if isinstance(item, dict)]
        if objects:
            keys = _keys(objects)
            return _Appearance(f"a JSON list of objects with {_named('key', keys)}", keys=frozenset(keys))
        return _Appearance("a JSON list without an object in it" if document else "an empty JSON list")
    if any(map(is_iflows, lines)):
        return _Appearance("a session of iFlow CLI, which is not supported", _GIVE.removeprefix(f"{_NAME}, or "))
    if lines:
        keys = _keys(lines)
        return _Appearance(f"JSON lines with {_named('key', keys)}", keys=frozenset(keys))
    cut = dict_of(outline(look.data)[0])
    return _Appearance("JSON that is damaged or cut off" + (f", with {_named('key', [*cut])}" if cut else ""), _WHOLE)


def _text(head: bytes) -> _Appearance:
    if _SSE.match(head):
        return _Appearance("a stream of server-sent events, one API response", _REQUEST)
    if _MARKUP.match(head):
        return _Appearance("XML or HTML", _NAME)
    if columns := _columns(head):
        return _Appearance(f"a table with {_named('column', columns)}")
    if _MARKDOWN.search(head):
        return _Appearance("Markdown; the only Markdown format is aider's chat history", _NAME)
    return _Appearance("text; the only text format is aider's chat history", _NAME)


def _columns(head: bytes) -> list[str]:
    """Return the columns of a table, recognised by an equal number of one separator in its first lines."""
    lines = [line for line in head.decode(errors="replace").splitlines() if line.strip()][:5]
    for mark in "\t;,":
        counts = {line.count(mark) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and 0 not in counts:
            return [name.strip().strip('"') for name in lines[0].split(mark)]
    return []


def _keys(objects: Iterable[dict[str, Any]]) -> list[str]:
    """Return the keys of several objects, the most frequent first."""
    return [key for key, _ in Counter(str(key) for one in objects for key in one).most_common()]


def _nearest(keys: frozenset[str], formats: Sequence[Format]) -> str:
    """Name the format that shares the most distinctive keys, as a clause; "" if none is close."""
    having = Counter(key for known in formats for key in known.keys)
    scores = [(sum(1 / having[key] for key in keys & known.keys), known) for known in formats]
    score, nearest = max(scores, key=lambda one: one[0], default=(0, None))
    shared = sorted(keys & nearest.keys) if nearest else []
    if nearest is None or score < NEAR or len(shared) < 2:
        return ""
    return f", closest to {nearest.title}, which also has {_list_names(shared)}"


def _named(noun: str, names: Sequence[str]) -> str:
    return f"no {noun}s" if not names else f"the {noun}{'s' * (len(names) > 1)} {_list_names(names)}"


def _list_names(names: Sequence[str]) -> str:
    """List the first names, cleaned of unprintable characters, and the number of further ones."""
    shown = [
        clip(" ".join("".join(c if c.isprintable() else " " for c in name).split()), LONGEST) or "?"
        for name in names[:NAMES]
    ]
    return ", ".join(shown) + (f" and {len(names) - NAMES} more" if len(names) > NAMES else "")
