"""Settings as a sheet: columns of lines under headings, as styled cells. Pure.

A cell is (text, style name); the widget turns names into colours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from workbench.base.environment import PREFIX
from workbench.compaction.labels import choice_of, heading_of, label_of
from workbench.compaction.policy import Policy
from workbench.compaction.preset import Preset
from workbench.compaction.settings import Setting
from workbench.tui.fields import fields_of, input_text
from workbench.tui.plain import figure, fit, one_line

Cells = list[tuple[str, str]]

STYLES = ("label", "id", "value", "focused", "unit", "differs", "off", "group")

FOREMOST = "Most important"
"""Heading of the most important settings."""

COLUMN, GAP = 54, 2
"""Fewest cells of a column, and cells between two."""

VALUE, UNIT = 12, 12
"""Cells of a value and of its unit."""


@dataclass(frozen=True, slots=True)
class SheetSetting:
    """Setting on the sheet. `group` is its heading; `off` says why it has no effect; `variable` is the environment
    variable that sets it. `typed` is a refused text in its input."""

    field: Setting
    group: str
    value: Any
    differs: bool = False
    off: str = ""
    variable: str = ""
    typed: str | None = None

    @property
    def is_typed(self) -> bool:
        """True if its value is typed, not switched, chosen or edited elsewhere."""
        return self.field.kind in ("whole", "real", "text")


WHOLE = "All settings at once"
"""Heading of the actions below the settings."""


class SheetAction(Struct, frozen=True):
    """Action on all settings at once, or on the window. `id` is that of the bench's action, `value` its present state,
    `off` says why it is not possible now."""

    id: str
    name: str
    help: str
    value: str = ""
    off: str = ""

    @property
    def group(self) -> str:
        return WHOLE


def entries_of(policy: Policy, preset: Preset) -> tuple[SheetSetting, ...]:
    """Settings of a policy in the order of the sheet: the most important first."""
    first = {name: place for place, name in enumerate(policy.foremost)}
    every = fields_of(type(policy))
    chosen = sorted((one for one in every if one.path[0] in first), key=lambda one: first[one.path[0]])
    rest = [(heading_of(one.group), one) for one in every if one.path[0] not in first]

    def entry(group: str, one: Setting) -> SheetSetting:
        source, value = preset.source_of(one), one.of(policy)
        variable = source if source.startswith(PREFIX) else ""
        return SheetSetting(one, group, value, value != one.of(preset.policy), one.why_off(policy), variable)

    return tuple(entry(group, one) for group, one in (*((FOREMOST, one) for one in chosen), *rest))


# --- layout -----------------------------------------------------------------------------------------------------------

Item = str | int | None
"""Content of a line in a column: a heading, the number of an entry, or nothing."""


def columns_for(width: int) -> int:
    """Number of columns that fit side by side."""
    return max(1, (width + GAP) // (COLUMN + GAP))


def arrange_columns(
    entries: Sequence[SheetSetting | SheetAction], columns: int, height: int
) -> tuple[tuple[Item, ...], ...]:
    """Entries in columns of similar height. If `height` allows, an empty line separates two groups and no group
    continues in the next column."""
    groups = _groups(entries)
    found = _balance_columns(groups, columns, 1)
    if max(map(len, found)) > height:
        found = _balance_columns(groups, columns, 0)
    if max(map(len, found)) > height:
        lines = [item for group in groups for item in group]
        each = math.ceil(len(lines) / columns)
        found = tuple(tuple(lines[start : start + each]) for start in range(0, len(lines), each))
    return found


def _balance_columns(groups: Sequence[Sequence[Item]], columns: int, gap: int) -> tuple[tuple[Item, ...], ...]:
    """Complete groups in the lowest columns that hold them."""
    high = max(1, math.ceil(sum(map(len, groups)) / columns))
    while len(found := _fill_columns(groups, high, gap)) > columns:
        high += 1
    return found


def _groups(entries: Sequence[SheetSetting | SheetAction]) -> list[list[Item]]:
    groups: list[list[Item]] = []
    for number, entry in enumerate(entries):
        if not number or entry.group != entries[number - 1].group:
            groups.append([entry.group])
        groups[-1].append(number)
    return groups


def _fill_columns(groups: Sequence[Sequence[Item]], high: int, gap: int) -> tuple[tuple[Item, ...], ...]:
    """Groups in order, in columns of at most `high` lines."""
    columns: list[list[Item]] = [[]]
    for group in groups:
        if columns[-1] and len(columns[-1]) + gap + len(group) > high:
            columns.append([])
        columns[-1] += [*([None] * gap if columns[-1] else []), *group]
    return tuple(tuple(column) for column in columns)


# --- lines as cells ---------------------------------------------------------------------------------------------------


def value_place(entry: SheetSetting, width: int) -> tuple[int, int]:
    """Start and length of the value in a line of `width` cells. A text has half of the line."""
    if entry.field.kind in ("text", "lines"):
        room = max(VALUE, width // 2)
    elif entry.field.kind == "choice":
        room = VALUE + UNIT
    else:
        return width - VALUE - UNIT, VALUE
    return width - room, room


def entry_cells(entry: SheetSetting, width: int, *, is_focused: bool = False) -> Cells:
    """Line of a setting, exactly `width` cells: `≠ Compact from  trigger_tokens   50 000 tokens`."""
    start, room = value_place(entry, width)
    mark, style = ("≠ ", "differs") if entry.differs else ("$ ", "unit") if entry.variable else ("  ", "")
    name = entry.field.path[-1]
    words = label_of(name)
    left = start - len(mark) - 1
    room_for_id = left - len(words) - 2
    title = fit(words, left) if room_for_id < len(name) else words + "  "  # a cut id would say nothing
    label = "focused" if is_focused else "off" if entry.off else "differs" if entry.differs else "label"
    cells = [
        (mark, style),
        (title, label),
        (fit(name, left - len(title)) if len(title) < left else "", "id"),
        (" ", ""),
    ]
    value = value_words(entry, room)
    cells.append((fit(value, room), "focused" if is_focused else "off" if entry.off else "value"))
    rest = width - start - room
    return [*cells, (fit(f" {entry.field.unit}", rest), "unit")] if rest else cells


def row_cells(row: SheetAction, width: int, *, is_focused: bool = False) -> Cells:
    """Line of an action, exactly `width` cells: `  Context window      200 000 tokens ⏎`."""
    start = width // 2
    label = "focused" if is_focused else "off" if row.off else "label"
    value = fit(f"{fit(row.value, max(0, min(len(row.value), width - start - 2)))} ⏎".strip(), width - start)
    return [
        ("  ", ""),
        (fit(row.name, start - 2), label),
        (value, "focused" if is_focused else "off" if row.off else ""),
    ]


def value_words(entry: SheetSetting, room: int) -> str:
    """Text of a value that is not being edited."""
    field, value = entry.field, entry.value
    if entry.typed is not None:
        return entry.typed
    if field.kind == "switch":
        return "◉ on" if value else "○ off"
    if field.kind == "choice":
        words = choice_of(field.path[-1], str(value))
        return f"◂ {fit(words, min(len(words), room - 4))} ▸"
    if field.kind == "lines":
        size = f" {figure(len(value))} characters ⏎"
        first = one_line(value.lstrip().split("\n", 1)[0], 200) or "(empty)"
        return fit(first, max(0, room - len(size))) + size
    if isinstance(value, int | float) and float(value).is_integer():
        return figure(value)
    return one_line(input_text(value))


def line_cells(
    entries: Sequence[SheetSetting | SheetAction],
    columns: Sequence[Sequence[Item]],
    line: int,
    width: int,
    at: int | None = None,
) -> Cells:
    """Line of the sheet through all its columns; `at` is the entry under the cursor."""
    each = column_width(len(columns), width)
    cells: Cells = []
    for number, column in enumerate(columns):
        item = column[line] if line < len(column) else None
        cells += [(" " * GAP, "")] if number else []
        entry = entries[item] if isinstance(item, int) else None
        if isinstance(entry, SheetAction):
            cells += row_cells(entry, each, is_focused=item == at)
        elif entry is not None:
            cells += entry_cells(entry, each, is_focused=item == at)
        else:
            cells.append((fit(item if isinstance(item, str) else "", each), "group"))
    return cells


def column_width(columns: int, width: int) -> int:
    return (width + GAP) // columns - GAP


# --- steps ------------------------------------------------------------------------------------------------------------


FROM_NOTHING = {"tokens": 100.0, "characters": 100.0}
"""First step of a number that is 0, by unit: a single token or character is too small a step."""


def step_value(entry: SheetSetting, by: int) -> Any:
    """Value after `by` steps. A number's step is a power of ten, 1 % to 10 % of the value (at least 1 for a whole
    number); the result stays in the field's range. A choice moves by one in the direction of `by`; a switch turns."""
    field, value = entry.field, entry.value
    if field.kind == "switch":
        return not value
    if field.kind == "choice":
        at = field.choices.index(str(value)) + (1 if by > 0 else -1)
        return field.choices[at % len(field.choices)]
    if field.kind not in ("whole", "real"):
        return value
    now = value or 0
    step = 10.0 ** math.floor(math.log10(abs(now)) - 1) if now else FROM_NOTHING.get(field.unit, 1.0)
    if field.kind == "whole":
        step = max(1.0, step)
    elif not now and field.range.high is not None and field.range.high <= 1:
        step = 0.01
    new = round(now + by * step, 6)
    low, high = field.range.low, field.range.high
    if field.range.above is not None and new <= field.range.above:
        new = now
    new = new if low is None else max(new, low)
    new = new if high is None else min(new, high)
    return int(new) if field.kind == "whole" else new
