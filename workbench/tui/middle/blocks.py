"""Blocks of a message as text: calls and results distinct, thinking marked, code in colours, JSON in folds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from workbench.base.text import plural
from workbench.facts.fences import fences
from workbench.session import Block, Media, Opaque, Text, Thinking, ToolUse
from workbench.tui.middle.code import language_of, lexer
from workbench.tui.middle.parts import Folds, Parts, Piece
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
            if block.user_text:
                parts += [
                    TextPart("✎ user's words", "title"),
                    TextPart(block.user_text),
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
    return list(fold_json(value, folds, place, language))


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


# --- JSON -------------------------------------------------------------------------------------------------------------


BIG = 4_000
"""Most characters of a value whose nested and long parts are open at first; in a larger one they are closed."""

SHORT = 80
"""Most characters of a nested value on one line without a fold."""

LONG_TEXT = 300
"""Characters from which a text has its own fold, as does one with line breaks."""

DEEPEST = 60
"""Most levels that fold; deeper ones are on one line."""


def fold_json(value: Any, folds: Folds, place: str, language: str = "") -> list[Piece]:
    """`value` as lines with folds. `place` is its key among all folds; long texts are in `language`."""
    return list(_inside(value, folds, place, language, big=len(compact(value)) > BIG, indent=0))


def _inside(value: Any, folds: Folds, place: str, language: str, *, big: bool, indent: int) -> Iterator[Piece]:
    entries: list[tuple[str, str, Any]]
    if isinstance(value, Mapping):
        entries = [(f"{json.dumps(str(key), ensure_ascii=False)}: ", str(key), item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        entries = [("", str(number), item) for number, item in enumerate(value)]
    else:
        entries = [("", "", value)]
    last = len(entries) - 1
    for number, (name, key, item) in enumerate(entries):
        comma = "," if number < last else ""
        yield from _entry(name, item, comma, folds, f"{place}/{key}", language, big=big, indent=indent)


def _entry(
    name: str, value: Any, comma: str, folds: Folds, place: str, language: str, *, big: bool, indent: int
) -> Iterator[Piece]:
    pad = "  " * indent
    if isinstance(value, str) and (len(value) > LONG_TEXT or "\n" in value):
        is_open = folds.is_open(place, not big)
        yield Piece(_head(pad, name, is_open, text_shape(value), "" if is_open else value), fold=place, language="json")
        if is_open:
            yield Piece(value, language=language)
        return
    flat = compact(value)
    if not isinstance(value, Mapping | list | tuple) or len(flat) <= SHORT or indent >= DEEPEST:
        yield Piece(f"  {pad}{name}{flat}{comma}", language="json")
        return
    is_open = folds.is_open(place, not big)
    yield Piece(
        _head(pad, name, is_open, shape(value, len(flat)), "" if is_open else flat), fold=place, language="json"
    )
    if is_open:
        yield from _inside(value, folds, place, language, big=big, indent=indent + 1)


def _head(pad: str, name: str, is_open: bool, shape: str, first: str) -> str:
    words = f" · {' '.join(first[:60].split())}…" if first else ""
    return f"{'▾' if is_open else '▸'} {pad}{name}{shape}{words}"


def shape(value: Any, chars: int) -> str:
    """Size of a nested value: `{3 fields} 1 204 characters`."""
    mapping = isinstance(value, Mapping)
    count = f"{figure(len(value))} {plural(len(value), 'field' if mapping else 'item')}"
    return f"{'{' if mapping else '['}{count}{'}' if mapping else ']'} {figure(chars)} characters"


def text_shape(text: str) -> str:
    """Size of a text: `812 lines, 41 210 characters`."""
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{several(lines, 'line')}, {figure(len(text))} characters"


def compact(value: Any) -> str:
    """`value` as JSON on one line, or a note if it is nested too deep."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return '"… nested too deep to be shown"'


def pretty(value: Any) -> str:
    """Arguments of a call as text: JSON indented, long texts with their own line breaks."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        long = {k: v for k, v in value.items() if isinstance(v, str) and "\n" in v}
        rest = {k: v for k, v in value.items() if k not in long}
        texts = [_indented(rest)] if rest or not long else []
        return "\n".join([*texts, *(f"{key}:\n{text}" for key, text in long.items())])
    return _indented(value)


def _indented(value: Any) -> str:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return compact(value)
