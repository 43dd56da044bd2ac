"""A conversation as readable text at three verbosities, for the screen and for pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from msgspec import Struct

from workbench.base.printable import one_line, printable
from workbench.base.values import json_text
from workbench.session import Block, Media, Message, Opaque, Span, Text, Thinking, ToolResult, ToolUse, rounds_of
from workbench.session.masked import masked_message

Verbosity = Literal["default", "compact", "quiet"]
VERBOSITIES: tuple[Verbosity, ...] = get_args(Verbosity)
"""`default` shows everything; `compact` has calls, results and intermediate answers on one line each, and no reasoning;
`quiet` shows only the session's last answer."""

Voice = Literal["system", "user", "assistant", "thinking", "call", "result", "error", "summary", "note"]


class TranscriptEntry(Struct, frozen=True):
    """Block of the transcript. `index` is the message's position in the context; `text` is safe to print."""

    index: int
    voice: Voice
    text: str


def transcript(messages: Sequence[Message], verbosity: Verbosity = "default") -> Iterator[TranscriptEntry]:
    """Yield the blocks of a context in order, as text without control characters. At `compact`, requests, summaries and
    the last answer of each round are complete, and reasoning is left out. Secrets are masked before inputs of calls
    become JSON, because its escapes would hide them.
    """
    final = last_answers(messages)
    whole = frozenset(final[-1:] if verbosity == "quiet" else final)
    for index, message in enumerate(messages):
        if message.kind == "boundary" or (verbosity == "quiet" and index not in whole):
            continue
        for block in masked_message(message).blocks:
            voice, text = _voice_and_text(message, block)
            if voice == "result" and verbosity != "quiet" and isinstance(block, ToolResult) and block.user_text:
                yield TranscriptEntry(index, "user", printable(block.user_text))
            if verbosity == "quiet" and voice != "assistant":
                continue
            if verbosity == "compact":
                if voice == "thinking":
                    continue
                if voice in ("call", "result", "error", "note") or (voice == "assistant" and index not in whole):
                    text = one_line(text)
            if text:
                yield TranscriptEntry(index, voice, printable(text))


def last_answers(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return indexes of the last assistant message with text of each round."""
    rounds = rounds_of(messages)
    found = (_last_answer(messages, span) for span in (rounds.preamble, *rounds.rounds))
    return tuple(index for index in found if index is not None)


def _last_answer(messages: Sequence[Message], span: Span) -> int | None:
    for index in range(span.stop - 1, span.start - 1, -1):
        message = messages[index]
        if message.role == "assistant" and message.kind == "normal" and message.text.strip():
            return index
    return None


def _voice_and_text(message: Message, block: Block) -> tuple[Voice, str]:
    match block:
        case Text(text):
            return "note" if block.injected and message.role == "user" else _speaker(message), text
        case Thinking(text, signature):
            return "thinking", text or (
                f"[reasoning not shown, {len(signature)} characters signed]" if signature else ""
            )
        case ToolUse(_, name, given):
            return "call", f"{name} {given if isinstance(given, str) else json_text(given)}"
        case ToolResult():
            return ("error" if block.is_error else "result"), block.text or "(empty)"
        case Media():
            return _speaker(message), block.placeholder
        case Opaque(type, _):
            return "note", f"[{type}]"


def _speaker(message: Message) -> Voice:
    if message.kind == "summary":
        return "summary"
    if message.kind == "meta":
        return "note"
    return "result" if message.role == "tool" else message.role
