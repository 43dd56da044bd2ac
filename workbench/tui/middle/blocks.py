"""Blocks of a message as text: calls and results distinct, thinking marked, code in colours, JSON folded."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from workbench.session import Block, Media, Opaque, Text, Thinking, ToolUse
from workbench.tui.middle.code import language_of, lexer
from workbench.tui.middle.json_folds import compact, folded, pretty, text_shape
from workbench.tui.middle.view import Folds, Parts, Piece
from workbench.tui.plain import figure, several
from workbench.tui.rows import call_words
from workbench.tui.widgets.text_view import TextPart

MOST_JSON = 200_000
"""Characters from which a result is shown as text even if it is JSON."""

_TAKES_COMMANDS = {"command", "cmd", "script"}


def block_parts(block: Block, folds: Folds | None = None, place: str = "", called: ToolUse | None = None) -> Parts:
    """Block with a line that names its kind.

    `folds` are the open folds; None folds nothing. `place` is the block's key among all folds; `called` is the call
    that a result answers.
    """
    match block:
        case Text(text, injected):
            return [TextPart("┄ added by the agent", "dim"), TextPart(text, "dim")] if injected else text_parts(text)
        case Thinking(text, signature):
            hidden = f"(not recorded; its signature of {figure(len(signature))} characters still costs context)"
            return [TextPart("┄ thinking", "dim"), TextPart(text or hidden, "thinking")]
        case ToolUse(id, name, arguments):
            head = TextPart(f"▶ call {name} · {call_shape(arguments)}", "call")
            return [head, TextPart(f"  {id}", "dim"), *_input_parts(block, folds, place)]
        case Media():
            return [TextPart(f"▣ {block.media_type} · {figure(block.size)} bytes", "dim")]
        case Opaque(type, raw):
            head = TextPart(f"┄ {type} (unknown block type, kept unchanged)", "dim")
            return [head, *_json_parts(raw, folds, place)]
        case _:
            sign, style = ("✘ error", "bad") if block.is_error else ("◀ result", "result")
            parts = [
                TextPart(f"{sign} of {called.name if called else block.call_id} · {text_shape(block.text)}", style)
            ]
            parts += (
                [TextPart(f"  {call_words(called)}", "dim"), TextPart(f"  {block.call_id}", "dim")] if called else []
            )
            if block.said:
                parts += [
                    TextPart("✎ user's words", "title"),
                    TextPart(block.said),
                    TextPart("◀ as the model reads it", "dim"),
                ]
            language = language_of_call(called) if called else ""
            for number, part in enumerate(block.content):
                if isinstance(part, Text):
                    parts += _result_parts(part.text, folds, f"{place}.{number}", language)
                else:
                    parts += block_parts(part)
            return parts if block.text else [*parts, TextPart("(empty)", "dim")]


def text_parts(text: str) -> Parts:
    """Prose with the code between fences in colours."""
    from workbench.facts.fences import fences  # on demand: it imports every kind of fact

    parts: Parts = []
    at = 0
    for fence in fences(text):
        words, opening, code, closing = (
            text[start:stop].removesuffix("\n")
            for start, stop in pairwise((at, fence.start, fence.body, fence.end, fence.stop))
        )
        parts += [TextPart(words)] if at < fence.start else []
        parts.append(TextPart(opening, "dim"))
        parts += [_code(code, language_of(fence.word))] if fence.body < fence.end else []
        parts += [TextPart(closing, "dim")] if fence.end < fence.stop else []
        at = fence.stop
    return [*parts, TextPart(text[at:])] if not parts or at < len(text) or text.endswith("\n") else parts


def _code(text: str, language: str) -> TextPart:
    if not language:
        return TextPart(text)
    lexer(language)  # created here, in the thread
    return Piece(text, language=language)


def call_shape(arguments: dict[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return text_shape(arguments)
    return f"{several(len(arguments), 'field')}, {figure(len(compact(arguments)))} characters"


def language_of_call(call: ToolUse) -> str:
    """Language of the file that a call reads or writes, by the file's name; "" if there is none."""
    arguments = call.input if isinstance(call.input, dict) else {}
    for key in ("file_path", "path", "filePath", "filename", "notebook_path", "target_file"):
        if isinstance(name := arguments.get(key), str):
            return language_of(name)
    return ""


def _input_parts(call: ToolUse, folds: Folds | None, place: str) -> Parts:
    """Arguments of a call: nested values folded, commands and file contents in colours."""
    if isinstance(call.input, str) or folds is None:
        return [TextPart(pretty(call.input))]
    language = language_of_call(call) or ("bash" if _TAKES_COMMANDS & call.input.keys() else "")
    return _json_parts(call.input, folds, place, language)


def _json_parts(value: Any, folds: Folds | None, place: str, language: str = "") -> Parts:
    if folds is None:
        return [TextPart(pretty(value))]
    lexer("json")
    if language:
        lexer(language)
    return list(folded(value, folds, place, language))


def _result_parts(text: str, folds: Folds | None, place: str, language: str) -> Parts:
    """Text of a result: JSON folds, a file or a diff has colours, other text is unchanged."""
    if text.lstrip()[:1] in ("{", "[") and len(text) <= MOST_JSON:
        try:
            return _json_parts(json.loads(text), folds, place)
        except (ValueError, RecursionError):
            pass
    if folds is None:
        return [TextPart(text)]
    if text[:1] in ("{", "["):
        language = language or "json"
    elif not language and text.startswith(("diff --git ", "--- a/", "@@ ", "Index: ")):
        language = "diff"
    return [_code(text, language)]
