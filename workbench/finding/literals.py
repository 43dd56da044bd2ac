"""A prompt in the source of a program, which is read and never run: a constant of Python, a template literal of
JavaScript that a name leads to, or, in a bundle whose names were taken out, one by the tags that are in it and by what
is done with it.

Each is found in a text by a name or a tag, as the text that is said and the expressions that are left out of it; None
where there is none, or where several could be meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

Worded = tuple[str, tuple[str, ...]]
"""A text, and what is filled into it when it is used, which it goes without."""

_SHORTEST = 200
"""Characters: what a person types to have something summed up is mostly shorter, a tool's prompt is not."""
_SIGNS = (
    re.compile(r"summar|compact|snapshot|hand-?off|checkpoint", re.IGNORECASE),
    re.compile(r"conversation|context|history|session|messages", re.IGNORECASE),
)


def requests_summary(text: str) -> bool:
    """Whether a text asks for a summary, as a tool's prompt does."""
    return len(text) >= _SHORTEST and all(sign.search(text) for sign in _SIGNS)


_FILLED = re.compile(r"\{([A-Za-z_]\w*)\}")


def python_constant(source: str, name: str) -> Worded | None:
    """A text that is given to a name in a module or a class, without what is filled into it."""
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


def whole_text(source: str, name: str) -> Worded | None:
    """All of a file that holds a prompt and nothing else."""
    return (source, ()) if source.strip() else None


def template_literal(source: str, name: str) -> Worded | None:
    """The template literal that a constant of JavaScript is, or that a function returns, without its expressions."""
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


def tagged_literal(source: str, tag: str) -> Worded | None:
    """The template literal of a bundle without names that holds a tag and asks for a summary: the one for the whole
    conversation, not one of those for a part of it, between which the bundle chooses by "up_to".

    None where there is none, or more than one that differ.
    """
    found: dict[str, tuple[str, ...]] = {}
    for at in _places(source, tag):
        start = _opened(source, at)
        named = _NAMED.search(source, max(0, start - 40), start)
        literal = _literal(source, start) if named else None
        if literal is None or named is None or not requests_summary(literal[0]) or _is_partial(source, named[1]):
            continue
        text, left_out = _filled(source, start, literal)
        found[text] = left_out
    whole = [one for one in found.items() if not one[1]] or [*found.items()]
    return whole[0] if len(whole) == 1 else None


def instructed_literal(source: str, tag: str) -> Worded | None:
    """The template literal of a bundle without names that opens with a tag's own line, after the sentence that is sent
    before it: a string that stands before its name in a list. None where there is none, or more than one."""
    found: set[str] = set()
    for at in _places(source, tag):
        start = _opened(source, at)
        named = _NAMED.search(source, max(0, start - 40), start)
        literal = _literal(source, start) if named else None
        if literal is None or literal[1] or named is None or not named[1]:
            continue
        before = re.compile(rf'"((?:[^"\\\n]|\\.)+)",\s*{re.escape(named[1])}[\],]').findall(source)
        found |= {f"{_unescaped(one)}\n\n{literal[0]}" for one in before}
    return (found.pop(), ()) if len(found) == 1 else None


_NAMED = re.compile(r"(?:([A-Za-z_$][\w$]*)=\[?|\breturn\s*|\+\s*)`$")
"""What stands before a literal that is given to a name, alone or as the first of a list, returned, or put behind
another."""


def _places(source: str, words: str) -> Iterator[int]:
    at = source.find(words)
    while at >= 0:
        yield at
        at = source.find(words, at + 1)


def _opened(source: str, at: int) -> int:
    """Behind the last backtick before a place that is not escaped."""
    tick = source.rfind("`", 0, at)
    while tick > 0 and source[tick - 1] == "\\":
        tick = source.rfind("`", 0, tick)
    return tick + 1


def _is_partial(source: str, name: str | None) -> bool:
    """Whether a bundle takes what has this name for a part of a conversation, from or up to a message."""
    return bool(name) and bool(re.search(rf'"up_to"\s*\?(?:[\w$]+:)?{re.escape(name or "")}(?![\w$])', source))


def _filled(source: str, start: int, literal: Worded) -> Worded:
    """A literal with those of its expressions that are names of other texts of the bundle in their places."""
    texts = {name: text for name in literal[1] if (text := _text_of_name(source, start, name)) is not None}
    return _literal(source, start, texts) or literal


_DEEPEST = 3
"""How many texts may stand in one another."""


def _text_of_name(source: str, start: int, name: str, depth: int = 1) -> str | None:
    """The text that was given to a name last before a place, with those that are in it. A name of one letter is that of
    what a function is given."""
    if not re.fullmatch(r"[A-Za-z_$][\w$]+", name) or depth > _DEEPEST:
        return None
    given = [*re.compile(rf"(?<![\w$.]){re.escape(name)}=([`'\"])").finditer(source, 0, start)][-1:]
    if not given:
        return None
    sign, at = given[0][1], given[0].end()
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
    return _ESCAPED.sub(_meant, text)


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if not code:
        return _ESCAPES.get(escape[4], escape[4])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""


def _literal(source: str, at: int, texts: Mapping[str, str] = {}) -> Worded | None:
    """What stands from `at` up to the next backtick that is not escaped, with `texts` for the expressions so named; the
    other expressions are left out."""
    said: list[str] = []
    left_out: list[str] = []
    while at < len(source):
        if source[at] == "`":
            return "".join(said), tuple(left_out)
        if escape := _ESCAPED.match(source, at):
            said.append(_meant(escape))
            at = escape.end()
        elif source.startswith("${", at):
            end = _behind(source, at + 2)
            name = source[at + 2 : end - 1].strip()
            if name in texts:
                said.append(texts[name])
            else:
                left_out.append(name)
            at = end
        else:
            said.append(source[at])
            at += 1
    return None


def _behind(source: str, at: int) -> int:
    """Behind the brace that closes an expression."""
    depth = 1
    while at < len(source) and depth:
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return at
