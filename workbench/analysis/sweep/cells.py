"""Cells of a sweep. Each cell is one file replayed under one setting, independently of the others."""

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
class SweepPlan:
    """Plan of a sweep: a preset, its varying fields, and fixed options. `retained`: facts are checked in every outcome.
    `part` selects the session in files with several. `watched` rules are judged at every compaction."""

    preset: Preset
    axes: tuple[Axis, ...]
    window: int | None = None
    retained: bool = False
    part: str = ""
    watched: tuple[str, ...] = ()

    @property
    def extracted(self) -> bool:
        """True if summaries are sentences of the session instead of filler."""
        return self.retained or bool(self.watched)

    @property
    def settings(self) -> tuple[tuple[Number, ...], ...]:
        """Every combination of values; the last axis varies fastest."""
        return tuple(itertools.product(*(axis.values for axis in self.axes)))

    def policy(self, setting: Sequence[Number]) -> Policy:
        """Return the policy of a setting. Raises BadInput for an invalid value."""
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
        """Return the preset of a setting. Raises BadInput for an invalid value."""
        varied = {axis.field: "--vary" for axis in self.axes if axis.field != WINDOW}
        return self.preset.with_values(self.policy(setting), varied)

    def window_of(self, setting: Sequence[Number], own: Window | None) -> Window | None:
        """Return the window of a setting: the varying one, the given one, or the session's own."""
        varied = [int(value) for axis, value in zip(self.axes, setting, strict=True) if axis.field == WINDOW]
        given = varied[0] if varied else self.window
        return Window(given, "given") if given else own


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


def plan_of(
    preset: Preset,
    vary: Sequence[str],
    window: int | None,
    *,
    retained: bool,
    part: str = "",
    watched: tuple[str, ...] = (),
) -> SweepPlan:
    """Return a plan. Raises BadInput unless one or two fields vary, with valid values and at most `MOST_VALUES`
    combinations."""
    if not 1 <= len(vary) <= 2:
        raise BadInput("A sweep varies one or two fields; give --vary once or twice.")
    axes = tuple(parse_axis(text, preset.policy) for text in vary)
    if len({axis.field for axis in axes}) < len(axes):
        raise BadInput(f"{axes[0].field} cannot vary along both axes; name two fields.")
    if math.prod(len(axis.values) for axis in axes) > MOST_VALUES:
        raise BadInput(f"This grid has more than {MOST_VALUES} settings; take larger steps.")
    plan = SweepPlan(preset, axes, window, retained, part, watched)
    for setting in plan.settings:
        plan.policy(setting)
    return plan


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
        return SweepCell(file, setting, error=_reason(error))
    return cell_of_replay(file, setting, played, held)


def cell_of_replay(file: str, setting: tuple[Number, ...], played: Replay, held: Sequence[float] = ()) -> SweepCell:
    """Return a replay as a cell; `held` are the shares of facts kept by its outcomes."""
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
        retention=math.fsum(held) / len(held) if held else None,
        watched=tuple(trail.last if trail.was_kept else None for trail in played.watched),
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, BadInput) else error_line(f"{type(error).__name__}: {text}".rstrip(": "))


def as_preset(plan: SweepPlan, setting: Sequence[Number], name: str) -> Preset:
    """Return a new preset with the numbers of a setting. A varied window is left out, because presets have none."""
    about = f"{plan.preset.about.rstrip('. ')}; from a sweep: {setting_words(plan.axes, setting)}."
    return replace(plan.preset, id=name, about=about, policy=plan.policy(setting))


def cell_fields(cell: SweepCell) -> dict[str, Any]:
    """Return the fields of a cell for JSON."""
    return {**asdict(cell), "setting": list(cell.setting)}


_CELL = TypeAdapter(SweepCell)


def cell_from(fields: Mapping[str, Any]) -> SweepCell:
    """Return a cell of JSON fields. Raises ValidationError for invalid ones."""
    return _CELL.validate_python(fields)
