"""Cells of a sweep: computed on all cores or on a Dask scheduler, and saved in a journal.

A cell is one file replayed under one setting, independently of the others. The journal has a line per finished cell, so
that an interrupted sweep can continue. Its first line identifies the sweep; an incomplete last line is skipped. A cell
counts as finished while its file has the same size and modification time; failed cells are computed again.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from workbench.analysis.course import Course, course_messages, course_of
from workbench.analysis.replay import Replay, replay
from workbench.analysis.retention import retention
from workbench.analysis.rule_text import RuleVerdict
from workbench.analysis.sweep.plan import WINDOW, Number, SweepPlan
from workbench.analysis.watched_rules import sentence_to_watch
from workbench.base import parallel as over
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import refuse_special
from workbench.base.parallel import cores
from workbench.base.secrets import error_line
from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome
from workbench.formats.files import load
from workbench.session import Session
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter, Scale
from workbench.tokens.cache import CountCache
from workbench.tokens.window import Window, window_of


@dataclass(frozen=True, slots=True)
class SweepCell:
    """Result of one file under one setting. `error` is the reason for a missing result; all figures are then 0 or None.

    `after` is the mean size after a compaction in tokens, None without one; `over` the number of calls larger than the
    window. `dollars` is `Replay.cost`, None if prices are unknown; `units` is the same in million input tokens.
    `retention` is the mean share of facts kept, 0 to 1, None if not requested or without a compaction. `watched` has
    the last state of each rule, None if it was never in the session.
    """

    file: str
    setting: tuple[Number, ...]
    calls: int = 0
    compactions: int = 0
    after: int | None = None
    peak: int = 0
    last: int = 0
    over: int = 0
    sent: int = 0
    rebilled: int = 0
    summaries: int = 0
    units: float = 0.0
    dollars: float | None = None
    retention: float | None = None
    watched: tuple[RuleVerdict | None, ...] = ()
    error: str = ""


ScaleOf = Callable[[Session], Scale | None]
"""Function that returns the scale of a session from an earlier exact count, or None. Must be picklable."""


def no_scale(session: Session) -> None:
    """Return None for any session: the default of `ScaleOf`."""


def sweep_file(
    file: str, plan: SweepPlan, settings: Sequence[tuple[Number, ...]], scale_of: ScaleOf = no_scale
) -> tuple[SweepCell, ...]:
    """Return the cells of one file, which is loaded and counted once. Never raises; the cells of a failed file have the
    reason in `error`."""
    try:
        session = load(Path(file), part=plan.part)
        counter = Counter(CountCache(paths.token_counts()))
        counter.count_all(course_messages(session), lambda done, total: None, lambda: False)
        course = course_of(session, counter, scale=scale_of(session))
        own = window_of(session, 1)
    except Exception as error:
        # One bad file among a hundred thousand must not stop the sweep.
        return tuple(SweepCell(file, setting, error=_reason(error)) for setting in settings)
    return tuple(_cell(file, course, plan, setting, own) for setting in settings)


def _cell(file: str, course: Course, plan: SweepPlan, setting: tuple[Number, ...], own: Window | None) -> SweepCell:
    shares: list[float] = []

    def look(context: Context, outcome: Outcome) -> None:
        share = retention(context, outcome).of_context
        shares.extend([] if share is None else [share])

    try:
        preset = plan.preset_with(setting)
        window = plan.window_of(setting, own)
        writer = extractive if plan.extracted else None
        on_outcome = look if plan.retained else None
        watched = [sentence_to_watch(one, course.messages) for one in plan.watched]
        played = replay(course, preset, window, writer, watched=watched, on_outcome=on_outcome)
    except Exception as error:
        return SweepCell(file, setting, error=_reason(error))
    return cell_of_replay(file, setting, played, shares)


def cell_of_replay(file: str, setting: tuple[Number, ...], played: Replay, shares: Sequence[float] = ()) -> SweepCell:
    """Return a replay as a cell; `shares` are the shares of facts kept by its outcomes."""
    return SweepCell(
        file,
        setting,
        calls=len(played.sent),
        compactions=len(played.compacted),
        after=played.mean_after,
        peak=played.peak,
        last=played.last,
        over=played.over_window,
        sent=sum(played.sent),
        rebilled=played.rebilled,
        summaries=sum(each.requests for each in played.compacted),
        units=played.cost / (played.rates.input or 1.0),
        dollars=played.cost if played.rates.known else None,
        retention=math.fsum(shares) / len(shares) if shares else None,
        watched=tuple(trail.last if trail.was_kept else None for trail in played.watched),
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, BadInput) else error_line(f"{type(error).__name__}: {text}".rstrip(": "))


def cell_fields(cell: SweepCell) -> dict[str, Any]:
    """Return the fields of a cell for JSON."""
    return {**asdict(cell), "setting": list(cell.setting)}


_CELL = TypeAdapter(SweepCell)


def cell_from(fields: Mapping[str, Any]) -> SweepCell:
    """Return a cell of JSON fields. Raises ValidationError for invalid ones."""
    return _CELL.validate_python(fields)


Work = tuple[str, tuple[tuple[Number, ...], ...]]
"""A file, which is loaded once, and the settings to replay it under."""


def work_of(
    files: Sequence[str], plan: SweepPlan, known: Collection[tuple[str, tuple[Number, ...]]], cores: int
) -> list[Work]:
    """Return the work without the finished cells `known`, pairs of file and setting. The settings of a file stay
    together unless there are fewer files than cores."""
    parts = max(1, -(-cores // max(len(files), 1)))
    found: list[Work] = []
    for file in files:
        left = [setting for setting in plan.settings if (file, setting) not in known]
        size = -(-len(left) // parts) if left else 1
        found += [(file, tuple(left[start : start + size])) for start in range(0, len(left), size)]
    return found


def spread(
    work: Sequence[Work], plan: SweepPlan, cluster: str = "", scale_of: ScaleOf = no_scale
) -> Iterator[tuple[SweepCell, ...]]:
    """Yield the cells of each piece of work when it is finished, in any order. For `cluster` and errors see
    `workbench.base.parallel`."""
    if work:
        jobs, remedy = min(len(work), cores()), "continue with --resume, with fewer files"
        yield from over.run_parallel(
            partial(_run_piece, plan, scale_of), work, jobs=jobs, cluster=cluster, remedy=remedy
        )


def _run_piece(plan: SweepPlan, scale_of: ScaleOf, piece: Work) -> tuple[SweepCell, ...]:
    file, settings = piece
    return sweep_file(file, plan, settings, scale_of)


FIGURES = 2
"""Version of the figures; raise it when their meaning changes, so that older cells are computed again."""

Stamp = tuple[int, int]
"""Size and modification time in ns."""


def sweep_key(plan: SweepPlan) -> str:
    """Return a key of everything that a cell depends on: fixed policy fields, varying fields, window, part, watched
    rules and `FIGURES`. The values are not included, so that a grid can be widened."""
    fixed: dict[str, Any] = plan.preset.policy.model_dump(mode="json")
    for axis in plan.axes:
        *groups, last = axis.field.split(".")
        inner = fixed
        for group in groups:
            inner = inner[group]
        inner.pop(last, None)
    window = None if any(axis.field == WINDOW for axis in plan.axes) else plan.window
    fields = [axis.field for axis in plan.axes]
    parts: list[Any] = [
        plan.preset.strategy,
        fixed,
        fields,
        window,
        plan.retained,
        FIGURES,
        *([plan.part] if plan.part else []),
    ]
    parts += [plan.watched] if plan.watched else []
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).hexdigest()


def stamp_of(file: str) -> Stamp:
    """Return size and modification time; zeros for a missing file."""
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def finished_cells(path: Path, plan: SweepPlan) -> tuple[SweepCell, ...]:
    """Return the finished cells of a journal; () if it does not exist. Raises BadInput for a file that is not regular,
    not a journal, or the journal of another sweep.
    """
    refuse_special(path)
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); name another journal.") from None
    if not lines:
        return ()
    head = _line_fields(lines[0])
    if head is None or "sweep" not in head:
        raise BadInput(f"{path} is not the journal of a sweep; name a new file instead.")
    if head["sweep"] != sweep_key(plan):
        raise BadInput(f"{path} is the journal of another sweep; name another file, or delete it to start over.")
    stamps: dict[str, Stamp] = {}
    found: dict[tuple[str, tuple[float, ...]], SweepCell] = {}
    for line in lines[1:]:
        fields = _line_fields(line)
        cell = _cell_of_line(fields) if fields else None
        if fields is None or cell is None or cell.error:
            continue
        now = stamps.setdefault(cell.file, stamp_of(cell.file))
        if fields.get("stamp") == list(now):
            found[cell.file, cell.setting] = cell
    return tuple(found.values())


class Journal:
    """Journal open for more cells. Each line is one atomic append, so several writers may share it."""

    def __init__(self, path: Path, plan: SweepPlan) -> None:
        """Open or create the journal. Raises BadInput if it cannot be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise BadInput(f"{path} cannot be written ({error.strerror}); name another journal.") from None
        self._path = path
        if not path.stat().st_size:
            self._write({"sweep": sweep_key(plan), "strategy": plan.preset.strategy})
        elif not path.read_bytes().endswith(b"\n"):
            self._put(b"\n")

    def note(self, cells: Iterable[SweepCell]) -> None:
        """Append cells. Raises BadInput on a full disk; earlier lines stay."""
        for cell in cells:
            self._write({**cell_fields(cell), "stamp": stamp_of(cell.file)})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, fields: Mapping[str, Any]) -> None:
        self._put(json.dumps(fields).encode() + b"\n")

    def _put(self, line: bytes) -> None:
        try:
            written = self._file.write(line)
        except OSError as error:
            raise BadInput(
                f"{self._path} cannot be written ({error.strerror}); free some space, then continue with it."
            ) from None
        if written < len(line):
            raise BadInput(f"{self._path} cannot be written (no room is left); free some space, then continue with it.")


def _line_fields(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _cell_of_line(fields: Mapping[str, Any]) -> SweepCell | None:
    try:
        return cell_from({name: value for name, value in fields.items() if name != "stamp"})
    except ValidationError:
        return None
