"""The message under the cursor: its role, size, fate and blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.transcript import transcript
from workbench.base.stamps import shown
from workbench.bench import Bench
from workbench.compaction.context import Layout
from workbench.compaction.outcome import Fate, NewMessage
from workbench.compaction.summary_request import SummaryRequest
from workbench.session import Message, ToolResult, ToolUse
from workbench.tokens.sizes import visible_chars
from workbench.tui.middle.blocks import block_parts
from workbench.tui.middle.changes import lines_of, shortened_index, text_changes
from workbench.tui.middle.parts import Parts, TabInput
from workbench.tui.plain import figure, several
from workbench.tui.rows import FATE_WORDS, role_word
from workbench.tui.widgets.text_view import TextPart

if TYPE_CHECKING:
    from workbench.compaction.assembled.notes import SessionNote

MENTIONED = 8
"""Most mentioned files that a note names."""

_VOICES = {"thinking": "thinking", "call": "call", "result": "result", "error": "bad", "note": "dim", "user": "title"}


def message_parts(view: TabInput) -> Parts:
    """Message under the cursor; at another verbosity, its round."""
    bench, index = view.bench, view.index
    if not bench.messages:
        return [TextPart("This epoch has no messages.", "dim")]
    if view.verbosity != "default":
        return round_parts(view)
    context, message = bench.context, bench.messages[index]
    size = context.size(index, index + 1)
    about = [f"{_round_words(view)} · message {figure(index + 1)} of {figure(len(bench.messages))}", role_word(message)]
    if message.kind not in ("normal", role_word(message)):
        about.append(message.kind)
    parts = [
        TextPart(" · ".join([*about, f"{size} tokens", f"{figure(size.chars)} characters"]), "title"),
        TextPart(_fate(bench, index) if view.is_planned else "planning…"),
        TextPart(
            " · ".join(
                filter(
                    None,
                    (_time_words(message), message.model or "", _usage(message)),
                )
            ),
            "dim",
        ),
        *_notes(bench, index),
        *(_shortening_parts(bench, index) if view.is_planned else ()),
    ]
    calls = _calls_answered(bench.layout, index)
    for number, block in enumerate(message.blocks):
        called = calls.get(block.call_id) if isinstance(block, ToolResult) else None
        parts += [TextPart(""), *block_parts(block, view.folds, f"{message.id}/{number}", called)]
    return parts if message.blocks else [*parts, TextPart(""), TextPart("(no content)", "dim")]


def round_parts(view: TabInput) -> Parts:
    """Round under the cursor as a conversation: a line for each call (compact), or its last answer (quiet)."""
    groups, messages = view.groups, view.bench.messages
    span = groups.spans[groups.group_of(view.index)]
    parts = [
        TextPart(
            f"{_round_words(view)} · {view.verbosity} · {several(len(span), 'message')} · ctrl+p Verbosity", "title"
        )
    ]
    entries = list(transcript(messages[span.start : span.stop], view.verbosity))
    for entry in entries:
        parts += [TextPart(""), TextPart(f"{entry.voice} · message {figure(span.start + entry.index + 1)}", "dim")]
        parts.append(TextPart(entry.text, _VOICES.get(entry.voice, "")))
    return parts if entries else [*parts, TextPart(""), TextPart("This round has no text answer.", "dim")]


def _round_words(view: TabInput) -> str:
    label = view.groups.label(view.groups.group_of(view.index))
    return {"pre": "before the first round", "now": "current input"}.get(label, f"round {label}")


def _fate(bench: Bench, index: int) -> str:
    fate = bench.outcome.fate_at(index).fate
    return f"{fate.glyph} {FATE_WORDS[fate]}{_by_hand(bench, bench.messages[index])}{seen_words(bench, index)}"


def _notes(bench: Bench, index: int) -> Parts:
    """Notes about the message, general ones and those of the strategy in use."""
    shape = bench.layout.shape
    from workbench.compaction.assembled.notes import notes_at

    parts = [
        TextPart(_note_words(note), "warning" if note.kind == "changed" else "dim") for note in notes_at(shape, index)
    ]
    found = bench.strategy.view.notes(shape, bench.policy, index)
    return [*parts, *(TextPart(note.text, "warning" if note.warns else "dim") for note in found)]


def _note_words(note: SessionNote) -> str:
    if note.kind == "mention":
        return f"mentions {', '.join(f'@{path}' for path in note.files[:MENTIONED])}"
    return f"to-do list: {note.text}" if note.kind == "recap" else note.text


def _shortening_parts(bench: Bench, index: int) -> Parts:
    """Changes of a message that is kept shortened."""
    old = bench.messages[index]
    for piece in bench.outcome.pieces:
        if isinstance(piece, NewMessage) and shortened_index(bench.outcome, piece) == index:
            new, before = piece.message, bench.context.size(index, index + 1)
            head = f"▚ shortened: {before} → {bench.context.measure((new,))} tokens"
            changed = list(text_changes(lines_of(old), lines_of(new), indent="  "))
            return [
                TextPart(""),
                TextPart(head, "title"),
                *changed,
                TextPart(""),
                TextPart("── complete, as it is now", "title"),
            ]
    return []


def _by_hand(bench: Bench, message: Message) -> str:
    words = (("pinned", bench.pins), ("dropped", bench.dropped), ("shortened", bench.shortened))
    return "".join(f" · {word} by you" for word, ids in words if message.id in ids)


def seen_words(bench: Bench, index: int) -> str:
    """Share of a replaced message that the summarizer sees, from the requests themselves."""
    message = bench.messages[index]
    if bench.outcome.fate_at(index).fate in (Fate.KEPT, Fate.PINNED, Fate.COMPRESSED):
        return ""
    for request in bench.plan.requests:
        place = _place(request, message, index)
        if place is None:
            continue
        if request.seen is None:
            return " · the summarizer sees it"
        seen, of = request.seen(place)
        if request.messages[place] is not message:
            # The user shortened it: its present text is part of the original.
            of = visible_chars(message)
            seen = min(seen, of)
        if seen >= of:
            return f" · the summarizer sees all of it ({figure(of)} characters)"
        return f" · the summarizer sees {figure(seen)} of {figure(of)} characters"
    return " · the summarizer sees nothing of it"


def _place(request: SummaryRequest, message: Message, index: int) -> int | None:
    """Index of the message in the request. A request's messages are a run of the context, seldom with gaps."""
    messages = request.messages
    # Search just before its own index first: it moves forward only by the messages left out before it, usually few.
    low = max(0, index - 64)
    for place in (*range(min(low, len(messages)), min(index + 1, len(messages))), *range(min(low, len(messages)))):
        if messages[place].id == message.id:
            return int(place)
    return None


def _time_words(message: Message) -> str:
    return shown(message.time, "%Y-%m-%d %H:%M:%S", None)


def _usage(message: Message) -> str:
    if message.usage is None:
        return ""
    output = f"{figure(message.usage.output)} out" if message.usage.output_final else ""
    return "billed " + ", ".join(filter(None, (f"{figure(message.usage.context)} in", output)))


def _calls_answered(layout: Layout, index: int) -> dict[str, ToolUse]:
    """Calls that the results of a message answer, by id."""
    partners = layout.shape.partners.get(index, ()) if layout.messages[index].results else ()
    return {call.id: call for partner in partners for call in layout.messages[partner].calls}
