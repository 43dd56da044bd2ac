"""Facts kept after several compactions in a row, as rows of bars: a row for each share, a column for each compaction.
Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from workbench.analysis.generations import Generations
from workbench.base.figures import short
from workbench.tui.plain import bar, fit, one_line, percent, spark
from workbench.tui.widgets.watched_lines import SIGNS, STYLES

NAME, SPARK = 24, 12
"""Cells of a row's name at most, and of the line over all compactions."""
SHORTEST, LONGEST = 4, 40
"""Fewest and most cells of a bar; below, figures alone."""

COLOURS = {"good": "green", "bad": "red", "warning": "yellow"}


def heads(found: Generations) -> Iterator[str]:
    yield "share kept"
    yield "over time"
    for step in found.steps:
        yield f"{step.number}.{' *' if step.replayed else ''}"


def bar_of(width: int, count: int) -> int:
    """Cells of a bar in a table of `width` cells with `count` compactions; 0 for figures alone."""
    room = (width - NAME - SPARK - 6) // max(count, 1) - 8
    return min(room, LONGEST) if room >= SHORTEST else 0


def rows(found: Generations, watched: Sequence[str], cells_of_bar: int) -> Iterator[list[Text]]:
    """Rows of the table: facts of the first head over all and by kind, each watched sentence, the sizes of context and
    summaries in tokens with bars relative to the largest context, and the number of messages added before each."""
    steps, long = found.steps, cells_of_bar
    yield _shares("what mattered", found.weighted, long, strong=True)
    yield _shares("all facts", found.overall, long, strong=True)
    yield _shares("correct", found.right, long)
    for kind, shares in found.survival.items():
        yield _shares(kind, shares, long)
    for at, sentence in enumerate(watched):
        verdicts = [step.watched[at] for step in steps]
        cells = [Text(f"{SIGNS[one]} {one}", COLOURS.get(STYLES[one], "")) for one in verdicts]
        yield [Text(f"◉ {fit(one_line(sentence), NAME - 2).rstrip()}"), Text(""), *cells]
    whole = max((step.before for step in steps), default=1)
    yield _sizes("context after", [step.after for step in steps], whole, long)
    yield _sizes("its summaries", [step.summary for step in steps], whole, long)
    yield [Text("grown by messages", "dim"), Text(""), *(Text(f"{step.grown:>{long + 6}}", "dim") for step in steps)]


def _shares(name: str, shares: Sequence[float | None], long: int, *, strong: bool = False) -> list[Text]:
    known = [round(1000 * share) for share in shares if share is not None]
    cells = [Text("unknown", "dim") if share is None else _bar(share, f"{percent(share):>6}", long) for share in shares]
    return [Text(name, "bold" if strong else ""), Text(spark(known, SPARK, 1000), "dim"), *cells]


def _sizes(name: str, tokens: Sequence[int], whole: int, long: int) -> list[Text]:
    cells = [_bar(one / max(whole, 1), f"{short(one):>6}", long) for one in tokens]
    return [Text(name, "dim"), Text(spark(tokens, SPARK, whole), "dim"), *cells]


def _bar(share: float, figure: str, long: int) -> Text:
    return Text.assemble((bar(share, long), "dim"), figure) if long else Text(figure)
