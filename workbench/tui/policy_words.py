"""Texts of triggers, split and settings, without a widget."""

from __future__ import annotations

from bisect import bisect_left

from workbench.base.environment import PREFIX
from workbench.base.figures import unbroken
from workbench.base.text import plural
from workbench.bench import Bench
from workbench.compaction.labels import choice_of
from workbench.compaction.settings import Setting
from workbench.compaction.strategy import Trigger
from workbench.tui.fields import allowed_words, condition_words, value_words
from workbench.tui.plain import figure
from workbench.tui.rows import FATE_WORDS


def trigger_words(trigger: Trigger) -> str:
    """Trigger as commands print it, after a sign that it fires: `✔ trigger 50 000 characters (history): now …`."""
    return f"{'✔' if trigger.fires else '·'} {unbroken(str(trigger))}"


def split_words(bench: Bench) -> str:
    """Split in the strategy's own units, `120 exchanges summarized above · 12 exchanges kept below`, or why there is
    none."""
    if bench.outcome.status == "unchanged":
        return f"Nothing to compact: {bench.outcome.reason}"
    if not bench.strategy.movable:
        return NO_SPLIT
    return split_line(bench) + ("; moved by hand, t resets it" if bench.split_at else "")


NO_SPLIT = "This strategy has no adjustable split."


def split_line(bench: Bench) -> str:
    """Text of the split line in the list, in the strategy's own units; "" if there is no split to move."""
    if not bench.strategy.movable:
        return ""
    unit, (head, tail) = bench.strategy.unit, _units(bench)
    above, below = (FATE_WORDS[fate] for fate in bench.outcome.usual_fates)
    if not head:
        return f"everything below is {below}"
    if not tail:
        return f"everything above is {above}: {_count(head, unit)}"
    return f"{_count(head, unit)} {above} above · {_count(tail, unit)} {below} below"


def _units(bench: Bench) -> tuple[int, int]:
    """Number of the strategy's units above and below the split."""
    starts = bench.context.unit_starts(bench.strategy.unit)
    head = bisect_left(starts, bench.outcome.split)
    return head, len(starts) - head


def unmovable_words(bench: Bench) -> str:
    """Reason why the split's keys are off, "" if they are on."""
    if not bench.messages:
        return "This epoch has no messages, so there is nothing to split."
    if not bench.strategy.movable:
        return f"{bench.strategy.title} has no adjustable split. P chooses another strategy, augment-example for one."
    return ""


def help_words(field: Setting, preset_value: object = None, *, differs: bool = False, source: str = "default") -> str:
    """Help of a setting: its meaning, allowed values, default, condition, source, and the preset's value if it differs.
    `source` is that of `Preset.source_of`."""
    facts = [f"allowed: {allowed}"] if (allowed := allowed_words(field)) else []
    if field.choices:
        facts.append(f"one of {', '.join(_with_id(field, one) for one in field.choices)}")
    if field.unit:
        facts.insert(0, field.unit)
    if field.kind != "lines" and field.default not in (None, ""):
        facts.append(f"default {value_words(field, field.default)}")
    text = " ".join(filter(None, (field.help, f"({', '.join(facts)})" if facts else "")))
    if field.needs:
        text += f" Counts only where {condition_words(field)}."
    origin = f"${source}" if source.startswith(PREFIX) else source
    if differs:
        was = origin if origin != source else "preset"
        return f"{text} ≠ {was}: {value_words(field, preset_value)}; ctrl+z goes back to it."
    return text if origin == "default" else f"{text} From {'the preset' if origin == 'preset' else origin}."


def _with_id(field: Setting, choice: str) -> str:
    """Choice as the form names it, with its id in brackets."""
    words = choice_of(field.path[-1], choice)
    return words if words == choice else f"{words} ({choice})"


def _count(number: int, unit: str) -> str:
    return f"{figure(number)} {plural(number, unit)}"
