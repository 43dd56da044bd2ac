"""Glances at session files: format, title and figures from the first and the last bytes of a file of any size.

A file of lines is read as if the lines between its two ends were not there; of one JSON document, the elements of its
list that stand whole in either end. So figures are of the last call that the tail shows, and compactions those seen.
Where the head shows calls and the tail none, its lines are long: then the tail begins further back.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.base.errors import BadInput
from workbench.base.reading import not_a_file, open_file
from workbench.formats import registry
from workbench.formats.absurd import believed
from workbench.formats.carried import carried_in, with_carried
from workbench.formats.files import bytes_of
from workbench.formats.format import Format, no_progress
from workbench.formats.kit import zstd
from workbench.formats.kit.document import render
from workbench.formats.kit.magic import ZSTD
from workbench.formats.kit.mark import CARRIED
from workbench.formats.kit.outline import glimpse
from workbench.formats.kit.titles import first_words
from workbench.formats.kit.values import dict_of, word_of
from workbench.formats.look import Look
from workbench.formats.openhands.stores import state_of
from workbench.formats.roo_cline.signature import HISTORY
from workbench.session import Message, Session

REACH = 64 * 1024
"""Bytes read at each end of a file."""

LOOKED_AT = 64 << 20
"""Bytes of a file up to which all of it may be read to tell what it is; a larger one is told by its beginning."""

FURTHER_BACK = (16 * REACH, 256 * REACH)
"""Bytes read at the end of a file, one after the other, until they show a call."""

FURTHER = 8 * REACH
"""Bytes read at its beginning where the first request stands behind a system prompt longer than that."""

EXPORT = 4 << 20
"""Bytes of an export up to which all of it is read: which of its bills are spent is said anywhere in it."""

_ATTEMPTS = 2_000
_NEXT = re.compile(r"\}\s*,\s*(?=\{)")
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A session at a glance. `format` is its id; `tool` who wrote it, in words; `time` when it was last changed, in
    seconds since the epoch.

    `part` is its id among several in one file. `tokens` is what the last recorded call had as context with its answer,
    None where nothing tells; `window` the model's context window where the tool recorded it. `compactions` counts the
    recorded ones, at least where not `complete`. `whole` is the session itself where the file is so short that all was
    read. What is not told is "".
    """

    path: Path
    bytes: int
    time: float
    format: str
    tool: str
    title: str = ""
    request: str = ""
    folder: str = ""
    model: str = ""
    part: str = ""
    tokens: int | None = None
    window: int | None = None
    compactions: int = 0
    complete: bool = False
    whole: Session | None = None

    def matches(self, query: str) -> bool:
        """Whether every word of `query` occurs somewhere in what is known of it."""
        known = (self.tool, self.title, self.request, self.folder, self.model, str(self.path), self.part)
        haystack = "\n".join(known).casefold()
        return all(word in haystack for word in query.casefold().split())


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that looked like a session by its name only, and why it is none."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class _Ends:
    """A file's first and last bytes; `size` and `time` are the file's."""

    head: bytes
    tail: bytes
    size: int
    time: float

    @property
    def is_whole(self) -> bool:
        return self.size <= len(self.head) + len(self.tail)


def glance(path: Path, expected: Format | None = None) -> Found | Unreadable:
    """What `path` is, by its two ends; of a folder that is a session, by those of its main file.

    `expected` is the format that is tried before the others.
    """
    try:
        if path.is_dir():
            return _glance_folder(path)
        ends = _ends_of(path, REACH)
        if CARRIED.encode() in ends.head + ends.tail:
            ends = _ends_of(path, EXPORT)
        known = _recognised(path, ends, expected)
        found = Found(path, ends.size, ends.time, known.id, known.title)
        session, shows_newest = _session(path, known, ends)
        return _told(found, session, is_whole=ends.is_whole, shows_newest=shows_newest)
    except BadInput as error:
        return Unreadable(path, str(error))
    except (OSError, ValueError) as error:
        return Unreadable(path, _reason(error))


def _ends_of(path: Path, reach: int, back: int = REACH) -> _Ends:
    """The first `reach` and the last `back` bytes. Raises OSError; BadInput for what is no regular file, which is not
    opened."""
    if what := not_a_file(path.stat()):
        raise BadInput(f"This is {what}, not a regular file.")
    with open_file(path) as file:
        status = os.fstat(file.fileno())
        head = file.read(reach)
        file.seek(max(len(head), status.st_size - back))
        return _Ends(head, file.read(back), status.st_size, status.st_mtime)


def _recognised(path: Path, ends: _Ends, expected: Format | None) -> Format:
    """What is expected is known by the head alone; anything else may ask for the rest of the file."""
    if expected is not None and expected.recognise(Look.of(ends.head, path)):
        return expected
    whole = ends.size <= LOOKED_AT
    return registry.detect(Look(ends.head, lambda: bytes_of(path), path) if whole else Look.of(ends.head, path))[0]


def _session(path: Path, known: Format, ends: _Ends) -> tuple[Session | None, bool]:
    """Return the session that the ends hold, None where half a file cannot be read, and True where it shows the newest
    call of the file; reads further back in a long file until it does. Raises BadInput for a bad complete file."""
    session = _read(path, known, ends)
    if ends.is_whole:
        return session, True
    reach = REACH
    if session is None or not first_words(session.messages):
        reach = FURTHER
        ends = _ends_of(path, reach)
        session = _read(path, known, ends) or session
    in_head = _calls(_read(path, known, replace(ends, tail=b"")))
    for back in () if ends.head.startswith(ZSTD) else FURTHER_BACK:  # of a compressed file only the head is read
        if session is None or not in_head or _calls(session) > in_head:
            return session, True
        ends = _ends_of(path, reach, back)
        session = _read(path, known, ends) or session
        if ends.is_whole:
            return session, True
    return session, session is None or not in_head or _calls(session) > in_head


def _calls(session: Session | None) -> int:
    """How many calls of a session have their usage recorded."""
    return sum(message.bill > 0 for message in session.messages) if session else 0


def _read(path: Path, known: Format, ends: _Ends) -> Session | None:
    if ends.is_whole:
        session = known.codec.read(path, ends.head + ends.tail, no_progress)
        return believed(with_carried(session, carried_in(known.codec, session.records.data)))
    for data in _as_one(ends):
        try:
            return believed(known.codec.read(path, data, no_progress), is_complete=False)
        except BadInput:
            continue  # half a document says nothing against the whole of it
    return None


def _as_one(ends: _Ends) -> Iterator[bytes]:
    """The two ends as a file without what lies between them: of lines, one document, or text."""
    head, tail = ends.head, ends.tail
    if head.startswith(ZSTD):
        head = zstd.glimpse(head, FURTHER)
        yield head[: head.rfind(b"\n") + 1]
    elif are_lines(head, tail):
        yield head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]
    elif (document := _short_document(head, tail)) is not None:
        yield document
    else:
        yield head + tail


def are_lines(head: bytes, tail: bytes) -> bool:
    """Whether the first whole line of either end is an object by itself, as no line of a document is."""
    for line in (head.partition(b"\n")[0], tail.partition(b"\n")[2].partition(b"\n")[0]):
        try:
            if isinstance(json.loads(line), dict):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _short_document(head: bytes, tail: bytes) -> bytes | None:
    """The document that `head` begins, its longest list continued by the elements that stand whole in `tail`."""
    value = glimpse(head)
    key = None
    items: Any = value
    if isinstance(value, dict):
        lists = {name: item for name, item in value.items() if isinstance(item, list) and item}
        key = max(lists, key=lambda name: len(lists[name]), default=None)
        items = lists.get(key) if key is not None else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    whole = items[:-1] if len(items) > 1 else items  # the last one may be cut
    wanted = set.intersection(*(set(item) for item in whole)) if whole else set()
    joined = [*whole, *_elements(tail.decode(errors="replace"), wanted)]
    return render(joined if key is None else {**value, key: joined})


def _elements(text: str, wanted: set[str]) -> Iterator[dict[str, Any]]:
    """The objects in `text` that follow another one in a list and have the keys `wanted`."""
    at = 0
    for _ in range(_ATTEMPTS):
        found = _NEXT.search(text, at)
        if found is None:
            return
        at = found.end()
        try:
            value, stop = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if wanted and wanted <= value.keys():
            yield value
            at = stop - 1


# --- folders --------------------------------------------------------------------------------------------------------


def _glance_folder(path: Path) -> Found | Unreadable:
    """A session that is kept as a folder. Raises BadInput for any other folder."""
    known, _ = registry.detect_folder(path)
    if (path / "events").is_dir():
        return _glance_events(path, known)
    main = path / HISTORY
    if not main.is_file():
        main = next(iter(sorted(path.glob("*.messages.json"))), main)
    found = glance(main, known)
    return replace(found, path=path)


def _glance_events(path: Path, known: Format) -> Found:
    """A folder with a file for each event: the first and the last few of them."""
    with os.scandir(path / "events") as entries:
        names = (entry.name for entry in entries if entry.name.endswith(".json"))
        events = sorted(names, key=lambda name: (len(name), name))  # numbers, with zeros before them or without
    chosen = [path / "events" / name for name in (events if len(events) <= 40 else [*events[:20], *events[-20:]])]
    ends = [_ends_of(event, REACH) for event in chosen]
    if not ends:
        raise BadInput("This conversation has no events yet.")
    is_whole = len(chosen) == len(events) and all(one.is_whole for one in ends)
    parts = [(one.head + one.tail).strip() for one in ends if one.is_whole]
    size = sum(one.size for one in ends) * len(events) // len(chosen)
    found = Found(path, size, max(one.time for one in ends), known.id, known.title)
    session = known.codec.read(path, b"[\n" + b",\n".join(parts) + b"\n]\n", no_progress)
    told = _told(found, session, is_whole=is_whole)
    workspace = dict_of(dict_of(state_of(path)).get("workspace")).get("working_dir")
    return replace(told, folder=word_of(workspace) or told.folder)


# --- figures --------------------------------------------------------------------------------------------------------


def _told(found: Found, session: Session | None, *, is_whole: bool, shows_newest: bool = True) -> Found:
    """`shows_newest`: the newest call is in `session`, so that its usage is that of the context."""
    if session is None:
        return found
    return replace(
        found,
        title=session.title,
        request=first_words(session.messages),
        folder=session.cwd or _folder_by_hash(session),
        model=session.model or "",
        tokens=_tokens(session) if shows_newest else None,
        window=session.epochs[-1].window,
        compactions=sum(epoch.ended_by is not None for epoch in session.epochs),
        complete=is_whole,
        whole=session if is_whole else None,
    )


def _folder_by_hash(session: Session) -> str:
    """The folder of a session that has a hash of it alone; "" where it is none that its tool or the person is known to
    be in."""
    addressed = registry.by_id(session.format).codec.addressed
    return addressed(session, b"", session.id, ()).folder if session.facts.project and addressed else ""


def _tokens(session: Session) -> int | None:
    """The context of the last recorded call and its answer. Nothing where a compaction came after that."""
    now = session.facts.tokens_now
    if now and now > 0:
        return now
    ended = session.epochs[-2].ended_by if len(session.epochs) > 1 else None
    return _last_context(session.context(), (ended.time if ended else None) or 0.0)


def _last_context(messages: Sequence[Message], since: float) -> int | None:
    for message in reversed(messages):
        usage = message.usage
        if usage is not None and message.bill:
            return message.bill + usage.output if message.time is None or message.time >= since else None
    return None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
