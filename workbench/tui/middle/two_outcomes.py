"""Two outcomes of the same context side by side: message by message, or their summaries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from workbench.analysis.outcome_comparison import (
    ComparedFate,
    FatePair,
    added_messages,
    compare_fates,
    shortened_messages,
)
from workbench.base.figures import short
from workbench.bench import Bench
from workbench.compaction.outcome import NewMessage
from workbench.tokens.sizes import Size
from workbench.tui.middle.changes import AROUND, lines_of, text_changes
from workbench.tui.middle.pager import Pager
from workbench.tui.middle.parts import Parts, side_by_side
from workbench.tui.plain import figure, plain, several
from workbench.tui.ranking import RankRow
from workbench.tui.rows import first_words, role_word
from workbench.tui.widgets.text_view import TextPart, wrap

SIDE_BY_SIDE = 64
"""Width in cells from which two outcomes are side by side."""

LISTED = 400
"""Maximum number of listed messages in a sequence of messages with the same fates."""


class TwoOutcomes(Vertical):
    """View of two outcomes: a row for each message, in the column of the outcome that keeps it; or both summaries."""

    def __init__(self) -> None:
        super().__init__()
        self.make_parts: Callable[[int], Parts] | None = None
        self.words = ""

    def compose(self) -> ComposeResult:
        yield Static(id="two-names")
        yield Pager()

    def show(self, bench: Bench, first: RankRow, second: RankRow, *, summaries: bool) -> None:
        what, make = ("summaries", summary_parts) if summaries else ("contexts", context_parts)
        self.make_parts, self.words = partial(make, bench, first, second), f"{what} · A {first.name} · B {second.name}"
        self.query_one("#two-names", Static).update(Text(plain(self.words)))
        self.query_one(Pager).focus()
        self.call_after_refresh(self.fill)

    @on(Pager.Rewrap)
    @work(exclusive=True, group="two", exit_on_error=False, description="fill")
    async def fill(self) -> None:
        """Make and wrap the text in a thread."""
        make_parts, words, view = self.make_parts, self.words, self.query_one(Pager)
        if make_parts is not None:
            width = view.wrap_width
            parts = tuple(await asyncio.to_thread(make_parts, width))
            view.put(parts, await asyncio.to_thread(wrap, parts, width), words)


CellPair = tuple[TextPart | None, TextPart | None]
"""Left and right cell of a row; None is empty."""


def context_parts(bench: Bench, first: RankRow, second: RankRow, width: int) -> Parts:
    """Return the messages from first to last. A message is in the column of each outcome that keeps it;
    messages that neither keeps are counted. Signs: `A` only the first keeps it, `B` only the second, `~` both in
    different forms, `=` both alike. Below a `width` of `SIDE_BY_SIDE` cells there is one column."""
    both = list(compare_fates(first.outcome, second.outcome))
    parts = _lay_in_columns([*_names(bench, first, second)], width)
    parts += [TextPart(_counts(both), "dim"), TextPart("")]
    return parts + _lay_in_columns(_rows(bench, first, second, both), width)


def _lay_in_columns(rows: Iterable[TextPart | CellPair], width: int) -> Parts:
    """Lay rows in two columns. If there is no room, put the cells of a row below each other, and equal cells once."""
    parts: Parts = []
    for row in rows:
        if isinstance(row, TextPart):
            parts.append(row)
        elif width >= SIDE_BY_SIDE:
            left, right = ([] if side is None else [side] for side in row)
            parts += side_by_side(left, right, width)
        else:
            alone = row[:1] if row[0] == row[1] else row
            parts += [side for side in alone if side is not None]
    return parts


def _names(bench: Bench, first: RankRow, second: RankRow) -> Iterator[CellPair]:
    named = zip("AB", (first, second), strict=True)
    left, right = (
        TextPart(f"{letter} {one.name}: {bench.context.outcome_size(one.outcome)} tokens", "title", one_row=True)
        for letter, one in named
    )
    yield left, right


def _counts(both: Sequence[FatePair]) -> str:
    def count(first: tuple[ComparedFate, ...], second: tuple[ComparedFate, ...]) -> str:
        return figure(sum(len(one) for one in both if one.first in first and one.second in second))

    alike = sum(len(one) for one in both if (one.first, one.second) == ("kept", "kept"))
    forms = sum(len(one) for one in both if "gone" not in (one.first, one.second)) - alike
    return (
        f"of the messages before: = {figure(alike)} in both · A {count(_THERE, _GONE)} only in A · "
        f"B {count(_GONE, _THERE)} only in B · ~ {figure(forms)} shortened in either · {count(_GONE, _GONE)} in neither"
    )


_GONE: tuple[ComparedFate, ...] = ("gone",)
_THERE: tuple[ComparedFate, ...] = ("kept", "shortened")


def _rows(bench: Bench, first: RankRow, second: RankRow, both: Sequence[FatePair]) -> Iterator[TextPart | CellPair]:
    shortened = shortened_messages(first.outcome), shortened_messages(second.outcome)
    named = zip("AB", (first, second), strict=True)
    new = [(_place(piece), letter, piece) for letter, one in named for piece in added_messages(one.outcome)]
    new.sort(key=lambda one: one[:2])
    for pair in both:
        here = sum(1 for place, _, _ in new if place <= pair.start)
        yield from _new_message_rows(bench, new[:here])
        del new[:here]
        yield from _fate_rows(bench, pair, shortened)
    yield from _new_message_rows(bench, new)


def _place(piece: NewMessage) -> int:
    return max((span.stop for span in piece.replaces), default=0)


def _new_message_rows(bench: Bench, new: Sequence[tuple[int, str, NewMessage]]) -> Iterator[CellPair]:
    left, right = (
        [_new_message_line(bench, letter, piece) for _, letter, piece in new if letter == side] for side in "AB"
    )
    yield from zip_longest(left, right)


def _new_message_line(bench: Bench, letter: str, piece: NewMessage) -> TextPart:
    size = bench.context.measure((piece.message,))
    count = sum(len(span) for span in piece.replaces)
    instead = f"for {several(count, 'message')}" if count else "for none"
    words = (
        f"{letter} +   new {role_word(piece.message):<8}{_short(size)} {instead}: {first_words(piece.message)[:300]}"
    )
    return TextPart(words, _STYLES[letter], one_row=True)


_STYLES = {"A": "good", "B": "result"}
"""Style of messages that only one outcome keeps."""


def _fate_rows(
    bench: Bench, one: FatePair, short: tuple[dict[int, NewMessage], dict[int, NewMessage]]
) -> Iterator[TextPart | CellPair]:
    match one.first, one.second:
        case "gone", "gone":
            yield TextPart(
                f"  ⋮ {several(len(one), 'message')} in neither, {bench.context.size(one.start, one.stop)} tokens",
                "dim",
            )
        case "kept", "kept":
            yield from _same(bench, one)
        case "gone", _:
            for line in _listed(bench, one, "B"):
                yield None, line
            yield from _more(one)
        case _, "gone":
            for line in _listed(bench, one, "A"):
                yield line, None
            yield from _more(one)
        case _:
            for index in range(one.start, min(one.stop, one.start + LISTED)):
                yield from _forms(bench, index, short)
            yield from _more(one)


def _same(bench: Bench, one: FatePair) -> Iterator[TextPart | CellPair]:
    lines = [TextPart(_line(bench, "=", index), "dim", one_row=True) for index in _ends(one)]
    if len(lines) == len(one):
        yield from ((line, line) for line in lines)
        return
    size = bench.context.size(one.start + 1, one.stop - 1)
    yield lines[0], lines[0]
    yield TextPart(f"  ⋮ {several(len(one) - 2, 'message')} in both, {size} tokens", "dim")
    yield lines[1], lines[1]


def _ends(one: FatePair) -> Sequence[int]:
    """Indexes of the messages if they are few, else of the first and the last."""
    return range(one.start, one.stop) if len(one) <= 2 * AROUND + 1 else (one.start, one.stop - 1)


def _listed(bench: Bench, one: FatePair, letter: str) -> Iterator[TextPart]:
    for index in range(one.start, min(one.stop, one.start + LISTED)):
        yield TextPart(_line(bench, letter, index), _STYLES[letter], one_row=True)


def _more(one: FatePair) -> Iterator[TextPart]:
    if len(one) > LISTED:
        yield TextPart(f"  ⋮ and {figure(len(one) - LISTED)} more alike", "dim")


def _line(bench: Bench, sign: str, index: int) -> str:
    message, size = bench.messages[index], bench.context.size(index, index + 1)
    return f"{sign} {index + 1:>5} {role_word(message):<8}{_short(size)} {first_words(message)[:300]}"


def _short(size: Size) -> str:
    """Size as in the list, so that half of a narrow screen has room for words."""
    return f"{size.basis.value}{short(size.tokens)}".rjust(6)


def _forms(bench: Bench, index: int, short: tuple[dict[int, NewMessage], dict[int, NewMessage]]) -> Iterator[CellPair]:
    """Yield the rows of a message that both outcomes keep and at least one shortens: the differences side by side."""
    whole = bench.messages[index]
    one, other = (form[index].message if index in form else whole for form in short)
    if lines_of(one) == lines_of(other):
        line = TextPart(_line(bench, "=", index) + " (shortened alike)", "dim", one_row=True)
        yield line, line
        return
    left, right = (
        bench.context.size(index, index + 1) if message is whole else bench.context.measure((message,))
        for message in (one, other)
    )
    head = f"~ {index + 1:>5} {role_word(whole):<8}"
    yield (
        TextPart(f"{head}{_short(left)} in A", "warning", one_row=True),
        TextPart(f"{head}{_short(right)} in B", "warning", one_row=True),
    )
    yield from _pair_lines(text_changes(lines_of(one), lines_of(other), indent="  "))


def _pair_lines(changes: Iterable[TextPart]) -> Iterator[CellPair]:
    """Pair removed lines with the added ones that replace them; common lines are in both columns."""
    waiting: TextPart | None = None
    for part in changes:
        if part.style == "bad":
            waiting = part
            continue
        if part.style == "good":
            yield waiting, part
        else:
            if waiting is not None:
                yield waiting, None
            yield part, part
        waiting = None
    if waiting is not None:
        yield waiting, None


def summary_parts(bench: Bench, first: RankRow, second: RankRow, width: int) -> Parts:
    """New messages of either outcome, side by side if there is room."""
    columns = [_summary_column(bench, letter, one) for letter, one in (("A", first), ("B", second))]
    if width >= SIDE_BY_SIDE:
        return side_by_side(columns[0], columns[1], width)
    return [*columns[0], TextPart(""), *columns[1]]


def _summary_column(bench: Bench, letter: str, one: RankRow) -> Parts:
    added = added_messages(one.outcome)
    size = bench.context.measure([piece.message for piece in added])
    parts = [TextPart(f"{letter} {one.name}: {figure(len(added))} new, {size} tokens", "title")]
    if not added:
        parts.append(TextPart(one.outcome.reason or "no new message", "dim"))
    for piece in added:
        parts += [TextPart(""), TextPart("\n".join(lines_of(piece.message)))]
    return parts
