"""Plan of a sweep: its axes, each a number of a policy or the window with its values, and its settings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from workbench.base.errors import BadInput
from workbench.base.figures import grouped
from workbench.compaction.policy import Converted, Policy, explain
from workbench.compaction.preset import Preset
from workbench.compaction.settings import Setting, settings_of, suggestion
from workbench.tokens.window import Window

WINDOW = "window"
"""Name of the axis that varies the model's context window. All other axes are policy fields."""

Number = int | float

MOST_VALUES = 10_000


@dataclass(frozen=True, slots=True)
class Axis:
    """Field and its values, in order. A dot in the name separates a group from its field."""

    field: str
    values: tuple[Number, ...]


def parse_axis(text: str, policy: Policy) -> Axis:
    """Parse `field=a..b:step`, `field=a..b` (step 1 for whole numbers, else a tenth of the range), or `field=a,b,c`.

    Raises BadInput for a field that is no number, or for invalid values.
    """
    name, equals, values = text.partition("=")
    name = name.strip()
    if not equals or not name or not values.strip():
        raise BadInput(f"--vary takes FIELD=A..B:STEP or FIELD=A,B,C, not {text!r}.")
    today = Converted(WINDOW) if name == WINDOW else type(policy).today(name)
    whole = name == WINDOW or _number_named(today.name, type(policy)).kind == "whole"
    try:
        found = _range(values, whole) if ".." in values else [_number(each, whole) for each in values.split(",")]
    except (ValueError, OverflowError):
        kind = "whole numbers" if whole else "numbers"
        raise BadInput(f"--vary {name}: {values!r} does not list {kind}; write A..B:STEP or A,B,C.") from None
    if not found:
        raise BadInput(f"--vary {name}: {values!r} holds no value; the first number must not be above the second.")
    return Axis(today.name, tuple(dict.fromkeys(map(today.value, found))))


def setting_words(axes: Sequence[Axis], setting: Sequence[Number]) -> str:
    """Return `trigger_tokens = 150 000, target_percent = 40`."""
    return ", ".join(f"{axis.field} = {value_words(value)}" for axis, value in zip(axes, setting, strict=True))


def value_words(value: Number) -> str:
    """Return a value in words."""
    return grouped(value) if isinstance(value, int) else f"{value:g}"


def varying_fields(policy: Policy) -> tuple[str, ...]:
    """Return the fields that may vary: the policy's numbers, those of its groups, and the window."""
    return (WINDOW, *_numbers(type(policy)))


def _numbers(policy: type[Policy]) -> dict[str, Setting]:
    return {one.key: one for one in settings_of(policy) if one.kind in ("whole", "real")}


def _number_named(name: str, policy: type[Policy]) -> Setting:
    known = _numbers(policy)
    if name not in known:
        raise BadInput(f"There is no number {name!r} to vary; {suggestion(name, (WINDOW, *known))}")
    return known[name]


def _range(text: str, whole: bool) -> list[Number]:
    ends, _, step_text = text.partition(":")
    first, last = (_number(end, whole) for end in ends.split("..", 1))
    step = _number(step_text, whole) if step_text.strip() else 1 if whole else (last - first) / 10
    if step <= 0:
        raise ValueError(step)
    count = math.floor((last - first) / step + 1e-9) + 1
    if count > MOST_VALUES:
        raise BadInput(f"{text!r} gives more than {MOST_VALUES} values; take larger steps.")
    return [first + step * n if whole else round(first + step * n, 10) for n in range(max(count, 0))]


def _number(text: str, whole: bool) -> Number:
    plain = text.strip().replace("_", "").lower()
    scale = 1_000_000 if plain.endswith("m") else 1_000 if plain.endswith("k") else 1
    value = float(plain.rstrip("km")) * scale
    if not math.isfinite(value) or (whole and value != int(value)):
        raise ValueError(text)
    return int(value) if whole else value


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
        chosen = varied[0] if varied else self.window
        return Window(chosen, "given") if chosen else own


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


def as_preset(plan: SweepPlan, setting: Sequence[Number], name: str) -> Preset:
    """Return a new preset with the numbers of a setting. A varied window is left out, because presets have none."""
    about = f"{plan.preset.about.rstrip('. ')}; from a sweep: {setting_words(plan.axes, setting)}."
    return replace(plan.preset, id=name, about=about, policy=plan.policy(setting))
