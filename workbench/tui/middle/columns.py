"""Two texts side by side, row by row."""

from __future__ import annotations

from itertools import zip_longest

from workbench.tui.middle.view import Parts
from workbench.tui.plain import fit
from workbench.tui.widgets.text_view import TextPart, wrap

RULE = " │ "


def side_by_side(left: Parts, right: Parts, width: int) -> Parts:
    """Both texts wrapped to half of `width`; each row keeps both styles."""
    half = (width - len(RULE)) // 2
    rows = zip_longest(_rows(left, half), _rows(right, half), fillvalue=("", ""))
    lines: Parts = []
    for (words, style), (others, other) in rows:
        start = fit(words, half) + RULE
        lines.append(TextPart(start + others, style, one_row=True, then=((len(start), other),)))
    return lines


def _rows(parts: Parts, width: int) -> list[tuple[str, str]]:
    wrapped = wrap(parts, width)
    cells = zip(wrapped.line, wrapped.start, wrapped.stop, strict=True)
    return [(wrapped.lines[line][start:stop], wrapped.styles[line]) for line, start, stop in cells]
