"""What two outcomes of the same context differ in: message by message, and their summaries beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workbench.analysis.two_outcomes import Stretch, added, shortened, stretches
from workbench.bench import Bench
from workbench.compaction.outcome import Made, Outcome
from workbench.tui.middle.changes import AROUND, lines_of, text_changes
from workbench.tui.middle.columns import beside
from workbench.tui.middle.view import Parts
from workbench.tui.plain import figure, several
from workbench.tui.rows import first_words, role_word
from workbench.tui.widgets.text_view import Part

BESIDE = 64
"""Cells from which summaries stand side by side."""

LISTED = 400
"""Messages of one stretch that are listed; the rest of it is counted."""


@dataclass(frozen=True)
class Named:
    """An outcome with the name of its column."""

    name: str
    outcome: Outcome


def context_parts(bench: Bench, first: Named, second: Named) -> Parts:
    """The input from its beginning to its end: `A` only the first outcome keeps it, `B` only the second, `~` they keep
    it in different forms, `=` both alike; what neither keeps is counted."""
    both, either = list(stretches(first.outcome, second.outcome)), (first, second)
    kept = [sum(len(one) for one in both if (one.first, one.second) == fares) for fares in _FARES]
    sizes = [bench.context.outcome_size(one.outcome) for one in either]
    names = " · ".join(
        f"{letter} {one.name}: {size} tokens" for letter, one, size in zip("AB", either, sizes, strict=True)
    )
    counts = f"= {figure(kept[0])} in both · A {figure(kept[1])} only in A · B {figure(kept[2])} only in B"
    neither = sum(len(one) for one in both if one.first == one.second == "gone")
    parts = [Part(names, "title"), Part(f"{counts} · {figure(neither)} in neither, of the messages before", "dim")]
    parts.append(Part(""))
    short = shortened(first.outcome), shortened(second.outcome)
    new = [
        (_place(piece), letter, piece) for letter, one in zip("AB", either, strict=True) for piece in added(one.outcome)
    ]
    new.sort(key=lambda one: one[:2])
    for stretch in both:
        while new and new[0][0] <= stretch.start:
            parts.append(_new(bench, *new.pop(0)[1:]))
        parts += _stretch(bench, stretch, short)
    return [*parts, *(_new(bench, letter, piece) for _, letter, piece in new)]


_FARES = (("kept", "kept"), ("kept", "gone"), ("gone", "kept"))


def _place(piece: Made) -> int:
    return max((span.stop for span in piece.stands_for), default=0)


def _new(bench: Bench, letter: str, piece: Made) -> Part:
    size = bench.context.measure((piece.message,))
    stood = sum(len(span) for span in piece.stands_for)
    instead = f"for {several(stood, 'message')}" if stood else "for none"
    words = (
        f"{letter} +     new {role_word(piece.message):<8}{size!s:>9}  {instead}: {first_words(piece.message)[:300]}"
    )
    return Part(words, _STYLES[letter], one_row=True)


_STYLES = {"A": "good", "B": "result", "~": "warning", "=": "dim"}
"""By the sign that each line begins with: colours are not the only sign."""


def _stretch(bench: Bench, one: Stretch, short: tuple[dict[int, Made], dict[int, Made]]) -> Iterator[Part]:
    match one.first, one.second:
        case "gone", "gone":
            yield Part(
                f"  ⋮ {several(len(one), 'message')} in neither, {bench.context.size(one.start, one.stop)} tokens",
                "dim",
            )
        case "kept", "kept":
            yield from _same(bench, one)
        case "gone", _:
            yield from _listed(bench, one, "B")
        case _, "gone":
            yield from _listed(bench, one, "A")
        case _:
            for index in range(one.start, min(one.stop, one.start + LISTED)):
                yield from _forms(bench, index, short)
            yield from _more(one, LISTED)


def _same(bench: Bench, one: Stretch) -> Iterator[Part]:
    if len(one) <= 2 * AROUND + 1:
        yield Part("\n".join(_line(bench, "=", index) for index in range(one.start, one.stop)), "dim", one_row=True)
        return
    ends = [_line(bench, "=", index) for index in (one.start, one.stop - 1)]
    size = bench.context.size(one.start + 1, one.stop - 1)
    yield Part(ends[0], "dim", one_row=True)
    yield Part(f"  ⋮ {several(len(one) - 2, 'message')} in both, {size} tokens", "dim")
    yield Part(ends[1], "dim", one_row=True)


def _listed(bench: Bench, one: Stretch, letter: str) -> Iterator[Part]:
    shown = range(one.start, min(one.stop, one.start + LISTED))
    yield Part("\n".join(_line(bench, letter, index) for index in shown), _STYLES[letter], one_row=True)
    yield from _more(one, LISTED)


def _more(one: Stretch, listed: int) -> Iterator[Part]:
    if len(one) > listed:
        yield Part(f"  ⋮ and {figure(len(one) - listed)} more alike", "dim")


def _line(bench: Bench, sign: str, index: int) -> str:
    message, size = bench.messages[index], bench.context.size(index, index + 1)
    return f"{sign} {index + 1:>5} {role_word(message):<8}{size!s:>9}  {first_words(message)[:300]}"


def _forms(bench: Bench, index: int, short: tuple[dict[int, Made], dict[int, Made]]) -> Iterator[Part]:
    """A message that both keep, at least one of them in fewer words."""
    whole = bench.messages[index]
    one, other = (made[index].message if index in made else whole for made in short)
    if lines_of(one) == lines_of(other):
        yield Part(_line(bench, "=", index) + " (shortened alike)", "dim", one_row=True)
        return
    sizes = [
        bench.context.size(index, index + 1) if message is whole else bench.context.measure((message,))
        for message in (one, other)
    ]
    head = f"~ {index + 1:>5} {role_word(whole):<8} A {sizes[0]} · B {sizes[1]} tokens; - A, + B"
    yield Part(head, "warning", one_row=True)
    yield from text_changes(lines_of(one), lines_of(other), indent="  ")


def summary_parts(bench: Bench, first: Named, second: Named, width: int) -> Parts:
    """What is new in either, side by side where there is room."""
    columns = [_whole(bench, letter, one) for letter, one in (("A", first), ("B", second))]
    if width >= BESIDE:
        return beside(columns[0], columns[1], width)
    return [*columns[0], Part(""), *columns[1]]


def _whole(bench: Bench, letter: str, one: Named) -> Parts:
    made = added(one.outcome)
    size = bench.context.measure([piece.message for piece in made])
    parts = [Part(f"{letter} {one.name}: {figure(len(made))} new, {size} tokens", "title")]
    if not made:
        parts.append(Part(one.outcome.reason or "nothing is new", "dim"))
    for piece in made:
        parts += [Part(""), Part("\n".join(lines_of(piece.message)))]
    return parts
