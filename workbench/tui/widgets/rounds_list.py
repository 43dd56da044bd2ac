"""List of a context's rounds, one line each, opened to their messages; the split is a line among them.

A single view of lines: a session of 60 000 messages has as few widgets as an empty one, and only visible lines are
drawn. Fates are looked up when a line is drawn, not stored per message.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.analysis.search import Query
from workbench.session import Span
from workbench.tui.keys import shared
from workbench.tui.plain import line_of
from workbench.tui.round_lines import (
    STYLES,
    RoundsDrawing,
    header_cells,
    heading_cells,
    mark_hits,
    message_cells,
    split_cells,
)
from workbench.tui.rows import Arrangement, ListRow, ListRows, continues
from workbench.tui.widgets.line_list import LineList
from workbench.tui.widgets.line_view import KEPT


class ListHeading(Widget):
    """Headings of the columns, above the list."""

    def render_line(self, y: int) -> Strip:
        style = self.visual_style.rich_style
        cells = heading_cells(self.size.width - 1)  # the list has a scrollbar
        return Strip(Segment(text, style) for text, _ in cells).adjust_cell_length(self.size.width, style)


class RoundsList(LineList):
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"rounds--{name}" for name in (*STYLES, "cursor", "cursor-blurred")}
    BINDINGS: ClassVar[list[BindingType]] = [
        shared("open", "open", "Open", "Open or close the round; read the message."),
        shared("move.right", "unfold", "Open round", "Open the round.", show=False),
        shared("move.left", "fold", "Close round", "Close the round.", show=False),
        Binding(
            "J,ctrl+down", "next_round(1)", "Next round", show=False, id="rounds.next", tooltip="To the next round."
        ),
        Binding(
            "K,ctrl+up",
            "next_round(-1)",
            "Round before",
            show=False,
            id="rounds.previous",
            tooltip="To the round before.",
        ),
    ]

    @dataclass
    class Highlighted(Message):
        """The cursor is on message `index`, or on the header of its round."""

        index: int
        header: bool

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RoundsList.Highlighted)

    @dataclass
    class MessageOpened(Message):
        """A message was opened."""

        index: int

    @dataclass
    class SplitDragged(Message):
        """The split line was dropped before message `index`."""

        index: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawn: RoundsDrawing | None = None
        self.rows: ListRows | None = None
        self.arrangement: Arrangement | None = None
        self._place = (0, True)
        """Last place of the cursor: index of a message, and True for its round's header. The cursor returns there when
        the message is listed again."""
        self._first_view: tuple[tuple[int, bool], frozenset[int]] = (self._place, frozenset())
        """First place of the cursor, and the rounds that were open then."""
        self._open_before: frozenset[int] | None = None
        self._query: Query | None = None
        self._hits: Sequence[int] = ()
        self._anchor: tuple[str, bool] | None = None
        self._dragging = self._dropped = False
        self._pictures: LRUCache[Hashable, Strip] = LRUCache(KEPT)

    # --- data -------------------------------------------------------------------------------------------------------

    def show(self, drawn: RoundsDrawing) -> None:
        """Draw another plan. The cursor stays on its message; if it is on the last one and the context has grown, it
        moves to the new last one. In a new context without that message, it goes to the start of the tail, or without a
        plan to the last round. It also goes there when the first plan is ready, if the list is untouched."""
        before = self.drawn
        self.drawn = drawn
        if before is None or not continues(before.groups.layout, drawn.groups.layout):
            self._start(drawn)
        elif before.outcome is None and drawn.outcome is not None and self._is_untouched:
            self._anchor = None
            self._start(drawn)
        else:
            grown = len(drawn.groups.layout.messages) > len(before.groups.layout.messages)
            to_end = grown and self.rows is not None and self.line >= self._end
            self._lay_out(self.rows.opened if self.rows is not None else frozenset())
            if to_end:
                self.action_last()

    def show_pins(self, pins: frozenset[str]) -> None:
        """Mark other messages as pinned; their fates follow with the next `show`."""
        if self.drawn is None or self.rows is None:
            return
        changed, self.drawn = pins ^ self.drawn.pins, replace(self.drawn, pins=pins)
        messages, top = self.drawn.groups.layout.messages, self.scroll_offset.y
        for line in range(top, min(top + self.size.height, len(self.rows))):
            row = self.rows[line]
            if row.kind == "message" and messages[row.index].id in changed:
                self.refresh_line(line)

    def _start(self, drawn: RoundsDrawing) -> None:
        """Show a new context: a round that contains the split is open, the cursor is on the message that it was on,
        else on the first kept line."""
        groups = drawn.groups
        split = drawn.outcome.split if drawn.outcome else len(groups.layout.messages)
        opened: frozenset[int] = frozenset()
        index, header = (max(0, min(split, len(groups.layout.messages) - 1)), True)
        if len(groups):
            span = groups.spans[groups.group_of(index)]
            if span.start < split < span.stop or len(groups) == 1:
                opened, header = frozenset({groups.group_of(index)}), len(groups) == 1 and not split
        known = groups.layout.shape.index_of.get(self._anchor[0]) if self._anchor else None
        if known is not None and self._anchor:
            index, header = known, self._anchor[1]
        self.arrangement, self._open_before, self._hits = None, None, ()
        self.rows = ListRows(groups, opened, self._split())
        self._lay_out(opened, (index, header))
        self._first_view = self._place, opened
        self.call_after_refresh(self._center)

    @property
    def _is_untouched(self) -> bool:
        """True if the user has not moved, opened, searched or filtered anything since the context was first shown."""
        as_begun = self.rows is not None and self._first_view == (self._place, self.rows.opened)
        return as_begun and self.arrangement is None and self._query is None

    def relist(self, arrangement: Arrangement | None) -> None:
        """List other messages or in another order; None lists all by time. While some are hidden, the listed rounds are
        open; afterwards only those that were open before, and the round of the message under the cursor."""
        if self.rows is None:
            return
        opened = self.rows.opened
        narrowed = arrangement is not None and arrangement.hidden > 0
        if narrowed and arrangement:
            known = self.rows.order if self._open_before is not None else ()
            self._open_before = opened if self._open_before is None else self._open_before
            opened = opened.union(arrangement.order).difference(frozenset(known) - opened)
        elif self._open_before is not None:
            here = {self.row.group} if self.row and self.row.kind == "message" else set()
            opened, self._open_before = self._open_before | here, None
        self.arrangement = arrangement
        self._lay_out(opened)
        self.into_view()

    def mark(self, query: Query | None, hits: Sequence[int]) -> None:
        """Mark the messages `hits` (indexes in order), and the matches in their words."""
        self._query, self._hits = query, hits
        self.forget_lines()

    def _split(self) -> int | None:
        return self.drawn.split_at if self.drawn else None

    @property
    def _end(self) -> int:
        """Last line with a message or a round; the split's line may be below it."""
        last = len(self.rows or ()) - 1
        return last - 1 if self.rows and self.rows.split_line == last else last

    def action_last(self) -> None:
        self.to_line(self._end)

    def _lay_out(self, opened: frozenset[int], place: tuple[int, bool] | None = None) -> None:
        if self.drawn is None:
            return
        self._place = place = place or self._place
        offset = self.line - self.scroll_offset.y
        self.rows = ListRows(self.drawn.groups, opened, self._split(), self.arrangement)
        self.set_lines(len(self.rows))
        line = self.rows.line_of(place[0], header=place[1])
        if line != self.line:
            self.line = line
            # Lines were added or removed above the cursor: its line keeps its place on the screen.
            self.scroll_to(y=line - offset, animate=False, force=True)
        self._post_highlight()

    # --- the cursor -------------------------------------------------------------------------------------------------

    @property
    def row(self) -> ListRow | None:
        return self.rows[self.line] if self.rows and self.line < len(self.rows) else None

    @property
    def index(self) -> int:
        """Message under the cursor; for a round's header its first message."""
        return self.row.index if self.row else 0

    @property
    def on_header(self) -> bool:
        return self.row is not None and self.row.kind == "header"

    @property
    def span(self) -> Span:
        """Messages under the cursor: the complete round if the cursor is on its header, else one message."""
        if self.drawn and self.row and self.row.kind == "header":
            return self.drawn.groups.spans[self.row.group]
        return Span(self.index, self.index + 1)

    def visible_messages(self) -> Span:
        """Messages whose tokens are counted first: from the first visible line to the end of the last visible round,
        2 000 at most. In a filtered or sorted list, those from the cursor to the end of its round."""
        if not self.rows or not self.drawn or not len(self.drawn.groups):
            return Span(0, 0)
        top = min(self.scroll_offset.y, len(self.rows) - 1)
        bottom = min(top + max(1, self.size.height), len(self.rows)) - 1
        start = self.rows[top].index
        last = self.rows[bottom]
        if self.arrangement is not None:
            start, last = self.index, self.rows[self.line]
        stop = max(last.index + 1, self.drawn.groups.spans[last.group].stop)
        return Span(start, min(stop, start + 2_000, len(self.drawn.groups.layout.messages)))

    def go(self, index: int, *, header: bool = False) -> None:
        """Put the cursor on a message, opening its round if needed; on the nearest line if it is not listed."""
        if not self.rows or not len(self.rows):
            return
        group = self.rows.groups.group_of(index)
        if not header and group not in self.rows.opened:
            self._lay_out(self.rows.opened | {group}, (index, False))
        self.to_line(self.rows.line_of(index, header=header))

    def to_line(self, line: int, direction: int = 1) -> None:
        rows = self.rows
        if not rows or not len(rows):
            return
        line = max(0, min(line, len(rows) - 1))
        if line == rows.split_line:
            # The cursor skips the split; at either end of the list it steps back over it.
            line += direction if 0 <= line + direction < len(rows) else -direction
        row = rows[line]
        self._place = (row.index, row.kind == "header")
        if line == self.line:
            return
        old, self.line = self.line, line
        self.refresh_line(old)
        self.refresh_line(line)
        self.into_view()
        self._post_highlight()

    def _post_highlight(self) -> None:
        row = self.row
        if row is None or self.drawn is None:
            return
        messages = self.drawn.groups.layout.messages
        index = min(row.index, len(messages) - 1)
        anchor = (messages[index].id, row.kind == "header")
        if anchor != self._anchor:
            self._anchor = anchor
            self.post_message(self.Highlighted(index, row.kind == "header"))

    def _center(self) -> None:
        self.scroll_to(y=max(0, self.line - self.size.height // 2), animate=False, force=True)

    def action_next_round(self, direction: int) -> None:
        if self.rows and self.row:
            by = 0 if direction < 0 and not self.on_header else direction
            self.to_line(self.rows.round_line(self.row.group, by), direction)

    def action_open(self) -> None:
        if self.row and self.row.kind == "message":
            self.post_message(self.MessageOpened(self.row.index))
        else:
            self._toggle()

    def action_unfold(self) -> None:
        if self.row and self.rows and self.row.group not in self.rows.opened:
            self._toggle()

    def action_fold(self) -> None:
        if self.row and self.rows and self.row.group in self.rows.opened:
            self._toggle()

    def _toggle(self) -> None:
        if self.row and self.rows:
            group = self.row.group
            self._lay_out(self.rows.opened ^ {group}, (self.rows.groups.spans[group].start, True))
            self.into_view()

    def opened(self) -> None:
        self.action_open()

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked line; on the sign of a round, and on a double click, open or close it."""
        event.prevent_default()  # a list's own handler would open it again
        if self._dropped:
            self._dropped = False
            return
        line = self.line_under(event)
        if line is None or self.rows is None or line == self.rows.split_line:
            return
        self.to_line(line)
        if event.chain == 2 or (self.on_header and event.x < 2):
            self.action_open()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to drag the split line."""
        self._dropped = False
        if (
            self.rows is not None
            and self.rows.split_line is not None
            and self.drawn is not None
            and self.drawn.movable
            and self.line_under(event) == self.rows.split_line
        ):
            self._dragging = True
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging and (line := self.line_under(event)) is not None:
            self.to_line(line)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._dragging:
            self.release_mouse()
            self._dragging, self._dropped = False, True
            line = self.line_under(event)
            if self.rows is not None and line is not None and line != self.rows.split_line:
                self.post_message(self.SplitDragged(self.rows[line].index))

    # --- drawing ----------------------------------------------------------------------------------------------------

    def line_state(self, line: int) -> tuple[bool, bool, bool]:
        at_cursor = line == self.line
        return at_cursor, at_cursor and self.has_focus, self._is_pinned(line)

    def _is_pinned(self, line: int) -> bool:
        if self.drawn is None or self.rows is None or not self.drawn.pins:
            return False
        row = self.rows[line]
        return row.kind == "message" and self.drawn.groups.layout.messages[row.index].id in self.drawn.pins

    def draw_line(self, line: int, width: int) -> Strip:
        if self.drawn is None or self.rows is None:
            return Strip.blank(width, self.visual_style.rich_style)
        row, at_cursor = self.rows[line], line == self.line
        base = self.visual_style.rich_style
        match row.kind:
            case "header":
                is_open = row.group in self.rows.opened
                cells = header_cells(self.drawn, row, width, is_open=is_open)
                hit = not is_open and self._hit_within(self.drawn.groups.spans[row.group])
            case "message":
                cells = message_cells(self.drawn, row, width)
                hit = self._hit_within(Span(row.index, row.index + 1))
            case "split":
                cells, hit = split_cells(self.drawn, width), False
        if hit and self._query:
            cells = mark_hits(cells, self._query)
        over = Style()
        if at_cursor:
            name = "rounds--cursor" if self.has_focus else "rounds--cursor-blurred"
            over = self.get_component_rich_style(name, partial=True)
        # After a change of plan most lines look as before, so their pictures are cached by content.
        seen = (tuple(cells), base, over)
        strip = self._pictures.get(seen)
        if strip is None:
            segments = [Segment(text, (base + self._style(name) if name else base) + over) for text, name in cells]
            self._pictures[seen] = strip = line_of(segments, width, base + over)
        return strip

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._pictures.clear()

    def _hit_within(self, span: Span) -> bool:
        at = bisect_left(self._hits, span.start)
        return at < len(self._hits) and self._hits[at] < span.stop

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"rounds--{name}", partial=True)
