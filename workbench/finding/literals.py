"""Search for a prompt in a program's source, which is read and never run.

A prompt is a Python constant, a named JavaScript template literal, or, in a minified bundle, a literal found by its
tags and use. Each search takes a source and a name or tag; it returns the text without its inserted expressions, and
those expressions; None if there is no match, or no unique one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

FoundText = tuple[str, tuple[str, ...]]
"""A text without the expressions that the program inserts, and these expressions."""

_SHORTEST = 200
"""Characters of the shortest prompt; users' requests for a summary are mostly shorter."""
_SIGNS = (
    re.compile(r"summar|compact|snapshot|hand-?off|checkpoint", re.IGNORECASE),
    re.compile(r"conversation|context|history|session|messages", re.IGNORECASE),
)


def requests_summary(text: str) -> bool:
    """Return True if a text requests a summary in the way an agent's prompt does."""
    return len(text) >= _SHORTEST and all(sign.search(text) for sign in _SIGNS)


_FILLED = re.compile(r"\{([A-Za-z_]\w*)\}")


def python_constant(source: str, name: str) -> FoundText | None:
    """Return the text assigned to a name in a module or class, without its placeholders."""
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Constant):
            continue
        targets, text = node.targets if isinstance(node, ast.Assign) else [node.target], node.value.value
        if isinstance(text, str) and any(isinstance(one, ast.Name) and one.id == name for one in targets):
            return _FILLED.sub("", text), tuple(_FILLED.findall(text))
    return None


def whole_text(source: str, name: str) -> FoundText | None:
    """Return the text of a file that contains only a prompt."""
    return (source, ()) if source.strip() else None


def template_literal(source: str, name: str) -> FoundText | None:
    """Return the template literal of a JavaScript constant or of a function's return, without its expressions."""
    for opening in (rf"\b(?:const|var|let)\s+{name}\s*=\s*`", rf"\bfunction\s+{name}\s*\([^)]*\)\s*\{{"):
        if found := re.search(opening, source):
            start = found.end()
            if not found[0].endswith("`"):
                returned = re.compile(r"\breturn\s*`").search(source, start, start + 4_000)
                if returned is None:
                    return None
                start = returned.end()
            return _literal(source, start)
    return None


def tagged_literal(source: str, tag: str) -> FoundText | None:
    """Return the template literal of a minified bundle that contains a tag and requests a summary of the entire
    conversation, not the variant for a part of it that the bundle chooses by "up_to".

    None without a match, or with several different ones.
    """
    found: dict[str, tuple[str, ...]] = {}
    for at in _occurrences(source, tag):
        start = _literal_start(source, at)
        named = _NAMED.search(source, max(0, start - 40), start)
        literal = _literal(source, start) if named else None
        if literal is None or named is None or not requests_summary(literal[0]) or _is_partial(source, named[1]):
            continue
        text, left_out = _with_inserted_texts(source, start, literal)
        found[text] = left_out
    whole = [one for one in found.items() if not one[1]] or [*found.items()]
    return whole[0] if len(whole) == 1 else None


def instructed_literal(source: str, tag: str) -> FoundText | None:
    """Return the template literal of a minified bundle that has the line `tag`, preceded by its instruction: the string
    that the bundle lists before the literal's name. None without a unique match."""
    found: set[str] = set()
    for at in _occurrences(source, tag):
        start = _literal_start(source, at)
        named = _NAMED.search(source, max(0, start - 40), start)
        literal = _literal(source, start) if named else None
        if literal is None or literal[1] or named is None or not named[1]:
            continue
        before = re.compile(rf'"((?:[^"\\\n]|\\.)+)",\s*{re.escape(named[1])}[\],]').findall(source)
        found |= {f"{_unescaped(one)}\n\n{literal[0]}" for one in before}
    return (found.pop(), ()) if len(found) == 1 else None


_NAMED = re.compile(r"(?:([A-Za-z_$][\w$]*)=\[?|\breturn\s*|\+\s*)`$")
"""Code before a literal that is assigned to a name, alone or first in a list, returned, or appended."""


def _occurrences(source: str, words: str) -> Iterator[int]:
    at = source.find(words)
    while at >= 0:
        yield at
        at = source.find(words, at + 1)


def _literal_start(source: str, at: int) -> int:
    """Return the index after the last unescaped backtick before a place."""
    tick = source.rfind("`", 0, at)
    while tick > 0 and source[tick - 1] == "\\":
        tick = source.rfind("`", 0, tick)
    return tick + 1


def _is_partial(source: str, name: str | None) -> bool:
    """Return True if a bundle uses the text of this name for part of a conversation, from or up to a message."""
    return bool(name) and bool(re.search(rf'"up_to"\s*\?(?:[\w$]+:)?{re.escape(name or "")}(?![\w$])', source))


def _with_inserted_texts(source: str, start: int, literal: FoundText) -> FoundText:
    """Return a literal in which each name of another text of the bundle is replaced by that text."""
    texts = {name: text for name in literal[1] if (text := _text_of_name(source, start, name)) is not None}
    return _literal(source, start, texts) or literal


_DEEPEST = 3
"""Nesting depth of texts inserted into texts."""


def _text_of_name(source: str, start: int, name: str, depth: int = 1) -> str | None:
    """Return the text last assigned to a name before a place, with inserted texts filled in. One-letter names are
    function parameters, and not followed."""
    if not re.fullmatch(r"[A-Za-z_$][\w$]+", name) or depth > _DEEPEST:
        return None
    assignments = [*re.compile(rf"(?<![\w$.]){re.escape(name)}=([`'\"])").finditer(source, 0, start)][-1:]
    if not assignments:
        return None
    sign, at = assignments[0][1], assignments[0].end()
    if sign != "`":
        quoted = re.compile(rf"((?:[^{sign}\\\n]|\\.)*){sign}").match(source, at)
        return _unescaped(quoted[1]) if quoted else None
    literal = _literal(source, at)
    texts = {one: _text_of_name(source, at, one, depth + 1) for one in literal[1]} if literal else {}
    known = {one: text for one, text in texts.items() if text is not None}
    filled = _literal(source, at, known) if len(known) == len(texts) else None
    return filled[0] if filled else None


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(_unescaped_character, text)


def _unescaped_character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if not code:
        return _ESCAPES.get(escape[4], escape[4])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""


def _literal(source: str, at: int, texts: Mapping[str, str] = {}) -> FoundText | None:
    """Return the text from `at` to the next unescaped backtick, with `texts` inserted for expressions of those names;
    other expressions are left out."""
    parts: list[str] = []
    left_out: list[str] = []
    while at < len(source):
        if source[at] == "`":
            return "".join(parts), tuple(left_out)
        if escape := _ESCAPED.match(source, at):
            parts.append(_unescaped_character(escape))
            at = escape.end()
        elif source.startswith("${", at):
            end = _expression_end(source, at + 2)
            name = source[at + 2 : end - 1].strip()
            if name in texts:
                parts.append(texts[name])
            else:
                left_out.append(name)
            at = end
        else:
            parts.append(source[at])
            at += 1
    return None


def _expression_end(source: str, at: int) -> int:
    """Return the index after the brace that closes an expression."""
    depth = 1
    while at < len(source) and depth:
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return at
