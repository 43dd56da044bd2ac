"""Sessions with masked secrets: the file is read as if they had never been in it.

Requests, summaries and exports made from such a session do not contain them. Every other byte of the file is unchanged.
An export of a session that was opened with its secrets can be masked as well.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.secrets import LONG_KEY, masked, masked_of
from workbench.formats.export import Export, read_back
from workbench.formats.files import bytes_of, read_bytes
from workbench.formats.format import Progress, no_progress
from workbench.session import Session

_STRING = re.compile(rb'"((?:[^"\\\n]|\\[^\n])*+)(?:"(\s{0,100}:)?|\\?(?=\n|\Z))')
"""JSON string. One without an end stops at its line end, so that the next line is not taken for the space between
strings."""

_JSON = re.compile(rb'[\xef\xbb\xbf\s\x00]*+(?:\[\s*+)*+(?:\{\s*+(?:["}]|\Z)|\]|\Z)')
"""Beginning of a JSON file or of JSON lines. Plain text may begin with a bracket, too."""

_SIGNS = b" \t\r\n\x00,:{}[]"
_NO_TEXT = (b"SQLite format 3\x00", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")


def load_masked(path: Path, progress: Progress = no_progress, part: str = "") -> Session:
    """Open a session as `files.load` does, its secrets masked. Raises BadInput also for a file that is not text."""
    if path.is_dir() or (data := bytes_of(path)).startswith(_NO_TEXT):
        raise BadInput(
            f"{path} is not a text file, so its secrets cannot be masked; export it as another format "
            "first, then mask that."
        )
    return read_bytes(path, without_secrets(data), progress, part)


def masked_export(export: Export) -> Export:
    """Mask the secrets of an export, and check again that it is valid and complete. Raises BadInput if it is not text,
    or is a folder with more than that file."""
    codec, written, title = export.format.codec, export.written, export.format.title
    if written.data.startswith(_NO_TEXT) or (codec.folder and codec.folder(export.source, written.data)):
        raise BadInput(f"{title} is not a text file, so its secrets cannot be masked; choose another format.")
    data = without_secrets(written.data)
    sidecar = written.sidecar and (written.sidecar[0], without_secrets(written.sidecar[1]))
    if isinstance(export.found, str) or (data, sidecar) == (written.data, written.sidecar):
        return export
    new = replace(export, written=replace(written, data=data, sidecar=sidecar), changed=True)
    if validate := codec.validate:
        known = validate(written.data)
        found = (one for one in validate(data) if one in export.problems or one not in known)
        new = replace(new, problems=tuple(found))
    try:
        clean = codec.read(Path(written.name), data, no_progress)
    except BadInput as error:
        return replace(new, found=f"with its secrets masked it cannot be read back: {str(error).rstrip('.')}")
    if _outline(clean) != _outline(export.found):
        return replace(new, found="masking its secrets changes the conversation")
    source = replace(export.source, memories=clean.memories if codec.memories else export.source.memories)
    return read_back(replace(new, source=source, messages=clean.context()))


def _outline(session: Session) -> list[tuple[str, list[str]]]:
    return [(message.role, [type(block).__name__ for block in message.blocks]) for message in session.context()]


def without_secrets(data: bytes) -> bytes:
    """Return a file of JSON, JSON lines or plain text with its secrets masked."""
    if not _JSON.match(data):
        return _plain(data)
    parts: list[bytes] = []
    done, key, ends = 0, "", 0
    for found in _STRING.finditer(data):
        start, between = ends, data[ends : found.start()]
        ends = found.end()
        if (masked_text := _between(between)) != between:
            parts += [data[done:start], masked_text]
            done = found.start()
        value, is_key = _decoded(found[1]), bool(found[2])
        of = "" if is_key or between.strip() else key
        if (len(value) >= LONG_KEY or not is_key) and (masked_value := masked_of(of, value)) != value:
            parts += [data[done : found.start(1)], _encoded(masked_value)]
            done = found.end(1)
        key = value if is_key else ""
    return b"".join(parts) + data[done:ends] + _between(data[ends:])


def _between(data: bytes) -> bytes:
    """Mask the text between two strings, if it contains words, which only damaged JSON does."""
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
