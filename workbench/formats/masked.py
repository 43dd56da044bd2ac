"""A session without its secrets: its file is read as though they had never been written into it.

What goes on from there, the requests that are sent, the summary, the export, cannot tell them. All else of the file
stays byte for byte.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.secrets import LONG_KEY, masked, masked_of
from workbench.formats.files import bytes_of, read_bytes
from workbench.formats.format import Progress, no_progress
from workbench.session import Session

_STRING = re.compile(rb'"((?:[^"\\\n]|\\[^\n])*+)(?:"(\s{0,100}:)?|\\?(?=\n|\Z))')
"""One that a crash cut off ends with its line: else what follows on the next would be taken for what lies between."""

_JSON = re.compile(rb'[\xef\xbb\xbf\s\x00]*+(?:\[\s*+)*+(?:\{\s*+(?:["}]|\Z)|\]|\Z)')
"""How a file of JSON begins, or of lines of it; a text may begin with a bracket, too."""

_SIGNS = b" \t\r\n\x00,:{}[]"
_NO_TEXT = (b"SQLite format 3\x00", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")


def load_masked(path: Path, progress: Progress = no_progress, part: str = "") -> Session:
    """Open a session as `files.load` does, its secrets masked. Raises BadInput, too, where it is no file of text."""
    if path.is_dir() or (data := bytes_of(path)).startswith(_NO_TEXT):
        raise BadInput(
            f"{path} is no file of text, and only in such a one secrets can be masked; export it as another format "
            "first, then mask that."
        )
    return read_bytes(path, without_secrets(data), progress, part)


def without_secrets(data: bytes) -> bytes:
    """A file of JSON, of lines of JSON, or of plain text, with its secrets masked."""
    if not _JSON.match(data):
        return _plain(data)
    parts: list[bytes] = []
    done, key, ends = 0, "", 0
    for found in _STRING.finditer(data):
        start, between = ends, data[ends : found.start()]
        ends = found.end()
        if (once := _between(between)) != between:
            parts += [data[done:start], once]
            done = found.start()
        value, is_key = _decoded(found[1]), bool(found[2])
        of = "" if is_key or between.strip() else key
        if (len(value) >= LONG_KEY or not is_key) and (once_of := masked_of(of, value)) != value:
            parts += [data[done : found.start(1)], _encoded(once_of)]
            done = found.end(1)
        key = value if is_key else ""
    return b"".join(parts) + data[done:ends] + _between(data[ends:])


def _between(data: bytes) -> bytes:
    """What stands between two strings: signs and numbers, and words only where one of them is damaged."""
    return _plain(data) if data.strip(_SIGNS) else data


def _plain(data: bytes) -> bytes:
    return masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _decoded(string: bytes) -> str:
    text = string.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:  # an escape that JSON does not have
        return text


def _encoded(text: str) -> bytes:
    try:
        return json.dumps(text, ensure_ascii=False)[1:-1].encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(text)[1:-1].encode()
