"""Text of a session made safe for a terminal, secrets masked, and the short forms of rows and legends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from workbench.base import figures
from workbench.base.figures import grouped, unbroken
from workbench.base.printable import printable
from workbench.base.stamps import shown
from workbench.base.text import before_figure, clip, plural

# Joiners, variation selectors and other marks without a width: terminals disagree about them, so rows would not align.
_WIDTHLESS = re.compile("[\u200b-\u200d\u2028\u2029\u2060-\u2065\ufe00-\ufe0f\ufeff]")
_SPACES = re.compile(r"\s+")


def plain(text: str) -> str:
    """`text` as a terminal can show it: control characters as visible signs, marks without a width left out."""
    return _WIDTHLESS.sub("", printable(text))


def one_line(text: str, limit: int = 400) -> str:
    """`text` on one line, printable, white space collapsed; cut to `limit` characters with `…`. `BEYOND` more
    characters are read, so that a secret at the cut is recognised."""
    return _SPACES.sub(" ", clip(plain(clip(text, limit + BEYOND)), limit)).strip()


BEYOND = 200


def titled(name: str, words: str) -> Text:
    """First line of a screen: its name, then `words`."""
    return Text.assemble((f"{name}  ", "bold"), plain(words), no_wrap=True, overflow="ellipsis")


def fit(text: str, width: int) -> str:
    """`text` (one printable line) cut with `…` or padded to exactly `width` cells."""
    if width <= 0:
        return ""
    if text.isascii():
        return clip(text, width).ljust(width)
    size = cell_len(text)
    if size <= width:
        return text + " " * (width - size)
    beginning = _within(text, width - 1)
    return beginning + "…" + " " * (width - 1 - cell_len(beginning))


def _within(text: str, width: int) -> str:
    """Beginning of `text` in at most `width` cells; a figure is not cut from its unit."""
    beginning = text[: width + 1]
    while cell_len(beginning) > width:
        beginning = beginning[:-1]
    return text[: before_figure(text, len(beginning))]


def wrap_words(text: str, width: int) -> str:
    """Wrap `text` to lines of `width` cells without breaking a figure. Each line end replaces one space, so that the
    length does not change. A word that is wider than a line stays whole."""
    lines = []
    for line in unbroken(text).split("\n"):
        first, *rest = line.split(" ")
        parts, used = [first], cell_len(first)
        for word in rest:
            size = cell_len(word)
            fits = used + 1 + size <= width
            parts += [" " if fits else "\n", word]
            used = used + 1 + size if fits else size
        lines.append("".join(parts))
    return "\n".join(lines)


def line_of(segments: Iterable[Segment], width: int, base: Style) -> Strip:
    """One line of exactly `width` cells; a longer one is cut with `…`, and a figure is not cut from its unit."""
    strip = Strip(segments)
    text = strip.text.rstrip()
    if strip.cell_length <= width or cell_len(text) <= width or width <= 0:
        return strip.adjust_cell_length(width, base)
    beginning = strip.crop(0, cell_len(_within(text, width - 1)))
    style = next((one.style for one in reversed([*beginning]) if one.text.strip()), base)
    return Strip([*beginning, Segment("…", style)]).adjust_cell_length(width, base)


def figure(number: float) -> str:
    """Whole number in groups of three, `161 204`, with no-break spaces."""
    return grouped(number).replace(" ", "\u00a0")


def several(number: int, noun: str) -> str:
    """Number and noun: `1 message`, `12 000 messages`."""
    return f"{figure(number)} {plural(number, noun)}"


def percent(share: float | None) -> str:
    """Share as `figures.percent` writes it, with a no-break space."""
    return figures.percent(share).replace(" ", "\u00a0")


def change(before: float, after: float) -> str:
    """Change as `figures.change` writes it, with a no-break space."""
    return figures.change(before, after).replace(" ", "\u00a0")


def clock(time: float | None) -> str:
    """Hour and minute in local time, blank if the time is unknown or out of range."""
    return shown(time, "%H:%M", None)


_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """Bar of `share` (0 to 1) in `width` cells, in eighths; never empty for a share above 0."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    if share > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


_STEPS = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[int], width: int, top: int) -> str:
    """Values over time in at most `width` cells, `top` as the highest step. Of several values in a cell the last is
    shown, so that a fall stays visible."""
    if not values:
        return ""
    cells = min(width, len(values))
    last = (values[(cell + 1) * len(values) // cells - 1] for cell in range(cells))
    return "".join(_STEPS[min(7, max(0, value * 8 // max(top, 1)))] for value in last)
