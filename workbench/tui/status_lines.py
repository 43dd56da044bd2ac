"""The two lines of words around the bench: what is open, and how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from workbench.bench import Bench
from workbench.formats.registry import by_id
from workbench.tui.middle.tabs import checks_title
from workbench.tui.plain import one_line, percent, several

if TYPE_CHECKING:
    from workbench.compaction.checks import Check


def title_text(bench: Bench, counting: tuple[int, int] | None, reading: float | None = 0.0) -> Text:
    """File, format, model, epoch, and how far the count is; and how much of the file is read of which only the end is
    on the bench, None where the rest cannot be."""
    session = bench.session
    name = session.path.name if session.path else session.title or session.id or "session"
    model = one_line(session.model or "model unknown", 60)
    text = Text(f" {one_line(name, 80)} ", "bold", no_wrap=True, overflow="ellipsis")
    text.append(f"· {by_id(session.format).title} · {model}", "not bold")
    if session.begins_at:
        newest = "newest epoch" if bench.epoch == len(session.epochs) else "epoch before the newest"
        rest = "could not be read" if reading is None else f"are being read: {percent(reading)}"
        text.append(f" · {newest}, the earlier ones {rest}", "not bold")
    elif len(session.epochs) > 1:
        text.append(f" · epoch {bench.epoch}/{len(session.epochs)}", "not bold")
    if session.warnings:
        text.append(f" · ! {several(len(session.warnings), 'warning')}", "not bold")
    if counting:
        done, total = counting
        text.append(f" · counting {percent(done / max(1, total))} (esc stops)", "not bold")
    return text


HARDLY = 10
"""An epoch with fewer messages than a tenth of the one before has hardly begun."""


def opening_words(bench: Bench) -> str:
    """What to say first: that the epoch on the bench has hardly begun, and how to see the one before it."""
    lengths = [len(epoch.members) for epoch in bench.session.epochs[: bench.epoch]]
    if len(lengths) < 2 or lengths[-1] * HARDLY > lengths[-2]:
        return ""
    return "this epoch has hardly begun: { shows the one before"


def status_text(bench: Bench, checks: tuple[Check, ...] | None, running: str, said: str) -> Text:
    """The verdict of the checks, whether this is a preview or a result, and what was done last."""
    outcome = bench.outcome
    text = Text(" ", no_wrap=True, overflow="ellipsis")
    if running:
        return text.append(f"▶ {running} · esc cancels", "bold")
    if checks:
        text.append(f"{checks_title(checks).text} · ")
    if bench.result is not None:
        text.append(f"run: {outcome.status.replace('_', ' ')} · ", "bold")
    elif outcome.status == "unchanged":
        text.append("preview: nothing to compact · ")
    else:
        fires = "trigger fires" if bench.plan.fires else "no trigger fires"
        text.append(f"preview, {fires}{', split by hand' if bench.split_at else ''} · ")
    return text.append(one_line(said or outcome.reason, 300))
