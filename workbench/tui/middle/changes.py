"""The context before and after a compaction, message by message, and line by line within a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from workbench.bench import Bench
from workbench.compaction.context import memories_in
from workbench.compaction.outcome import Fate, KeptSpan, NewMessage, Outcome
from workbench.session import Message, Span
from workbench.tokens.visible import visible_parts
from workbench.tui.middle.parts import Parts, TabInput
from workbench.tui.plain import figure
from workbench.tui.rows import FATE_WORDS, first_words, role_word
from workbench.tui.widgets.text_view import TextPart

AROUND = 2
"""Unchanged messages or lines that are shown before and after a change."""

MOST_LINES = 1_500
"""Differing lines of a message above which they are shown as one removed and one added block."""


def changes_parts(view: TabInput) -> Parts:
    """Context before and after: `-` removed, `+` new, `~` shortened, unchanged messages folded; rewritten memories
    first."""
    bench = view.bench
    outcome, context = bench.outcome, bench.context
    if outcome.status == "unchanged":
        return [TextPart("Nothing changes.", "title"), TextPart(outcome.reason, "dim")]
    after = context.outcome_size(outcome)
    new = [piece for piece in outcome.pieces if isinstance(piece, NewMessage)]
    short = [piece for piece in new if shortened_index(outcome, piece) is not None]
    kept = sum(piece.stop - piece.start for piece in outcome.pieces if isinstance(piece, KeptSpan))
    removed = len(outcome.source) - kept - len(short)
    counts = f"- {figure(removed)} removed · + {figure(len(new) - len(short))} new · ~ {figure(len(short))} shortened"
    return [
        TextPart(f"Changes: {counts} · = {figure(kept)} unchanged", "title"),
        TextPart(f"{context.total} → {after} tokens, with system prompt and tools", "dim"),
        TextPart(""),
        *_memories(bench.context.memories, outcome.memories),
        *_walk(bench, outcome),
    ]


def _memories(before: str, after: str | None) -> Iterator[TextPart]:
    """Changes of the agent's memories, line by line; nothing if the compaction leaves them alone."""
    if after is None:
        return
    old, new = memories_in(before), memories_in(after)
    yield TextPart(f"memories · {figure(len(old))} → {figure(len(new))} lines", "title")
    yield from text_changes(old, new)
    yield TextPart("")


def shortened_index(outcome: Outcome, piece: NewMessage) -> int | None:
    """Index of the message that `piece` is a shorter form of; None if it is a new message."""
    spans = piece.replaces
    if len(spans) != 1 or len(spans[0]) != 1 or outcome.fate_at(spans[0].start).fate is not Fate.COMPRESSED:
        return None
    return spans[0].start


def _walk(bench: Bench, outcome: Outcome) -> Iterator[TextPart]:
    """Pieces in output order; messages that were removed before a piece are shown before it."""
    staying = _staying(outcome)
    at = 0
    for piece in outcome.pieces:
        index = piece.start if isinstance(piece, KeptSpan) else shortened_index(outcome, piece)
        upto = index if index is not None else max((span.stop for span in _replaced_spans(piece)), default=at)
        yield from _removed_parts(bench, outcome, staying, at, upto)
        at = max(at, upto)
        if isinstance(piece, KeptSpan):
            yield from _unchanged_parts(bench, piece)
            at = max(at, piece.stop)
        elif index is not None:
            yield from _shortened_parts(bench, outcome.source[index], piece.message, index)
            at = max(at, index + 1)
        else:
            yield from _new_parts(bench, piece)
    yield from _removed_parts(bench, outcome, staying, at, len(outcome.source))


def _replaced_spans(piece: KeptSpan | NewMessage) -> tuple[Span, ...]:
    return piece.replaces if isinstance(piece, NewMessage) else ()


def _staying(outcome: Outcome) -> bytearray:
    """One byte per message: 1 if it is in the output, complete or shortened."""
    cells = bytearray(len(outcome.source))
    for span in outcome.fates:
        if span.fate in (Fate.KEPT, Fate.PINNED, Fate.COMPRESSED):
            cells[span.start : span.stop] = b"\1" * len(span)
    return cells


def _removed_parts(bench: Bench, outcome: Outcome, staying: bytearray, start: int, stop: int) -> Iterator[TextPart]:
    lines = []
    for i in range(start, stop):
        if not staying[i]:
            message, fate = outcome.source[i], outcome.fate_at(i).fate
            head = f"- {i + 1:>5} {role_word(message):<8}{bench.context.size(i, i + 1)!s:>9}  {FATE_WORDS[fate]:<10} "
            lines.append(head + first_words(message)[:300])
    if lines:
        yield TextPart("\n".join(lines), "bad", one_row=True)


def _unchanged_parts(bench: Bench, piece: KeptSpan) -> Iterator[TextPart]:
    count = piece.stop - piece.start
    shown = range(piece.start, piece.stop)
    if count > 2 * AROUND + 1:
        yield TextPart("\n".join(_line(bench, i) for i in shown[:AROUND]), "dim", one_row=True)
        size = bench.context.size(piece.start + AROUND, piece.stop - AROUND)
        yield TextPart(f"  ⋮ {figure(count - 2 * AROUND)} messages unchanged, {size} tokens", "dim")
        shown = shown[-AROUND:]
    yield TextPart("\n".join(_line(bench, i) for i in shown), "dim", one_row=True)


def _line(bench: Bench, index: int) -> str:
    message = bench.messages[index]
    size = bench.context.size(index, index + 1)
    return f"= {index + 1:>5} {role_word(message):<8}{size!s:>9}  {first_words(message)[:300]}"


def _shortened_parts(bench: Bench, old: Message, new: Message, index: int) -> Iterator[TextPart]:
    size, after = bench.context.size(index, index + 1), bench.context.measure((new,))
    yield TextPart(f"~ {index + 1:>5} {role_word(old):<8}{size} → {after} tokens", "warning", one_row=True)
    yield from text_changes(lines_of(old), lines_of(new), indent="  ")


def _new_parts(bench: Bench, piece: NewMessage) -> Iterator[TextPart]:
    spans = ", ".join(f"{figure(s.start + 1)}–{figure(s.stop)}" for s in piece.replaces[:4])
    instead = f" for {spans}{'…' if len(piece.replaces) > 4 else ''}" if spans else ""
    head = f"+       {role_word(piece.message):<8}{bench.context.measure((piece.message,))!s:>9}  new{instead}"
    yield TextPart(head, "good", one_row=True)
    yield TextPart("\n".join(f"  + {line}" for line in lines_of(piece.message)), "good")


def lines_of(message: Message) -> list[str]:
    """Lines of everything that a model reads of a message."""
    parts = (part if isinstance(part, str) else part.placeholder for part in visible_parts(message))
    return "\n".join(parts).split("\n")


def text_changes(old: Sequence[str], new: Sequence[str], indent: str = "") -> Iterator[TextPart]:
    """Removed (`-`) and added (`+`) lines with the lines around them; equal runs between are folded."""
    front = _common(old, new)
    back = _common(old[front:][::-1], new[front:][::-1])
    left, right = old[front : len(old) - back], new[front : len(new) - back]
    yield from _equal(old[:front], indent, first=True)
    if len(left) > MOST_LINES or len(right) > MOST_LINES:
        blocks = [("replace", 0, len(left), 0, len(right))]
    else:
        blocks = list(SequenceMatcher(None, left, right, autojunk=False).get_opcodes())
    for tag, a, b, c, d in blocks:
        if tag == "equal":
            yield from _equal(left[a:b], indent)
            continue
        if a < b:
            yield TextPart("\n".join(f"{indent}- {line}" for line in left[a:b]), "bad")
        if c < d:
            yield TextPart("\n".join(f"{indent}+ {line}" for line in right[c:d]), "good")
    yield from _equal(old[len(old) - back :], indent, last=True)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _equal(lines: Sequence[str], indent: str, *, first: bool = False, last: bool = False) -> Iterator[TextPart]:
    head = 0 if first else AROUND
    tail = 0 if last else AROUND
    if len(lines) <= head + tail + 1:
        shown = [f"{indent}  {line}" for line in lines]
    else:
        above, below = lines[:head], lines[len(lines) - tail :] if tail else ()
        folded = f"{indent}  ⋮ {figure(len(lines) - head - tail)} lines unchanged"
        shown = [*(f"{indent}  {line}" for line in above), folded, *(f"{indent}  {line}" for line in below)]
    if shown:
        yield TextPart("\n".join(shown), "dim")
