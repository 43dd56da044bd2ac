"""Texts about the plan on the bench: title and status lines, triggers, and the split."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from rich.text import Text

from workbench.base.figures import unbroken
from workbench.bench import Bench
from workbench.compaction.strategy import Trigger
from workbench.formats.registry import by_id
from workbench.tui.fields import changed_fields
from workbench.tui.plain import one_line, percent, several
from workbench.tui.rows import FATE_WORDS

if TYPE_CHECKING:
    from workbench.compaction.checks import Check
    from workbench.compaction.preset import Preset

APP = "Compaction workbench"


def title_text(bench: Bench) -> Text:
    """Title line: app, file, format, model, epoch and size."""
    session = bench.session
    name = session.path.name if session.path else session.title or session.id or "session"
    text = Text.assemble((f"{APP}  ", "dim"), (one_line(name, 80), "bold"), no_wrap=True)
    text.append(f"  {by_id(session.format).title} · {model_name(session.model)}", "dim")
    if session.begins_at:
        text.append(f" · {'newest epoch' if bench.epoch == len(session.epochs) else 'epoch before the newest'}")
    elif len(session.epochs) > 1:
        text.append(f" · epoch {bench.epoch} of {len(session.epochs)}")
    layout = bench.layout
    sizes = f"{several(len(layout.shape.rounds.rounds), 'round')} · {several(len(layout.messages), 'message')}"
    text.append(f" · {sizes}", "dim")
    if session.warnings:
        text.append(f" · ! {several(len(session.warnings), 'warning')}")
    return text


def model_name(model: str | None) -> str:
    """Model's name without its date."""
    return re.sub(r"-20\d{6}$", "", one_line(model, 60)) if model else "model unknown"


def title_end(bench: Bench, preset: Preset, counting: tuple[int, int] | None, reading: float | None = 0.0) -> Text:
    """Preset in force, or the progress of counting or of reading the earlier epochs; then the key of the help.
    `counting` is the number of counted messages and of all, `reading` a share, None if the epochs cannot be read."""
    if bench.session.begins_at:
        words = "earlier epochs unreadable" if reading is None else f"reading earlier epochs: {percent(reading)}"
    elif counting:
        done, total = counting
        words = f"counting {percent(done / max(1, total))} (esc stops)"
    else:
        count = len(changed_fields(bench.policy, preset.policy))
        words = f"preset {one_line(preset.id, 40)}{f', {count} changed' if count else ''}"
    return Text.assemble(words, ("   ?", "bold"), " help", no_wrap=True)


_JUST_BEGUN = 10
"""An epoch has only begun while it has fewer than 1/10 of the messages of the epoch before."""


def opening_words(bench: Bench) -> str:
    """First message of the status line: how to see the epoch before, if this one has only begun; else ""."""
    lengths = [len(epoch.members) for epoch in bench.session.epochs[: bench.epoch]]
    if len(lengths) < 2 or lengths[-1] * _JUST_BEGUN > lengths[-2]:
        return ""
    return "This epoch has only begun: { shows the one before."


def status_text(running: str, note: str) -> Text:
    """Run under way, or the last thing done."""
    if running:
        return Text(f"▶ {running} · esc cancels", "bold", no_wrap=True)
    return Text(one_line(note, 300), no_wrap=True)


def checks_words(checks: tuple[Check, ...]) -> str:
    """Checks in words: `✔ 13 checks`, `! 1 of 13 checks warns`, `✘ 2 of 13 checks failed`."""
    failed = [check for check in checks if not check.passed]
    if not failed:
        return f"✔ {several(len(checks), 'check')}"
    hard = sum(check.hard for check in failed)
    if hard:
        return f"✘ {hard} of {several(len(checks), 'check')} failed"
    return f"! {len(failed)} of {several(len(checks), 'check')} {'warns' if len(failed) == 1 else 'warn'}"


def state_text(bench: Bench, checks: tuple[Check, ...] | None) -> Text:
    """State of the plan: a result, or a preview and whether it would compact now; a moved split; the checks."""
    due = "would compact now" if bench.plan.fires else "not yet due" if bench.plan.triggers else "no trigger"
    parts = ["result of the last run"] if bench.result else ["preview", due]
    parts += ["split moved by hand"] if bench.split_at else []
    parts += [checks_words(checks)] if checks else []
    return Text(" · ".join(parts), no_wrap=True)


# --- triggers and split -----------------------------------------------------------------------------------------------


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
    return split_line(bench) + ("; moved by hand, ctrl+p Reset split resets it" if bench.split_at else "")


NO_SPLIT = "This strategy has no adjustable split."


def split_line(bench: Bench) -> str:
    """Text of the split line in the list, in the strategy's own units; "" if there is no split to move."""
    if not bench.strategy.movable:
        return ""
    unit, (head, tail) = bench.strategy.unit, _unit_counts(bench)
    above, below = (FATE_WORDS[fate] for fate in bench.outcome.usual_fates)
    if not head:
        return f"everything below is {below}"
    if not tail:
        return f"everything above is {above}: {several(head, unit)}"
    return f"{several(head, unit)} {above} above · {several(tail, unit)} {below} below"


def _unit_counts(bench: Bench) -> tuple[int, int]:
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
