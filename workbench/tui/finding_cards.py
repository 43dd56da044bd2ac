"""Findings as cards, and next to them the parts of the context with the most tokens. No widgets."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from workbench.analysis.why.breakdown import RoundShare
from workbench.analysis.why.diagnosis import Diagnosis, FindingFix
from workbench.analysis.why.findings import HEADLINES, Finding
from workbench.base.figures import short, unbroken
from workbench.base.text import clip_middle
from workbench.tui.plain import bar, fit, one_line, percent, plain
from workbench.tui.rows import first_words

BAR = 8
"""Cells of a card's bar."""

LEAST = 24
"""Fewest cells for a card's sentence."""


HIGH, MANY = 30, 4
"""The largest messages are shown in at least `HIGH` lines, or with fewer than `MANY` other parts."""


def card(one: Finding, most: int, fix: FindingFix | None, place: str, width: int) -> Text:
    """Card of a finding: a bar of `one.tokens` relative to `most`, its title, the fix, then its sentence. `place` is
    where Enter leads, "" for nowhere."""
    does = f"  a {fix.words}" if fix else ""
    goes = f"  ⏎ {place} " if place else ""
    size = f"{short(one.tokens) if one.tokens else '':>6} "
    title = HEADLINES.get(one.kind) or one.kind.capitalize()
    room = width - BAR - 1 - len(size) - len(does)
    if room - len(goes) < len(title):
        goes = ""
    room = max(0, room - len(goes))
    text = Text.assemble(
        (bar(one.tokens / max(most, 1), BAR) + " ", "dim"),
        (size, "bold"),
        (fit(title, room), "bold"),
        (does[:3], "bold"),
        (does[3:], ""),
        (goes, "dim"),
        no_wrap=True,
        overflow="ellipsis",
    )
    for line in sentence_lines(one.text, max(LEAST, width - 2)):
        text.append(f"\n  {line}", "dim")
    return text


def sentence_lines(sentence: str, width: int) -> list[str]:
    """Break a sentence between words; a path or command longer than a line is cut in the middle."""
    words = unbroken(plain(sentence)).split(" ")
    cut = " ".join(clip_middle(word, width) if len(word) > width else word for word in words)
    return textwrap.wrap(cut, width, break_on_hyphens=False)


def parts_text(found: Diagnosis, width: int, height: int) -> Text:
    """Largest parts of the context as bars on one scale, in `height` lines: layers, tools, files, rounds and
    messages."""
    largest = sorted(found.rounds, key=lambda one: -one.tokens)[: max(0, height)]
    first = {one.message for one in largest}
    requests = {message.id: message.user_text for message in found.session.messages if message.id in first}
    cells, name = _columns(width)
    parts = [
        ("what it is made of", [(one.name, one.tokens, "") for one in found.layers]),
        ("by tool", [(one.name, one.tokens, f"{one.count}×") for one in found.tools]),
        ("by file", [(_clip_start(one_line(one.name), name), one.tokens, f"{one.count}×") for one in found.files]),
        ("by round", [(_round_words(one, requests), one.tokens, "") for one in largest]),
    ]
    parts = [(title, rows) for title, rows in parts if rows]
    if height >= HIGH or len(parts) < MANY:
        by_id = {message.id: message for message in found.session.messages}
        messages = [(f"{one.number} {first_words(by_id[one.message])}", one.tokens, "") for one in found.largest]
        parts += [("by message", messages)] if messages else []
    each = max(1, (height + 1) // max(1, len(parts)) - 2)
    whole = max(1, found.total.tokens)
    lines: list[Text] = []
    for at, (title, rows) in enumerate(parts, 1):
        lines += [Text(), Text(fit(title, width), "bold")] if lines else [Text(fit(title, width), "bold")]
        lines += _bars(rows[: each if at < len(parts) else height], whole, cells, name)
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines[:height])


def parts_lines(found: Diagnosis) -> int:
    """Number of lines that `parts_text` can use."""
    parts = [len(part) for part in (found.layers, found.tools, found.files, found.rounds) if part]
    parts += [len(found.largest)] if found.largest and len(parts) < MANY else []
    return sum(2 + min(rows, ENOUGH) for rows in parts)


ENOUGH = 10
"""Most rows of a part that `parts_lines` counts."""


def _columns(width: int) -> tuple[int, int]:
    """Widths in cells of a bar and of a name."""
    cells = max(4, width // 4)
    return cells, max(6, width - cells - 1 - 7 - 6 - 6)


def _clip_start(path: str, room: int) -> str:
    """Cut a path at its beginning: its end says more."""
    return f"…{path[1 - room :]}" if len(path) > room else path


def _round_words(one: RoundShare, requests: Mapping[str, str]) -> str:
    """Number of a round with its request, because the list of rounds is not visible here."""
    return f"round {one.number} {one_line(requests.get(one.message, ''))}".rstrip()


def _bars(rows: Sequence[tuple[str, int, str]], whole: int, cells: int, name: int) -> Iterator[Text]:
    for words, tokens, times in rows:
        yield Text.assemble(
            fit(one_line(words), name),
            (f" {bar(tokens / whole, cells)}", "dim"),
            f"{short(tokens):>7}",
            (f"{percent(tokens / whole):>6}{times:>6}", "dim"),
        )
