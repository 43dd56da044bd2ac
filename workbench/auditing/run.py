"""An audit: the files that may be sessions, and their rows as they are made, those that are kept first."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

from workbench.auditing.cache import RowCache, mark
from workbench.auditing.rows import SessionRow
from workbench.auditing.work import Surveyed, Work
from workbench.base.errors import BadInput
from workbench.base.parallel import cores, run_parallel
from workbench.finding.discover import Candidate, below, in_places, is_session_folder, never
from workbench.finding.glances import Unreadable
from workbench.formats import registry
from workbench.formats.files import look_at
from workbench.formats.machine import Place

PIECES = 64
"""So many pieces at least are made of what is to be read, so that all cores end at about the same time."""

PIECE_FILES, PIECE_BYTES = 128, 32_000_000
"""How much is handed to a core at once at the most: each piece takes some milliseconds here, too, most of all on a
cluster; its rows are kept when all of it is done."""

PLAYED = 250
"""Files that are played under several settings, if their sessions are long, about: of more every so many-th, by its
name. It costs several times what reading costs, and what is learnt of the others is the same."""

ALONE = 8_000_000
"""Bytes up to which the files are read here: starting other processes takes longer."""


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of a file; `kept`: they were not made anew. `left` is how many files are still to be read."""

    rows: tuple[SessionRow, ...]
    kept: bool
    left: int


def candidates(folders: Sequence[Path], looked_at: Sequence[Place] | None = None) -> Iterator[Work | SessionRow]:
    """The files that may be sessions, where the tools keep them or below `folders` (which may be sessions themselves),
    each once; a row that says so where there are too many. Raises BadInput for a folder that does not exist."""
    for folder in folders:
        if not folder.exists():
            raise BadInput(f"{folder} does not exist; name a folder in which to look for sessions.")
    return _candidates(folders, looked_at)


def _candidates(folders: Sequence[Path], looked_at: Sequence[Place] | None) -> Iterator[Work | SessionRow]:
    seen: set[str] = set()
    for one in _named(folders) if folders else in_places(registry.places() if looked_at is None else looked_at):
        if isinstance(one, Unreadable):
            yield SessionRow(str(one.path), error=one.reason)
            continue
        if one.path.suffix == ".md" and one.expected is None and not _is_known(one.path):
            continue  # whoever keeps notes beside sessions means no session by them
        path = str(one.path.absolute())
        if path not in seen:
            seen.add(path)
            size = _size(one.path) if one.size is None else one.size
            yield Work(path, size, one.time, one.tool, played=False)


def _named(folders: Sequence[Path]) -> Iterator[Candidate | Unreadable]:
    for folder in folders:
        if folder.is_dir() and not is_session_folder(folder):
            yield from below(folder)
        else:
            yield Candidate(_time(folder), folder)


def _is_known(path: Path) -> bool:
    try:
        return bool(registry.detect(look_at(path)))
    except BadInput:
        return False


def _size(path: Path) -> int:
    """Bytes of a file; of a folder, those of the files in it."""
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


def audited(
    works: Iterable[Work | SessionRow],
    cache: RowCache | None,
    cluster: str = "",
    cancelled: Callable[[], bool] = never,
    *,
    fresh: bool = False,
) -> Iterator[Found]:
    """The rows of every file, in any order, each as soon as it is there; only files that have changed since they were
    kept in `cache` are read, or all of them where `fresh` ones are wanted or nothing is kept. Raises BadInput as
    `spread` does."""
    with cache.opened() if cache else nullcontext():
        marks: dict[str, tuple[bytes, Work, tuple[SessionRow, ...]]] = {}
        files = 0
        for work in works:
            files += 1
            if cancelled():
                return
            if isinstance(work, SessionRow):
                yield Found((work,), False, len(marks))
                continue
            now = mark(work.path)
            kept = None if fresh or cache is None else cache.get(work.path, now)
            if kept and kept.same:
                yield Found(kept.rows, True, len(marks))
                continue
            if kept and kept.digest is not None and kept.size == work.bytes:
                work = replace(work, known=kept.digest)
            marks[work.path] = now, work, kept.rows if kept else ()
        every = max(1, files // PLAYED)
        left = [_chosen(work, every) for _, work, _ in marks.values()]
        for made in _made(left, cluster):
            now, work, before = marks.pop(made.path)
            rows = tuple(replace(row, time=work.time) for row in before) if made.rows is None else made.rows
            if cache:
                cache.put(made.path, now, work.bytes, made.digest, rows)
            yield Found(rows, made.rows is None, len(marks))
            if cancelled():
                return


def _chosen(work: Work, every: int) -> Work:
    """The same, played where it is one of so many."""
    played = crc32(os.fsencode(work.path)) % every == 0
    return work if work.played == played else replace(work, played=played)


def _made(works: Sequence[Work], cluster: str) -> Iterator[Surveyed]:
    pieces = _pieces(works)
    jobs = 1 if sum(work.bytes for work in works) <= ALONE else min(cores(), len(pieces))
    if pieces and jobs == 1 and not cluster:
        yield from map(surveyed, works)
        return
    remedy = "finished files are saved, start the audit again"
    for several in run_parallel(several_surveyed, pieces, jobs=jobs, cluster=cluster, remedy=remedy) if pieces else ():
        yield from several


def several_surveyed(works: tuple[Work, ...]) -> tuple[Surveyed, ...]:
    return tuple(map(surveyed, works))


def surveyed(work: Work) -> Surveyed:
    """The rows of a file. What makes them is loaded with the first: where all are kept, or workers read, not at all."""
    from workbench.auditing import survey

    return survey.surveyed(work)


def _pieces(works: Sequence[Work]) -> list[tuple[Work, ...]]:
    """The largest files first, so that none of them is begun when all others are done."""
    found: list[tuple[Work, ...]] = []
    piece: list[Work] = []
    size, most = 0, min(PIECE_BYTES, sum(work.bytes for work in works) // PIECES)
    for work in sorted(works, key=lambda work: -work.bytes):
        if piece and (len(piece) >= PIECE_FILES or size + work.bytes > most):
            found.append(tuple(piece))
            piece, size = [], 0
        piece.append(work)
        size += work.bytes
    return [*found, tuple(piece)] if piece else found
