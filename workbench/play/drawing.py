"""Draw a frame as rows of cells, for the screen, terminal recordings and animated pictures.

A row is a list of runs: a text and the name of its style. The runs fill the width exactly, also with wide characters.
Each kind of part has its own sign, so a frame can be read without colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.cells import cell_len, set_cell_size

from workbench.base.figures import percent, short
from workbench.play.frames import TRAIL, BarPart, Fall, Frame, Kind, Lane, Rule, State, Story
from workbench.play.letters import ROWS, large

Run = tuple[str, str]
Row = list[Run]

SIGNS: dict[Kind, str] = {"overhead": "▒", "summary": "◆", "pinned": "●", "going": "▚", "talk": "█", "kept": "▓"}

NAMES: dict[Kind, str] = {
    "overhead": "system prompt, tools",
    "summary": "summary",
    "pinned": "pinned",
    "going": "replaced",
    "talk": "conversation",
    "kept": "kept",
}

STATES: dict[State, tuple[str, str, str]] = {
    "unsaid": ("·", "not said yet", "dim"),
    "verbatim": ("✔", "word for word", "good"),
    "paraphrased": ("✔", "in other words", "good"),
    "contradicted": ("✘", "contradicted", "bad"),
    "gone": ("✘", "gone", "bad"),
    "unknown": ("?", "in a summary that nobody can read", "dim"),
}
"""Sign, words and style of each state of a rule."""

STYLES = ("", "dim", "bold", "title", "good", "bad", "mark", "free", *SIGNS)
"""Names of all styles."""

TALL = 27
"""Minimum height in rows for large letters and thick bars."""

EIGHTHS = " ▁▂▃▄▅▆▇█"

SIDE = 2
"""Empty columns at each side."""


def drawn(story: Story, number: int, width: int, height: int) -> list[Row]:
    """Draw frame `number` of the story, from 0, on `width` × `height` cells."""
    frame, cells = story.frames[number], _Cells(width, height)
    tall = height >= TALL
    cells.put(SIDE, 0, _fitted(story.note, width - 2 * SIDE), "dim")
    y = _title(cells, frame.title, 2 if tall else 1, tall)
    for sentence in frame.says:
        for line in _lines(sentence, width - 2 * SIDE, 2 if tall and len(frame.lanes) == 1 else 1):
            cells.put(SIDE, y, line, "bold" if sentence is frame.says[0] else "")
            y += 1
    y = max(y, 9) if tall else y
    if len(frame.lanes) == 1:
        _alone(cells, story, frame, y, tall)
    else:
        room = (height - 1 - y) // len(frame.lanes)
        for place, lane in enumerate(frame.lanes):
            _draw_lane(cells, story, lane, y + place * room, room)
    _progress(cells, story, number)
    return cells.rows()


class _Cells:
    """Grid of characters with styles to draw on. A wide character takes two cells; characters outside the grid are left
    out."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._grid = [[(" ", "")] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, style: str) -> None:
        for character in text:
            wide = cell_len(character)
            if 0 <= y < self.height and x >= 0 and x + wide <= self.width:
                self._grid[y][x : x + wide] = [(character, style), *[("", style)] * (wide - 1)]
            x += wide

    def rows(self) -> list[Row]:
        found: list[Row] = []
        for line in self._grid:
            row: Row = []
            for character, style in line:
                if row and row[-1][1] == style:
                    row[-1] = (row[-1][0] + character, style)
                else:
                    row.append((character, style))
            found.append(row)
        return found


def _lines(text: str, width: int, most: int) -> list[str]:
    """Wrap `text` to at most `most` lines. The last one ends with `…` if text is left out."""
    lines = wrap(text, max(8, width))
    return [*lines[: most - 1], *([_fitted(" ".join(lines[most - 1 :]), width)] if lines[most - 1 :] else [])]


def _fitted(text: str, width: int) -> str:
    """Cut `text` with `…` to at most `width` cells. A quotation that is cut gets its closing mark."""
    if cell_len(text) <= width:
        return text
    cut = set_cell_size(text, max(0, width - 1)).rstrip()
    if _open(cut) <= _open(text):
        return cut + "…"
    return set_cell_size(text, max(0, width - 2)).rstrip() + "…”"


def _open(text: str) -> int:
    """Number of quotations that begin in the text and do not end in it."""
    return text.count("“") - text.count("”")


def _title(cells: _Cells, title: str, y: int, tall: bool) -> int:
    """Draw the title at row `y`, in large letters if they fit. Return the next free row."""
    rows = large(title) if tall else ()
    if not rows or len(rows[0]) > cells.width - 2 * SIDE:
        cells.put(SIDE, y, _fitted(title, cells.width - 2 * SIDE), "title")
        return y + 1
    for row, text in enumerate(rows):
        cells.put(SIDE, y + row, text, "title")
    return y + ROWS + 1


# --- one policy -------------------------------------------------------------------------------------------------------


def _alone(cells: _Cells, story: Story, frame: Frame, y: int, tall: bool) -> None:
    (lane,) = frame.lanes
    thick = 4 if tall else 2
    _bar(cells, story, lane, frame.fall, y, thick)
    y += thick
    _marks(cells, story, lane, y)
    if frame.fall:
        _falling(cells, story, lane, frame.fall, y + 1)
    y += 2
    y = _figures(cells, story, frame, y, tall)
    _legend(cells, frame.fall.after if frame.fall and frame.fall.share == 1 else lane.parts, y)
    y += 2 if tall else 1
    room = cells.height - 1 - y - (3 if lane.rule else 1)
    high = max(1, min(4, room - 1))
    _trail(cells, story, lane, y, high)
    if lane.rule:
        _rule(cells, lane.rule, y + max(high + 1, room))


def _figures(cells: _Cells, story: Story, frame: Frame, y: int, tall: bool) -> int:
    (lane,) = frame.lanes
    text = f"~{short(lane.tokens)}"
    after = sum(part.tokens for part in frame.fall.after) if frame.fall else lane.tokens
    if frame.fall:
        text += f" ▸ ~{short(after)}"
    if story.window:
        text += f"   {percent(after / story.window)}"
    if not tall:
        words = f" of a window of {short(story.window)}" if story.window else " tokens"
        cells.put(SIDE, y, text + words, "bold")
        return y + 1
    for row, line in enumerate(large(text)):
        cells.put(SIDE, y + row, line, "bold")
    x = SIDE + len(large(text)[0]) + 3
    # Shorter words instead of cut ones: a cut "100k" would read "100".
    of = (f"tokens, of a window of {short(story.window)}", f"of {short(story.window)}") if story.window else ()
    words = next((words for words in (*of, "tokens") if x + len(words) <= cells.width), "")
    cells.put(x, y + 2, words, "dim")
    return y + ROWS + 1


def _legend(cells: _Cells, parts: Sequence[BarPart], y: int) -> None:
    x, shown = SIDE, set()
    for part in parts:
        text = f"{SIGNS[part.kind]} {NAMES[part.kind]}"
        if part.kind not in shown and x + len(text) <= cells.width - SIDE:
            shown.add(part.kind)
            cells.put(x, y, text, part.kind)
            x += len(text) + 3


def rule_words(rule: Rule) -> tuple[str, str]:
    """Return the state of a rule in words, and their style."""
    sign, words, style = STATES[rule.state]
    return f"{sign} {words}{'' if rule.stated or rule.state != 'gone' else ', no message says it'}", style


def _rule(cells: _Cells, rule: Rule, y: int) -> None:
    words, style = rule_words(rule)
    words += ", pinned" if rule.pinned else ""
    cells.put(SIDE, y, _fitted(f"◉ “{rule.text}”", cells.width - 2 * SIDE), "dim" if rule.state == "unsaid" else "bold")
    cells.put(SIDE + 2, y + 1, words, style)


# --- two policies -----------------------------------------------------------------------------------------------------


def _draw_lane(cells: _Cells, story: Story, lane: Lane, y: int, room: int) -> None:
    times = "never compacted" if not lane.compactions else f"compacted {lane.compactions}×"
    figures = f"~{short(lane.tokens)} tokens · {times}" + (f" · {lane.cost}" if lane.cost else "")
    cells.put(SIDE, y, _fitted(lane.name, cells.width - 2 * SIDE - len(figures) - 2), "bold")
    cells.put(cells.width - SIDE - len(figures), y, figures, "")
    thick = 3 if room >= 9 else 1
    _bar(cells, story, lane, None, y + 1, thick)
    high = max(0, room - thick - (3 if lane.rule else 2))
    _trail(cells, story, lane, y + 1 + thick, high)
    if lane.rule:
        words, style = rule_words(lane.rule)
        at = y + 1 + thick + high
        cells.put(SIDE, at, _fitted(f"◉ “{lane.rule.text}”", cells.width - 2 * SIDE - len(words) - 2), "dim")
        cells.put(cells.width - SIDE - len(words), at, words, style)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _columns(story: Story, width: int, parts: Sequence[BarPart]) -> list[tuple[Kind, int, int]]:
    """Return (kind, start, stop) of each part in columns from the left. Each part has at least one column,
    if any is left."""
    inner, reached, tokens = width - 2 * SIDE, 0, 0
    found: list[tuple[Kind, int, int]] = []
    for part in parts:
        tokens += part.tokens
        until = min(inner, max(reached + 1, round(tokens / story.scale * inner)))
        found.append((part.kind, reached, until))
        reached = until
    return found


def _bar(cells: _Cells, story: Story, lane: Lane, fall: Fall | None, y: int, thick: int) -> None:
    """Draw the context on the scale of the story. During a compaction the replaced part first sinks, then the kept
    parts move left to their new places."""
    inner = cells.width - 2 * SIDE
    for row in range(thick):
        cells.put(SIDE, y + row, "░" * inner if row == thick - 1 else " " * inner, "free")
    if fall is None:
        _blocks(cells, _columns(story, cells.width, lane.parts), y, thick)
    elif fall.share >= SUNK:
        done = _columns(story, cells.width, fall.after)
        moved = (fall.share - SUNK) / (1 - SUNK)
        before = {kind: start for kind, start, _ in _columns(story, cells.width, lane.parts)}
        for kind, start, stop in done:
            shift = round((before.get(kind, start) - start) * (1 - moved)) if kind in ("kept", "pinned") else 0
            _blocks(cells, [(kind, start + shift, stop + shift)], y, thick)
    else:
        level = round((1 - fall.share / SUNK) * thick * 8)
        for kind, start, stop in _columns(story, cells.width, lane.parts):
            if kind != "going":
                _blocks(cells, [(kind, start, stop)], y, thick)
                continue
            for row in range(thick):
                eighths = max(0, min(8, level - 8 * (thick - 1 - row)))
                sign = SIGNS["going"] if eighths == 8 else EIGHTHS[eighths]
                if eighths:
                    cells.put(SIDE + start, y + row, sign * (stop - start), "going")


SUNK = 0.65
"""Share of a compaction after which the replaced part has disappeared from the bar."""


def _blocks(cells: _Cells, columns: Sequence[tuple[Kind, int, int]], y: int, thick: int) -> None:
    for kind, start, stop in columns:
        for row in range(thick):
            cells.put(SIDE + start, y + row, SIGNS[kind] * (stop - start), kind)


def _falling(cells: _Cells, story: Story, lane: Lane, fall: Fall, y: int) -> None:
    """Draw the replaced part below the bar, as it converges on the place of the summary."""
    columns = _columns(story, cells.width, lane.parts)
    going = next(((start, stop) for kind, start, stop in columns if kind == "going"), None)
    if going is None or fall.share >= SUNK:
        return
    middle, way = (going[0] + min(going[1], going[0] + 8)) // 2, fall.share / SUNK
    for column in range(going[0], going[1], 2):
        x = round(column + (middle - column) * way)
        cells.put(SIDE + x, y, "▚", "going")


def _marks(cells: _Cells, story: Story, lane: Lane, y: int) -> None:
    inner, end = cells.width - 2 * SIDE, 0
    marks = [(lane.fires, "compacts here", "mark"), (story.window, "window", "dim")]
    for tokens, words, style in marks:
        if tokens is None or tokens > story.scale:
            continue
        x = min(inner - 1, round(tokens / story.scale * inner))
        text = f"▲ {short(tokens)} {words}"
        start = x if x + len(text) <= inner else x + 1 - len(text)
        if start != x:
            text = f"{short(tokens)} {words} ▲"
        if start >= end:
            cells.put(SIDE + start, y, text, style)
            end = start + len(text) + 1


def _trail(cells: _Cells, story: Story, lane: Lane, y: int, high: int) -> None:
    """Draw the sizes of all prompts so far, from the left."""
    inner = cells.width - 2 * SIDE
    for column in range(inner):
        place = column * TRAIL // inner
        if place >= len(lane.trail):
            break
        level = max(1, round(lane.trail[place] / story.scale * high * 8))
        for row in range(high):
            eighths = max(0, min(8, level - 8 * (high - 1 - row)))
            if eighths:
                cells.put(SIDE + column, y + row, EIGHTHS[eighths], "talk")


def _progress(cells: _Cells, story: Story, number: int) -> None:
    """Draw how much of the story is over, in the last row."""
    inner = cells.width - 2 * SIDE
    done = round(sum(frame.seconds for frame in story.frames[: number + 1]) / story.seconds * inner)
    cells.put(SIDE, cells.height - 1, "━" * done, "mark")
    cells.put(SIDE + done, cells.height - 1, "─" * (inner - done), "free")
