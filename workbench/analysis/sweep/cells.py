"""The cells of a sweep: one file under one setting each, replayed. Cells do not depend on each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from workbench.analysis.course import Course, course_messages, course_of
from workbench.analysis.replay import Replay, replay
from workbench.analysis.retention import retention
from workbench.analysis.sweep.axes import MOST_VALUES, WINDOW, Axis, Number, parse_axis, setting_words
from workbench.analysis.watched_rules import RuleVerdict, sentence_to_watch
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.secrets import error_line
from workbench.compaction.context import Context
from workbench.compaction.outcome import Outcome
from workbench.compaction.policy import Policy, explain
from workbench.compaction.preset import Preset
from workbench.formats.files import load
from workbench.session import Session
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter, Scale
from workbench.tokens.cache import CountCache
from workbench.tokens.window import Window, window_of


@dataclass(frozen=True)
class Plan:
    """What a sweep does: a preset, its fields that vary, and what is kept as it is. `retained`: facts are looked for in
    every outcome. `part`: of files with several sessions this one. `watched` sentences are judged at every compaction.
    """

    preset: Preset
    axes: tuple[Axis, ...]
    window: int | None = None
    retained: bool = False
    part: str = ""
    watched: tuple[str, ...] = ()

    @property
    def extracted(self) -> bool:
        """Whether the summaries are sentences of the sessions, and not only their likely length."""
        return self.retained or bool(self.watched)

    @property
    def settings(self) -> tuple[tuple[Number, ...], ...]:
        """Every combination of values, the last axis fastest."""
        return tuple(itertools.product(*(axis.values for axis in self.axes)))

    def policy(self, setting: Sequence[Number]) -> Policy:
        """Raises BadInput for a value that the field does not take."""
        values = self.preset.policy.model_dump()
        for axis, value in zip(self.axes, setting, strict=True):
            if axis.field == WINDOW:
                continue
            *groups, last = axis.field.split(".")
            inner = values
            for group in groups:
                inner = inner[group]
            inner[last] = value
        try:
            return type(self.preset.policy).model_validate(values)
        except ValidationError as error:
            raise BadInput(f"--vary {explain(error)}") from None

    def preset_with(self, setting: Sequence[Number]) -> Preset:
        """The preset with what varies as in a cell. Raises BadInput where it cannot be so."""
        varied = {axis.field: "--vary" for axis in self.axes if axis.field != WINDOW}
        return self.preset.with_values(self.policy(setting), varied)

    def window_of(self, setting: Sequence[Number], own: Window | None) -> Window | None:
        """The window of a cell: the one that varies, the one that was given, the session's own."""
        varied = [int(value) for axis, value in zip(self.axes, setting, strict=True) if axis.field == WINDOW]
        given = varied[0] if varied else self.window
        return Window(given, "given") if given else own


@dataclass(frozen=True, slots=True)
class Cell:
    """What one file gives under one setting. `error` says why there is nothing, and then every figure is 0 or None.

    `after` is the mean size after a compaction, None without one; `over` the calls that would be sent more than the
    window holds; `dollars` as in `Replay.cost`, None where the model's prices are not known, `units` the same in
    millions of input tokens' worth; `retention` the mean share of facts held, from
    0 to 1, None where it was not asked for or nothing was compacted. `watched` says of each sentence how it stands in
    the end, None where it never stood in the session.
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


def plan_of(
    preset: Preset,
    vary: Sequence[str],
    window: int | None,
    *,
    retained: bool,
    part: str = "",
    watched: tuple[str, ...] = (),
) -> Plan:
    """Raises BadInput unless one or two fields vary, each value is allowed, and there are not too many of them."""
    if not 1 <= len(vary) <= 2:
        raise BadInput("A sweep varies one or two fields; give --vary once or twice.")
    axes = tuple(parse_axis(text, preset.policy) for text in vary)
    if len({axis.field for axis in axes}) < len(axes):
        raise BadInput(f"{axes[0].field} cannot vary along both axes; name two fields.")
    if math.prod(len(axis.values) for axis in axes) > MOST_VALUES:
        raise BadInput(f"This grid has more than {MOST_VALUES} settings; take larger steps.")
    plan = Plan(preset, axes, window, retained, part, watched)
    for setting in plan.settings:
        plan.policy(setting)
    return plan


ScaleOf = Callable[[Session], Scale | None]
"""What an exact count has taught of a session before; a function that other processes can be given."""


def no_scale(session: Session) -> None:
    """Of no session anything."""


def swept(
    file: str, plan: Plan, settings: Sequence[tuple[Number, ...]], scale_of: ScaleOf = no_scale
) -> tuple[Cell, ...]:
    """The cells of one file, which is loaded and counted once. Never raises: a file that fails gives cells that say
    why."""
    try:
        session = load(Path(file), part=plan.part)
        counter = Counter(CountCache(paths.token_counts()))
        counter.count_all(course_messages(session), lambda done, total: None, lambda: False)
        course = course_of(session, counter, scale=scale_of(session))
        own = window_of(session, 1)
    except Exception as error:
        # Whatever is wrong with one file of a hundred thousand, the others are not to be lost for it.
        return tuple(Cell(file, setting, error=_reason(error)) for setting in settings)
    return tuple(_cell(file, course, plan, setting, own) for setting in settings)


def _cell(file: str, course: Course, plan: Plan, setting: tuple[Number, ...], own: Window | None) -> Cell:
    held: list[float] = []

    def look(context: Context, outcome: Outcome) -> None:
        share = retention(context, outcome).of_context
        held.extend([] if share is None else [share])

    try:
        preset = plan.preset_with(setting)
        window = plan.window_of(setting, own)
        writer = extractive if plan.extracted else None
        on_outcome = look if plan.retained else None
        watched = [sentence_to_watch(one, course.messages) for one in plan.watched]
        played = replay(course, preset, window, writer, watched=watched, on_outcome=on_outcome)
    except Exception as error:
        return Cell(file, setting, error=_reason(error))
    return told(file, setting, played, held)


def told(file: str, setting: tuple[Number, ...], played: Replay, held: Sequence[float] = ()) -> Cell:
    """A replay as a cell; `held` are the shares of facts that its outcomes held."""
    return Cell(
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
        retention=math.fsum(held) / len(held) if held else None,
        watched=tuple(trail.last if trail.was_kept else None for trail in played.watched),
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, BadInput) else error_line(f"{type(error).__name__}: {text}".rstrip(": "))


def as_preset(plan: Plan, setting: Sequence[Number], name: str) -> Preset:
    """A preset of one's own with the numbers of a setting; a varied window is not part of it."""
    about = f"{plan.preset.about.rstrip('. ')}; from a sweep: {setting_words(plan.axes, setting)}."
    return replace(plan.preset, id=name, about=about, policy=plan.policy(setting))


def cell_fields(cell: Cell) -> dict[str, Any]:
    return {**asdict(cell), "setting": list(cell.setting)}


_CELL = TypeAdapter(Cell)


def cell_from(fields: Mapping[str, Any]) -> Cell:
    """Raises ValidationError for fields that are no cell's."""
    return _CELL.validate_python(fields)
