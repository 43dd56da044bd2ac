"""Run an audit: find the files that may be sessions, and yield their rows, cached ones first."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

from workbench.auditing.cache import RowCache, mark
from workbench.auditing.rows import AuditFile, FileRows, SessionRow
from workbench.base.errors import BadInput
from workbench.base.parallel import cores, run_parallel
from workbench.finding.discover import Candidate, files_below, files_in_places, is_session_folder, never
from workbench.finding.glances import Unreadable
from workbench.formats import registry
from workbench.formats.files import look_at
from workbench.formats.machine import Place

PIECES = 64
"""Fewest pieces of work, so that all cores finish at about the same time."""

PIECE_FILES, PIECE_BYTES = 128, 32_000_000
"""Largest piece of work. Each piece costs some milliseconds here, more on a cluster; its rows are cached when all of it
is done."""

MAX_REPLAYED = 250
"""Approximate number of files whose long sessions are replayed; if there are more, a sample is chosen by name. A replay
costs several times as much as reading, and more of them would not change the advice."""

SINGLE_PROCESS_BYTES = 8_000_000
"""Total size up to which the files are read in this process: starting others takes longer."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """Rows of a file, from the cache if `cached`. `left` counts the files still to be read."""

    rows: tuple[SessionRow, ...]
    cached: bool
    left: int


def candidates(folders: Sequence[Path], looked_at: Sequence[Place] | None = None) -> Iterator[AuditFile | SessionRow]:
    """Yield the files that may be sessions, each once: `folders` that are sessions and the files below the others;
    without `folders`, the files in the places `looked_at` (None: those of all agents). A folder with too many files
    also yields a row with an error. Raises BadInput for a missing folder."""
    for folder in folders:
        if not folder.exists():
            raise BadInput(f"{folder} does not exist; name a folder in which to look for sessions.")
    return _candidates(folders, looked_at)


def _candidates(folders: Sequence[Path], looked_at: Sequence[Place] | None) -> Iterator[AuditFile | SessionRow]:
    seen: set[str] = set()
    for one in (
        _candidates_in(folders) if folders else files_in_places(registry.places() if looked_at is None else looked_at)
    ):
        if isinstance(one, Unreadable):
            yield SessionRow(str(one.path), error=one.reason)
            continue
        if one.path.suffix == ".md" and one.expected is None and not _is_session(one.path):
            continue  # notes next to sessions
        path = str(one.path.absolute())
        if path not in seen:
            seen.add(path)
            size = _size(one.path) if one.size is None else one.size
            yield AuditFile(path, size, one.time, one.tool, is_replayed=False)


def _candidates_in(folders: Sequence[Path]) -> Iterator[Candidate | Unreadable]:
    for folder in folders:
        if folder.is_dir() and not is_session_folder(folder):
            yield from files_below(folder)
        else:
            yield Candidate(_time(folder), folder)


def _is_session(path: Path) -> bool:
    try:
        return bool(registry.detect(look_at(path)))
    except BadInput:
        return False


def _size(path: Path) -> int:
    """Return the bytes of a file, or of the files in a folder."""
    try:
        about = path.stat()
        if not stat.S_ISDIR(about.st_mode):
            return about.st_size
        return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    except OSError:
        return 0


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def audit_files(
    works: Iterable[AuditFile | SessionRow],
    cache: RowCache | None,
    cluster: str = "",
    cancelled: Callable[[], bool] = never,
    *,
    fresh: bool = False,
) -> Iterator[FileResult]:
    """Yield the rows of every file, in any order, as soon as they are known. Only files that changed since they were
    cached are read; all of them if `fresh` or without a cache. Raises BadInput as `run_parallel` does."""
    with cache.opened() if cache else nullcontext():
        marks: dict[str, tuple[bytes, AuditFile, tuple[SessionRow, ...]]] = {}
        files = 0
        for work in works:
            files += 1
            if cancelled():
                return
            if isinstance(work, SessionRow):
                yield FileResult((work,), False, len(marks))
                continue
            now = mark(work.path)
            cached = None if fresh or cache is None else cache.get(work.path, now)
            if cached and cached.same:
                yield FileResult(cached.rows, True, len(marks))
                continue
            if cached and cached.digest is not None and cached.size == work.bytes:
                work = replace(work, known=cached.digest)
            marks[work.path] = now, work, cached.rows if cached else ()
        every = max(1, files // MAX_REPLAYED)
        left = [_with_replay(work, every) for _, work, _ in marks.values()]
        for file in _survey_all(left, cluster):
            now, work, before = marks.pop(file.path)
            rows = tuple(replace(row, time=work.time) for row in before) if file.rows is None else file.rows
            if cache:
                cache.put(file.path, now, work.bytes, file.digest, rows)
            yield FileResult(rows, file.rows is None, len(marks))
            if cancelled():
                return


def _with_replay(work: AuditFile, every: int) -> AuditFile:
    """Return the file with `is_replayed` set for one in `every` files, chosen by name."""
    is_replayed = crc32(os.fsencode(work.path)) % every == 0
    return work if work.is_replayed == is_replayed else replace(work, is_replayed=is_replayed)


def _survey_all(works: Sequence[AuditFile], cluster: str) -> Iterator[FileRows]:
    pieces = _pieces(works)
    jobs = 1 if sum(work.bytes for work in works) <= SINGLE_PROCESS_BYTES else min(cores(), len(pieces))
    if pieces and jobs == 1 and not cluster:
        yield from map(survey_file, works)
        return
    remedy = "finished files are saved, start the audit again"
    for several in run_parallel(survey_files, pieces, jobs=jobs, cluster=cluster, remedy=remedy) if pieces else ():
        yield from several


def survey_files(works: tuple[AuditFile, ...]) -> tuple[FileRows, ...]:
    return tuple(map(survey_file, works))


def survey_file(work: AuditFile) -> FileRows:
    """Return the rows of a file. The analysis is imported here, because a process that only collects rows from the
    cache or from workers does not need it."""
    from workbench.auditing import survey

    return survey.survey_file(work)


def _pieces(works: Sequence[AuditFile]) -> list[tuple[AuditFile, ...]]:
    """Divide the files into pieces, the largest first, so that none of those starts last."""
    found: list[tuple[AuditFile, ...]] = []
    piece: list[AuditFile] = []
    size, most = 0, min(PIECE_BYTES, sum(work.bytes for work in works) // PIECES)
    for work in sorted(works, key=lambda work: -work.bytes):
        if piece and (len(piece) >= PIECE_FILES or size + work.bytes > most):
            found.append(tuple(piece))
            piece, size = [], 0
        piece.append(work)
        size += work.bytes
    return [*found, tuple(piece)] if piece else found
