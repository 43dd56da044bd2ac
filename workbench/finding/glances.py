"""Sessions at a glance: format, title and figures from the two ends of a file of any size, or from its format.

Figures are of the last call in the tail; compactions are those in the parts read. If the head shows calls and the tail
none, the tail has long lines, and more of it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.formats import registry
from workbench.formats.export_note import note_in, with_note
from workbench.formats.files import bytes_of
from workbench.formats.format import Format, no_progress
from workbench.formats.glance import SessionGlance, with_session_facts
from workbench.formats.kit.compressed import ZSTD
from workbench.formats.kit.database import SQLITE
from workbench.formats.kit.file_ends import FURTHER, REACH, Ends, ends_of, joined_ends
from workbench.formats.kit.marks import EXPORT_NOTE
from workbench.formats.kit.names import first_words
from workbench.formats.look import Look
from workbench.formats.usage_checks import drop_too_large_usage
from workbench.session import Session

LOOKED_AT = 64 << 20
"""Largest file, in bytes, that may be read entirely for recognition; of larger ones, only the beginning."""

FURTHER_BACK = (16 * REACH, 256 * REACH)
"""Bytes read at the end of a file, in turn, until they show a call."""

EXPORT = 4 << 20
"""Bytes of an export that are read entirely, because marks of stale usage may be anywhere in it."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that only looked like a session by its name, and the reason why it is none."""

    path: Path
    reason: str


def glance(path: Path, expected: Format | None = None) -> SessionGlance | Unreadable:
    """Return a glance at the session in `path`; a file with several sessions counts as one. The format `expected` is
    tried first."""
    try:
        if path.is_dir():
            return _glance_folder(path)
        ends = ends_of(path)
        return _glance_file(path, _recognised(path, ends, expected), ends)
    except (BadInput, OSError, ValueError) as error:
        return Unreadable(path, _reason(error))


def glances(path: Path, expected: Format | None = None) -> list[SessionGlance | Unreadable]:
    """Return the session at `path`, or each session of a database whose format lists them."""
    try:
        if path.is_dir():
            return [_glance_folder(path)]
        ends = ends_of(path)
        known = _recognised(path, ends, expected)
        if ends.head.startswith(SQLITE) and known.codec.list_sessions:
            return [*known.codec.list_sessions(path)]
        return [_glance_file(path, known, ends)]
    except (BadInput, OSError, ValueError) as error:
        return [Unreadable(path, _reason(error))]


def _recognised(path: Path, ends: Ends, expected: Format | None) -> Format:
    """Return the format of a file: the expected one by the head alone; any other may read the rest of the file."""
    if expected is not None and expected.recognise(Look.of(ends.head, path)):
        return expected
    whole = ends.size <= LOOKED_AT
    return registry.detect(Look(ends.head, lambda: bytes_of(path), path) if whole else Look.of(ends.head, path))[0]


def _glance_folder(path: Path) -> SessionGlance | Unreadable:
    """Return a session stored as a folder. Raises BadInput for any other folder."""
    known, _ = registry.detect_folder(path)
    if known.codec.glance and (found := known.codec.glance(path)):
        return found
    main = known.codec.main_file(path) if known.codec.main_file else None
    if main is None:
        raise BadInput(f"{path} has no file with messages.")
    return replace(glance(main, known), path=path)


def _glance_file(path: Path, known: Format, ends: Ends) -> SessionGlance:
    """Return a session from its format, or from the two ends of its file. Raises BadInput."""
    if known.codec.glance and (found_by_format := known.codec.glance(path)):
        return found_by_format
    if EXPORT_NOTE.encode() in ends.head + ends.tail:
        ends = ends_of(path, EXPORT)
    found = SessionGlance(path, ends.size, ends.time, known.id, known.title)
    session, shows_newest = _session(path, known, ends)
    if session is None:
        return found
    found = with_session_facts(found, session, is_whole=ends.is_whole, shows_newest=shows_newest)
    return found if found.folder else replace(found, folder=_folder_by_hash(session, known))


def _session(path: Path, known: Format, ends: Ends) -> tuple[Session | None, bool]:
    """Return the session in the ends, None if partial data cannot be read; and True if it shows the newest call. Reads
    further back in a long file until it does. Raises BadInput for an invalid complete file."""
    session = _read(path, known, ends)
    if ends.is_whole:
        return session, True
    reach = REACH
    if session is None or not first_words(session.messages):
        reach = FURTHER
        ends = ends_of(path, reach)
        session = _read(path, known, ends) or session
    in_head = _calls(_read(path, known, replace(ends, tail=b"")))
    for back in () if ends.head.startswith(ZSTD) else FURTHER_BACK:  # only the head of a compressed file is read
        if session is None or not in_head or _calls(session) > in_head:
            return session, True
        ends = ends_of(path, reach, back)
        session = _read(path, known, ends) or session
        if ends.is_whole:
            return session, True
    return session, session is None or not in_head or _calls(session) > in_head


def _calls(session: Session | None) -> int:
    """Return the number of calls with recorded usage."""
    return sum(message.bill > 0 for message in session.messages) if session else 0


def _read(path: Path, known: Format, ends: Ends) -> Session | None:
    if ends.is_whole:
        session = known.codec.read(path, ends.head + ends.tail, no_progress)
        return drop_too_large_usage(with_note(session, note_in(known.codec, session.records.data)))
    for data in joined_ends(ends):
        try:
            return drop_too_large_usage(known.codec.read(path, data, no_progress), is_complete=False)
        except BadInput:
            continue  # a partial document proves nothing about the file
    return None


def _folder_by_hash(session: Session, known: Format) -> str:
    """Return the folder of a session that records only its hash; "" if no known folder matches."""
    addressed = known.codec.addressed
    return addressed(session, b"", session.id, ()).folder if session.facts.project and addressed else ""


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
