"""Line of the session's epochs: size, trigger and time of each compaction, facts lost, rework. A click opens one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.analysis.timeline import TimelineEpoch
from workbench.base.figures import short
from workbench.base.text import plural
from workbench.tui.plain import clock, line_of

BETWEEN = " │ "


class EpochCell(Struct, frozen=True):
    """Text of an epoch, or "…" for hidden ones: `epoch` is the target of a click."""

    text: str
    epoch: int


class EpochsLine(Widget):
    """Line that is hidden if the session has one epoch only."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"epochs--{name}" for name in ("here", "other", "dim")}

    @dataclass
    class Selected(Message):
        epoch: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.epochs: tuple[TimelineEpoch, ...] = ()
        self.epoch = 0
        self.tooltip = (
            "The epochs: parts of the session between recorded compactions, with the size at which each was "
            "compacted, the facts lost (−) and the rework (↻), work repeated because of it: files read, "
            "commands run, searches, questions, your statements and edits. Why lists it. { and } go to the next one."
        )

    def show(self, epochs: tuple[TimelineEpoch, ...], epoch: int) -> None:
        if self.display is not (len(epochs) > 1):
            self.display = len(epochs) > 1
        self.epochs, self.epoch = epochs, epoch
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.visual_style.rich_style
        segments = [Segment(" ", base)]
        for number, cell in enumerate(epoch_cells(self.epochs, width, self.epoch)):
            name = "here" if cell.epoch == self.epoch and cell.text != "…" else "other"
            if number:
                segments.append(Segment(BETWEEN, base + self.get_component_rich_style("epochs--dim", partial=True)))
            segments.append(Segment(cell.text, base + self.get_component_rich_style(f"epochs--{name}", partial=True)))
        return line_of(segments, width, base)

    def on_click(self, event: events.Click) -> None:
        if epoch := epoch_under(self.epochs, self.size.width, self.epoch, event.x):
            self.post_message(self.Selected(epoch))


def epoch_cells(epochs: Sequence[TimelineEpoch], width: int, epoch: int) -> list[EpochCell]:
    """Every epoch in the longest wording that fits; if not even the shortest fits, those around the one on the
    bench."""
    for spell in (_whole, _with_time, _short, _brief, _bare):
        cells = [EpochCell(spell(one), one.number) for one in epochs]
        if _width(cells) <= width:
            return cells
    return _around(epochs, width, epoch, _bare)


def _around(
    epochs: Sequence[TimelineEpoch], width: int, epoch: int, spell: Callable[[TimelineEpoch], str]
) -> list[EpochCell]:
    """As many epochs around the one on the bench as fit, preferably newer ones, with `…` for hidden ones."""
    first = last = max(0, min(epoch - 1, len(epochs) - 1))

    def shown(first: int, last: int) -> list[EpochCell]:
        cells = [EpochCell(spell(one), one.number) for one in epochs[first : last + 1]]
        before = [EpochCell("…", epochs[first - 1].number)] if first else []
        return [*before, *cells, *([EpochCell("…", epochs[last + 1].number)] if last + 1 < len(epochs) else [])]

    while True:
        if last + 1 < len(epochs) and _width(shown(first, last + 1)) <= width:
            last += 1
        elif first and _width(shown(first - 1, last)) <= width:
            first -= 1
        else:
            return shown(first, last)


def _width(cells: Sequence[EpochCell]) -> int:
    return 2 + sum(cell_len(cell.text) for cell in cells) + len(BETWEEN) * (len(cells) - 1)


def epoch_under(epochs: Sequence[TimelineEpoch], width: int, epoch: int, x: int) -> int | None:
    """Epoch drawn in column `x`."""
    at = 1
    for cell in epoch_cells(epochs, width, epoch):
        if at <= x < at + cell_len(cell.text):
            return cell.epoch
        at += cell_len(cell.text) + len(BETWEEN)
    return None


def _whole(one: TimelineEpoch) -> str:
    """`2 · 155k auto 17:28, lost 36 facts, 6 × rework`; for the last epoch `3 · 41k now`"""
    if one.ended is None:
        return f"{_bare(one)} now"
    lost = "" if one.lost is None else f", lost {one.lost} {plural(one.lost, 'fact')}"
    again = "" if one.again is None else f", {one.again} × rework"
    return _with_trigger_and_time(one) + lost + again


def _with_time(one: TimelineEpoch) -> str:
    """`2 · 155k auto 17:28, lost 36, 6 × rework`"""
    return _with_trigger_and_time(one) + _loss_words(one)


def _short(one: TimelineEpoch) -> str:
    """`2 · 155k auto, lost 36, 6 × rework`"""
    return _with_trigger(one) + _loss_words(one)


def _brief(one: TimelineEpoch) -> str:
    """`2 · 155k auto −36 ↻6`"""
    return _with_trigger(one) + (f" −{one.lost}" if one.lost else "") + (f" ↻{one.again}" if one.again else "")


def _loss_words(one: TimelineEpoch) -> str:
    return (f", lost {one.lost}" if one.lost else "") + (f", {one.again} × rework" if one.again else "")


def _with_trigger_and_time(one: TimelineEpoch) -> str:
    return " ".join(filter(None, (_with_trigger(one), clock(one.ended.time) if one.ended else "")))


def _with_trigger(one: TimelineEpoch) -> str:
    return " ".join(filter(None, (_bare(one), one.trigger)))


def _bare(one: TimelineEpoch) -> str:
    return f"{one.number} · {short(one.tokens)}" if one.tokens else str(one.number)
