"""A session without its secrets: its file is read as though they had never been written into it.

What goes on from there, the requests that are sent, the summary, the export, cannot tell them. All else of the file
stays byte for byte.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.secrets import masked, masked_of
from workbench.formats.files import bytes_of, read_bytes
from workbench.formats.format import Progress, no_progress
from workbench.session import Session

_STRING = re.compile(rb'"((?:[^"\\]|\\.)*+)"(\s{0,100}:)?', re.DOTALL)
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
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n\x00").startswith((b"{", b"[")):
        return masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    parts: list[bytes] = []
    done, key, key_ends = 0, "", 0
    for found in _STRING.finditer(data):
        if found[2]:
            key, key_ends = _decoded(found[1]), found.end()
            continue
        of = "" if data[key_ends : found.start()].strip() else key
        value = _decoded(found[1])
        if (once := masked_of(of, value)) != value:
            parts += [data[done : found.start(1)], _encoded(once)]
            done = found.end(1)
    return b"".join(parts) + data[done:]


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
