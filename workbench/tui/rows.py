"""The rounds of a context as rows: the message of each line, without an object per line.

Rows are computed from prefix sums on demand, so that opening a round of 60 000 messages or moving the split is
O(rounds), not O(messages).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Literal

from msgspec import Struct

from workbench.base.secrets import masked_of
from workbench.base.text import clip, untagged
from workbench.compaction.context import Layout
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.shape import Shape, per_shape
from workbench.session import Message, Span, Text, Thinking, ToolResult, ToolUse
from workbench.tokens import Basis, span_basis
from workbench.tui.plain import figure, one_line, several


class Groups:
    """Rounds of a layout with the messages before and after them, and the sums of their header lines."""

    def __init__(self, layout: Layout) -> None:
        rounds, tokens = layout.shape.rounds, layout.tokens
        self.layout = layout
        self.has_preamble = bool(len(rounds.preamble))
        self.has_input = bool(len(rounds.current_input))
        self.spans = _groups_of(layout.shape)
        self.starts = array("q", [span.start for span in self.spans])
        self.largest_group = max((tokens[span.stop] - tokens[span.start] for span in self.spans), default=0) or 1
        self._words = _words_of(layout.shape)

    def __len__(self) -> int:
        return len(self.spans)

    def label(self, group: int) -> str:
        """Label in the number column: the round's number, `pre` or `now`."""
        if self.has_preamble and group == 0:
            return "pre"
        if self.has_input and group == len(self.spans) - 1:
            return "now"
        return str(group + (0 if self.has_preamble else 1))

    def words(self, index: int) -> str:
        """First words of message `index`, cached: its line is drawn after every change of plan."""
        known = self._words.get(index)
        if known is None:
            known = self._words[index] = first_words(self.layout.messages[index])
        return known

    def basis_of(self, span: Span) -> Basis:
        """Basis of a span's token figure: exact if recorded usage is known at both ends."""
        return span_basis(self.layout.sizes, self.layout.billed, span.start, span.stop)

    def group_of(self, index: int) -> int:
        """Group that holds message `index`."""
        return max(0, bisect_right(self.starts, index) - 1)


@per_shape
def _groups_of(shape: Shape) -> tuple[Span, ...]:
    rounds = shape.rounds
    ends = [span for span in (rounds.preamble, rounds.current_input) if len(span)]
    return tuple(sorted([*ends, *rounds.rounds], key=lambda span: span.start))


@per_shape
def _words_of(shape: Shape) -> dict[int, str]:
    """Cache of first words by message index."""
    return {}


@dataclass(frozen=True)
class Arrangement:
    """Rounds and messages that are listed, in order; made by `arrange`.

    `members` are message indexes as listed, `starts` the first member of each listed round (one entry more than
    rounds), `place` the position of each listed round, `hidden` the number of messages that are not listed.
    """

    order: Sequence[int]
    members: array[int]
    starts: array[int]
    place: Mapping[int, int]
    by_size: bool
    hidden: int


def arrange(groups: Groups, shown: Sequence[int] | None, *, by_size: bool) -> Arrangement:
    """Arrangement of the messages `shown` (indexes in order, None for all) with their rounds; by size or by time.

    O(messages): for 60 000 of them, call it off the event loop.
    """
    sizes, tokens = groups.layout.sizes.tokens, groups.layout.tokens
    listed: list[tuple[int, Sequence[int]]] = []
    at = 0
    for group, span in enumerate(groups.spans):
        inside: Sequence[int] = range(span.start, span.stop)
        if shown is not None:
            until = bisect_left(shown, span.stop, at)
            inside, at = shown[at:until], until
        if len(inside):
            listed.append((group, inside))
    if by_size:
        spans = groups.spans
        listed = [(group, sorted(inside, key=sizes.__getitem__, reverse=True)) for group, inside in listed]
        listed.sort(key=lambda each: tokens[spans[each[0]].start] - tokens[spans[each[0]].stop])
    order = [group for group, _ in listed]
    members = array("q", chain.from_iterable(inside for _, inside in listed))
    starts = array("q", accumulate((len(inside) for _, inside in listed), initial=0))
    place = {group: position for position, group in enumerate(order)}
    return Arrangement(order, members, starts, place, by_size, len(groups.layout.messages) - len(members))


class ListRow(Struct, frozen=True):
    """Line of the list. `index` is its message; for a round's header its first message, for the split the first one
    after it. `last`: the last listed message of its round."""

    kind: Literal["header", "message", "split"]
    group: int
    index: int
    last: bool = False


class ListRows:
    """Lines of the list for the open rounds, the split before message `split`, and an arrangement (None: everything in
    order). By size there is no split."""

    def __init__(
        self, groups: Groups, opened: frozenset[int], split: int | None, arrangement: Arrangement | None = None
    ) -> None:
        self.groups = groups
        self.opened = opened
        self.split = split
        self.arrangement = arrangement
        self.order: Sequence[int] = arrangement.order if arrangement else range(len(groups))
        heights = (
            1 + (len(self._members(position)) if group in opened else 0) for position, group in enumerate(self.order)
        )
        self._tops = array("q", accumulate(heights, initial=0))
        self._split_row = self._row_of_split()

    def __len__(self) -> int:
        return self._tops[-1] + (self._split_row is not None)

    def __getitem__(self, line: int) -> ListRow:
        if self._split_row is not None:
            if line == self._split_row:
                split = self.split or 0
                return ListRow("split", self.groups.group_of(split), split)
            line -= line > self._split_row
        position = bisect_right(self._tops, line) - 1
        group = self.order[position]
        offset = line - self._tops[position]
        if not offset:
            return ListRow("header", group, self.groups.spans[group].start)
        return ListRow("message", group, self._index_at(position, offset - 1), line + 1 == self._tops[position + 1])

    def line_of(self, index: int, *, header: bool) -> int:
        """Line of message `index`, or of its round's header with `header` or if the round is closed. The nearest line
        if the message is not listed."""
        if not self.order:
            return 0
        group = self.groups.group_of(index)
        position = self._position(group)
        line = self._tops[position]
        if group in self.opened and not header and self.order[position] == group:
            line += 1 + self._offset(position, index)
        return line + (self._split_row is not None and line >= self._split_row)

    def round_line(self, group: int, by: int) -> int:
        """Line of the header `by` listed rounds after that of `group`."""
        position = max(0, min(self._position(group) + by, len(self.order) - 1))
        return self.line_of(self.groups.spans[self.order[position]].start, header=True)

    def lists(self, index: int) -> bool:
        """True if message `index` is listed, in an open or a closed round."""
        arrangement = self.arrangement
        if arrangement is None:
            return 0 <= index < len(self.groups.layout.messages)
        position = arrangement.place.get(self.groups.group_of(index))
        return position is not None and index in self._members(position)

    @property
    def split_line(self) -> int | None:
        return self._split_row

    def _members(self, position: int) -> Sequence[int]:
        arrangement = self.arrangement
        if arrangement is None:
            span = self.groups.spans[position]
            return range(span.start, span.stop)
        return arrangement.members[arrangement.starts[position] : arrangement.starts[position + 1]]

    def _index_at(self, position: int, offset: int) -> int:
        if self.arrangement is None:
            return self.groups.spans[position].start + offset
        return self.arrangement.members[self.arrangement.starts[position] + offset]

    def _position(self, group: int) -> int:
        """Position of a round in the list; of the next listed one in time if it is not listed, else of the last."""
        arrangement = self.arrangement
        if arrangement is None:
            return group
        if group in arrangement.place:
            return arrangement.place[group]
        later = (g for g in arrangement.order if g > group)
        return arrangement.place[min(later, default=max(arrangement.order))]

    def _offset(self, position: int, index: int) -> int:
        """Position of `index` among a round's listed messages; of the next in time if it is not listed, else of the
        last."""
        members = self._members(position)
        if index in members:
            return members.index(index)
        later = [member for member in members if member > index]
        return members.index(min(later, default=max(members)))

    def _row_of_split(self) -> int | None:
        split, groups, arrangement = self.split, self.groups, self.arrangement
        if split is None or not self.order or (arrangement and arrangement.by_size):
            return None
        position = bisect_left(self.order, True, key=lambda group: groups.spans[group].stop > split)
        if position == len(self.order):
            return self._tops[-1]
        group = self.order[position]
        if split <= groups.spans[group].start:
            return self._tops[position]
        inside = bisect_left(self._members(position), split) if group in self.opened else 0
        return self._tops[position] + 1 + inside


def continues(old: Layout, new: Layout) -> bool:
    """True if `new` begins with the messages of `old`, by id."""
    if old.messages is new.messages:
        return True
    count = len(old.messages)
    ids = (message.id for message in old.messages)
    return count <= len(new.messages) and all(id == message.id for id, message in zip(ids, new.messages, strict=False))


FATE_WORDS = {
    Fate.PINNED: "pinned",
    Fate.KEPT: "kept",
    Fate.COMPRESSED: "shortened",
    Fate.SUMMARIZED: "summarized",
    Fate.ABRIDGED: "abridged",
    Fate.DROPPED: "dropped",
}
"""Name of each fate on the screen."""


def group_fate(outcome: Outcome, span: Span) -> str:
    """Fate in a round that differs from the usual one on its side of the split: pinned, else the most frequent one.
    `● pinned` if all messages have it, `● 2 pinned` if only some; "" for none. Reads 200 fate spans at most."""
    usual = outcome.usual_fate_at(span.start)
    counts: dict[Fate, int] = {}
    at = span.start
    for _ in range(200):
        if at >= span.stop:
            break
        found = outcome.fate_at(at)
        counts[found.fate] = counts.get(found.fate, 0) + min(found.stop, span.stop) - at
        at = found.stop
    others = {fate: count for fate, count in counts.items() if fate is not usual}
    if not others:
        return ""
    most = Fate.PINNED if Fate.PINNED in others else max(others, key=lambda fate: others[fate])
    number = "" if len(counts) == 1 else f"{figure(others[most])} "
    return f"{most.glyph} {number}{FATE_WORDS[most]}"


def message_fate(outcome: Outcome, index: int) -> str:
    """Fate of a message, "" if it is that of its side of the split."""
    fate = outcome.fate_at(index).fate
    return "" if fate is outcome.usual_fate_at(index) else f"{fate.glyph} {FATE_WORDS[fate]}"


def role_word(message: Message) -> str:
    """Role of a message in at most seven letters."""
    if message.kind == "summary":
        return "summary"
    if message.kind == "meta":
        return "meta"
    if message.calls:
        return "call"
    return {"tool": "result", "assistant": "agent"}.get(message.role, message.role)


def first_words(message: Message) -> str:
    """Subject of a message on one printable line: the user's own words, its text, its call, or the size and beginning
    of its result."""
    if calls := message.calls:
        first = f"{one_line(calls[0].name, 60)} {call_words(calls[0])}".rstrip()
        return first if len(calls) == 1 else f"{first} (+{len(calls) - 1})"
    if words := untagged(message.user_text.strip()):
        return one_line(words) if message.starts_round else f"✎ {one_line(words)}"
    for block in message.blocks:
        match block:
            case Text(text) if text.strip():
                return one_line(text)
            case ToolResult():
                text = block.text
                lines = text.count("\n", 0, 200_000) + 1 if text else 0
                error = "✘ " if block.is_error else ""
                return (
                    f"{error}{several(lines, 'line')}: {one_line(text)}"
                    if lines > 1
                    else error + (one_line(text) or "(empty)")
                )
            case _:
                pass
    for block in message.blocks:
        match block:
            case Thinking(text):
                return f"(thinking) {one_line(text)}".rstrip()
            case Text() | ToolUse() | ToolResult():
                pass
            case _:
                return getattr(block, "placeholder", "") or f"({getattr(block, 'type', 'unknown')})"
    return "(empty)"


_TELLING = ("file_path", "path", "filePath", "command", "cmd", "pattern", "query", "url", "description", "prompt")


def call_words(call: ToolUse) -> str:
    """Most telling argument of a call."""
    if isinstance(call.input, str):
        return one_line(call.input, 200)
    for key in _TELLING:
        value = call.input.get(key)
        if isinstance(value, str) and value:
            return one_line(value, 200)
    for key, value in call.input.items():
        if isinstance(value, str) and value:
            return one_line(masked_of(key, clip(value, 400)), 200)
    return ""
