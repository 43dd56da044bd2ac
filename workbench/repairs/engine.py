"""Repair of a damaged session in memory: first bytes, then the records of its format, then the newest context.

Only damaged records are changed; the others stay byte for byte. The copy is read back, and checked by the format's
validation. A format without repair rules (`Codec.repair`) is repaired by its writer, which writes the newest context
with complete tool pairs as a new session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.base.errors import BadInput
from workbench.base.text import counted
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import bytes_of, load, reading
from workbench.formats.fixes import Branch, Fault, Fix, in_order
from workbench.formats.format import Codec, Format, Written, no_progress
from workbench.formats.kit.compressed import ZIP, ZSTD
from workbench.formats.kit.damaged_json import repair_document, sheet_of_lines
from workbench.formats.kit.database import SQLITE
from workbench.formats.kit.json_spans import array_items
from workbench.formats.kit.jsonl import loads, loads_bounded
from workbench.formats.kit.settle import settled
from workbench.formats.kit.sheet import RepairSheet, SheetEntry, entry_of
from workbench.formats.look import Look
from workbench.formats.usage_checks import check_usage
from workbench.repairs.images import limit_images
from workbench.session import Message, Session


@dataclass(frozen=True, slots=True)
class Repair:
    """A repaired copy, not yet on disk.

    `fixes` are the repaired faults in the order of the file, `left` those that remain; `branches` are the branches of a
    file with damaged links. `data` are the bytes of the copy, equal to the file if nothing was repaired. `session` is
    the session read back from them, None if that fails. `written` is set if the copy is a new session; it has the name
    and the commands that resume it.
    """

    path: Path
    format: Format
    fixes: tuple[Fix, ...]
    left: tuple[Fix, ...]
    branches: tuple[Branch, ...]
    data: bytes
    session: Session | None
    written: Written | None = None

    @property
    def is_sound(self) -> bool:
        """True if the copy reads back with the same content. Only then may it be saved."""
        return self.session is not None and all(fix.fault is not Fault.CHANGED_CONTENT for fix in self.left)

    @property
    def name(self) -> str:
        """File name of the copy, with `.repaired` before the suffix."""
        ending = Path(self.written.name).suffix if self.written else self.path.suffix
        return f"{self.path.stem}.repaired{ending}"


def repair(path: Path, *, branch: int | None = None, part: str = "") -> Repair:
    """Repair the session in a file, in memory. If there are several branches, `branch` is the line of the newest
    message of the one to keep; None for the proposed one.

    Raises BadInput for a file that no format recognizes, of a format that is read-only, or without messages.
    """
    if path.is_dir() or part:
        return _loaded(path, load(path, part=part))
    data = bytes_of(path)
    if data.startswith((SQLITE, ZIP, ZSTD)):
        return _loaded(path, load(path))
    return repair_bytes(path, data, branch=branch)


def repair_bytes(path: Path, data: bytes, *, branch: int | None = None) -> Repair:
    """Repair like `repair`, but from bytes. The file `path` need not exist."""
    sheet = _sheet(path, data, branch)
    found = _format(path, sheet)
    codec = found.codec
    if codec.write is None:
        raise BadInput(
            f"{path} is a session of {found.title}, which is read-only here; convert it with "
            "`cwb compact FILE --to FORMAT -o NEW`."
        )
    rules = codec.repair() if codec.repair else None
    if rules is not None and not sheet.lines and rules.listed is None:
        rules = None
    if rules is not None:
        if not sheet.lines:
            _split(sheet, rules.listed)
        rules.records(sheet)
    session = _read(codec, path, sheet.data)
    if sheet.lines:
        sheet.inherited = max(0, session.records.data.count(b"\n") - len(sheet.entries))
    entries = list(sheet.entries)
    limit_images(sheet, session)
    if rules is not None and rules.context is not None:
        rules.context(sheet, _sent(sheet, session), session)
        return _read_back(path, found, sheet, data, session, entries)
    repaired = sheet.data if sheet.fixes else data
    return _repair_by_writer(path, found, sheet, repaired, _read(codec, path, repaired))


def _sheet(path: Path, data: bytes, branch: int | None) -> RepairSheet:
    if _is_lines(data):
        lines = sheet_of_lines(data, path.name, branch)
        lines.folder = path.absolute().parent
        return lines
    document = RepairSheet([], lines=False, name=path.name)
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n\0")[:1] in (b"{", b"[")
    repaired = repair_document(data, document) if is_json else data
    document.entries.append(SheetEntry(repaired, _value(repaired), 1))
    return document


def _value(data: bytes) -> object:
    try:
        return loads_bounded(data)
    except ValueError:
        return None


def _split(sheet: RepairSheet, key: str | None) -> None:
    """Make each element of the document's list an entry; without such a list the document stays one entry."""
    (document,) = sheet.entries
    if document.value is None:  # not JSON: the reader reports it
        return
    text = document.raw.decode("latin-1")  # one character per byte
    try:
        spans = array_items(text, key or None)
    except (ValueError, KeyError):
        return
    if not spans:
        return
    raw, done = document.raw, spans[0][0]
    sheet.head, sheet.tail = raw[:done], raw[spans[-1][1] :]
    sheet.entries = []
    for number, (start, stop) in enumerate(spans, 1):
        sheet.entries.append(SheetEntry(raw[start:stop], loads(raw[start:stop]), number, raw[done:start]))
        done = stop


def _is_lines(data: bytes) -> bool:
    """Return True for a file of lines: at least half of the lines with text are complete objects."""
    lines = [line for line in data.split(b"\n") if line.strip(b" \t\r\0,")]
    return 2 * sum(isinstance(_value(line), dict) for line in lines) >= len(lines)


def _format(path: Path, sheet: RepairSheet) -> Format:
    repaired = sheet.data
    try:
        return registry.detect(Look.of(repaired, path))[0]
    except BadInput as error:
        values = [entry.object for entry in sheet.entries]
        for known in registry.formats():
            rules = known.codec.repair() if sheet.lines and values and known.codec.repair else None
            if rules is not None and rules.is_headless is not None and rules.is_headless(values):
                return known
        raise BadInput(f"{path}: {error}") from None


def _read(codec: Codec, path: Path, data: bytes) -> Session:
    with reading(path):
        return check_usage(codec.read(path, data, no_progress))


def _sent(sheet: RepairSheet, session: Session) -> list[SheetEntry]:
    """Return the records of the newest context in the order of its messages."""
    records = dict.fromkeys(record for message in session.context() for record in message.source)
    found = [entry_of(sheet, sheet.entries, session, record) for record in records]
    return list(dict.fromkeys(entry for entry in found if entry is not None))


def _read_back(
    path: Path, found: Format, sheet: RepairSheet, original: bytes, before: Session, entries: Sequence[SheetEntry]
) -> Repair:
    """Read the repaired bytes back, validate them, and return the repair. `entries` are the records of the session
    `before`."""
    codec = found.codec
    data = sheet.data if sheet.fixes else original
    left = list(sheet.left)
    session: Session | None = None
    if not sheet.fixes and sheet.data == original:  # `before` was read from these bytes
        session = before
    else:
        try:
            session = _read(codec, path, data)
        except BadInput as error:
            left.append(Fix(Fault.CHANGED_CONTENT, subject=str(error)))
        if session is not None and (lost := _lost(sheet, before, entries, session)):
            left.append(Fix(Fault.CHANGED_CONTENT, subject=f"{counted(lost, 'message')} of the context"))
    problems = codec.validate(data) if codec.validate else []
    left += [Fix(Fault.REFUSED_BY_RULES, subject=problem) for problem in problems]
    return Repair(path, found, in_order(sheet.fixes), tuple(left), tuple(sheet.branches), data, session)


def _lost(sheet: RepairSheet, before: Session, entries: Sequence[SheetEntry], after: Session) -> int:
    """Return the number of context messages from unchanged records that are missing in the repaired file."""
    there = {repr(block) for message in after.messages for block in message.blocks}
    kept = set(sheet.entries)

    def is_untouched(record: int) -> bool:
        entry = entry_of(sheet, entries, before, record)
        return entry is None or (not entry.changed and entry in kept)

    messages = [one for one in before.context() if one.source and all(map(is_untouched, one.source))]
    return sum(any(repr(block) not in there for block in message.blocks) for message in messages)


def _loaded(path: Path, session: Session) -> Repair:
    found = registry.by_id(session.format)
    return _repair_by_writer(path, found, RepairSheet([]), session.records.data, session)


def _repair_by_writer(path: Path, found: Format, sheet: RepairSheet, data: bytes, session: Session) -> Repair:
    """Write a new session with the format's writer if tool pairs are incomplete or the validation objects. It is used
    only if it has fewer problems."""
    codec = found.codec
    context = session.context()
    faults = list(_unpaired(session, context))
    before = codec.validate(data) if codec.validate else []
    fixes, left = list(sheet.fixes), list(sheet.left)
    written: Written | None = None
    if faults or before:
        messages, _ = settled(context, found.api) if faults else (list(context), ())
        exported = export(session, messages)
        if isinstance(exported.found, Session) and len(exported.problems) < len(before) + bool(faults):
            written, data, session = exported.written, exported.written.data, exported.found
            before = list(exported.problems)
            reason = "its pairs were repaired" if faults else "the old one did not pass validation"
            fixes += [*faults, Fix(Fault.REWRITTEN, subject=reason)]
        else:
            left += faults
            if isinstance(exported.found, str):
                left.append(Fix(Fault.CHANGED_CONTENT, subject=exported.found))
    left += [Fix(Fault.REFUSED_BY_RULES, subject=problem) for problem in before]
    return Repair(path, found, in_order(fixes), tuple(left), (), data, session, written)


def _unpaired(session: Session, context: Sequence[Message]) -> Iterator[Fix]:
    """Yield a fault for each call without a result though messages follow, and for each result without a call before
    it."""
    waiting: dict[str, Message] = {}
    for message in context:
        for result in message.results:
            if waiting.pop(result.call_id, None) is None:
                yield _at(session, message, Fault.ORPHAN_RESULT, result.call_id)
        for call in message.calls:
            waiting[call.id] = message
    last = context[-1].id if context else ""
    for id, message in waiting.items():
        if message.id != last:
            yield _at(session, message, Fault.MISSING_RESULT, id)


def _at(session: Session, message: Message, fault: Fault, subject: str) -> Fix:
    first = message.source[0] if message.source else None
    if first is not None and first < len(session.records):
        return Fix(fault, session.records.lines[first], None, subject)
    return Fix(fault, None, None if first is None else first + 1, subject)
