"""The tables of a diagnosis: who filled the context, and what of it was waste. Each row names a message to go to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.analysis.rework import KINDS, Again
from workbench.analysis.rewrites import CAUSES
from workbench.analysis.why.diagnosis import Diagnosis
from workbench.analysis.why.fillers import Share
from workbench.analysis.why.waste import UNUSED_RULE, Spot
from workbench.base.text import clip
from workbench.tui.plain import figure, one_line

MOST = 200
"""Rows of one table; `cwb why --json` has all of them."""


@dataclass(frozen=True)
class Row:
    """`message` is the id of the one to go to, "" where there is none."""

    cells: tuple[str, ...]
    message: str = ""


@dataclass(frozen=True)
class Table:
    """`numbers` is how many of the first columns are figures, set to the right."""

    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    numbers: int
    about: str = ""

    def side(self, column: int) -> Literal["left", "right"]:
        return "right" if column < self.numbers else "left"


def layers(found: Diagnosis) -> Table:
    rows = [Row((*_part(found, one.tokens, one.basis.value), one.name)) for one in found.layers]
    return Table(("tokens", "%", "layer"), tuple(rows), 2, "What the prompt is made of.")


def tools(found: Diagnosis) -> Table:
    about = "Calls and results by tool." if found.tools else "No tool was called in this epoch."
    return _shares(found, found.tools, "tool", about)


def files(found: Diagnosis) -> Table:
    about = "Calls that view or change a file." if found.files else "No call of this epoch views or changes a file."
    return _shares(found, found.files, "file", about)


def rounds(found: Diagnosis) -> Table:
    ordered = sorted(found.rounds, key=lambda one: -one.tokens)
    rows = [
        Row((*_part(found, one.tokens), figure(one.upto), figure(one.number)), one.message) for one in ordered[:MOST]
    ]
    grows = f"In the newest rounds the context grew by {figure(found.growth_per_round)} tokens each."
    return Table(("tokens", "%", "context then", "round"), tuple(rows), 4, grows)


def largest(found: Diagnosis) -> Table:
    rows = [
        Row((*_part(found, one.tokens), figure(one.number), one_line(one.what, 120)), one.message)
        for one in found.largest
    ]
    return Table(("tokens", "%", "message", "what"), tuple(rows), 3, "The largest messages.")


def rereads(found: Diagnosis) -> Table:
    rows = [
        Row(
            (
                *_part(found, one.tokens),
                figure(len(one.reads)),
                figure(sum(read.tokens for read in one.repeated)),
                one_line(one.path, 200),
            ),
            one.reads[0].message,
        )
        for one in found.waste.rereads[:MOST]
    ]
    heads = ("tokens", "%", "reads", "shown again later", "file")
    about = "Files that were read more than once." if rows else "No file was read more than once in this epoch."
    return Table(heads, tuple(rows), 4, about)


def unused(found: Diagnosis) -> Table:
    unused = found.waste.unused
    return _spots(
        found, unused, UNUSED_RULE if unused else f"No tool result was left unused in this epoch. {UNUSED_RULE}"
    )


def others(found: Diagnosis) -> Table:
    waste = found.waste
    spots = (*waste.base64, *waste.logs, *waste.cut)
    kinds = "Encoded files, logs, and results that were cut."
    return _spots(found, spots, kinds if spots else "No encoded file, no log and no result that was cut in this epoch.")


def rework(found: Diagnosis) -> Table:
    items = sorted(((one.made, item) for one in found.rework for item in one.items), key=lambda each: -each[1].tokens)
    rows = [
        Row(
            (figure(item.tokens), figure(made.epoch), KINDS[item.kind][0], *_ids(item), one_line(item.what, 200)),
            item.after,
        )
        for made, item in items[:MOST]
    ]
    if rows:
        about = "Done again after the recorded compaction that ended the epoch; ⏎ goes to where it was done again."
    elif found.rework:
        about = f"Nothing was done again after {_compactions(len(found.rework))} from this epoch on."
    else:
        about = "No compaction is recorded from this epoch on: nothing can have been done again."
    return Table(("tokens", "epoch", "done", "before", "again", "what"), tuple(rows), 2, about)


def cache(found: Diagnosis) -> Table:
    heads = ("tokens", "cost", "cause", "epoch", "call", "after")
    made = found.rewrites
    if made is None:
        return Table(heads, (), 2, "The recorded usage has no cache figures.")
    rows = [
        Row(
            (
                figure(one.tokens),
                made.rates.words(one.cost),
                CAUSES[one.cause],
                figure(one.epoch),
                figure(one.call),
                "" if one.seconds is None else waited(one.seconds),
            ),
            one.message,
        )
        for one in sorted(made.again, key=lambda one: -one.tokens)[:MOST]
    ]
    return Table(heads, tuple(rows), 2, f"Written to the cache again: {made}.")


def waited(seconds: float) -> str:
    """The time since the call before, by its largest unit."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _ids(item: Again) -> tuple[str, str]:
    """Both places, by the beginnings of their ids, which a message shows in full."""
    return clip(one_line(item.before), ID), clip(one_line(item.after), ID)


ID = 9
"""Characters: a number of the session's own is whole."""


def _compactions(number: int) -> str:
    return "the compaction that is recorded" if number == 1 else f"the {figure(number)} compactions that are recorded"


TABLES: dict[str, tuple[str, Callable[[Diagnosis], Table]]] = {
    "layers": ("Layer", layers),
    "tools": ("Tool", tools),
    "files": ("File", files),
    "rounds": ("Round", rounds),
    "largest": ("Large", largest),
    "rereads": ("Again", rereads),
    "unused": ("Unused", unused),
    "others": ("Logs", others),
    "rework": ("Rework", rework),
    "cache": ("Cache", cache),
}
"""By name: the tab's title, and its table."""


def _part(found: Diagnosis, tokens: int, sign: str = "") -> tuple[str, str]:
    """Tokens, and their share of the whole context in per cent."""
    return sign + figure(tokens), f"{100 * tokens / max(found.total.tokens, 1):.0f}"


def _shares(found: Diagnosis, shares: Sequence[Share], thing: str, about: str) -> Table:
    rows = [
        Row((*_part(found, one.tokens), figure(one.count), one_line(one.name, 200)), one.messages[0])
        for one in shares[:MOST]
    ]
    return Table(("tokens", "%", "calls", thing), tuple(rows), 3, about)


def _spots(found: Diagnosis, spots: Sequence[Spot], about: str) -> Table:
    ordered = sorted(spots, key=lambda one: -one.tokens)[:MOST]
    rows = [
        Row((*_part(found, one.tokens), figure(one.index + 1), one_line(one.note, 200)), one.message) for one in ordered
    ]
    more = f" {figure(len(spots) - MOST)} more in cwb why --json." if len(spots) > MOST else ""
    return Table(("tokens", "%", "message", "note"), tuple(rows), 3, about + more)
