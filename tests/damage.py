"""Damage of many kinds to sessions, by a seed: the copies that a repair is tried on."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

Lines = list[bytes]
Damage = Callable[[Random, bytes], bytes]


def _on_lines(damage: Callable[[Random, Lines], Lines]) -> Damage:
    def damaged(random: Random, data: bytes) -> bytes:
        return b"\n".join(damage(random, data.rstrip(b"\n").split(b"\n"))) + b"\n"

    return damaged


def _at(random: Random, lines: Lines) -> int:
    """A line that is neither the first nor the last."""
    return random.randrange(1, max(2, len(lines) - 1))


def _nul(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    return [*lines[:at], b"\0" * random.randrange(1, 5_000), *lines[at:]]


def _glued(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    return [*lines[: at - 1], lines[at - 1] + lines[at], *lines[at + 1 :]]


def _cut(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    return [*lines[:at], lines[at][: random.randrange(1, len(lines[at]))], *lines[at + 1 :]]


def _cut_end(random: Random, lines: Lines) -> Lines:
    return [*lines[:-1], lines[-1][: random.randrange(1, len(lines[-1]))]]


def _cut_and_glued(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    return [*lines[:at], lines[at][: random.randrange(2, len(lines[at]))] + lines[at], *lines[at + 1 :]]


def _split(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    here = random.randrange(1, len(lines[at]))
    return [*lines[:at], lines[at][:here], lines[at][here:], *lines[at + 1 :]]


def _lost(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    return [*lines[:at], *lines[at + 1 :]]


def _twice(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    return [*lines[:at], lines[at], *lines[at:]]


def _headless(random: Random, lines: Lines) -> Lines:
    return lines[1:]


def _swapped(random: Random, lines: Lines) -> Lines:
    at = _at(random, lines)
    return [*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]]


def _surrogate(random: Random, data: bytes) -> bytes:
    return _in_a_text(random, data, b"\\ud83d")


def _separator(random: Random, data: bytes) -> bytes:
    return _in_a_text(random, data, "\u2028".encode())


def _in_a_text(random: Random, data: bytes, more: bytes) -> bytes:
    """Put bytes into a text of the conversation, behind a blank between two letters."""
    places = [at for at in range(1, len(data) - 2) if data[at] == 32 and chr(data[at - 1]).isalpha()][:5_000]
    at = random.choice([at for at in places if chr(data[at + 1]).isalpha()] or places)
    return data[: at + 1] + more + data[at + 1 :]


def _nul_end(random: Random, data: bytes) -> bytes:
    return data.rstrip() + b"\0" * random.randrange(1, 5_000)


def _trailing(random: Random, data: bytes) -> bytes:
    data = data.rstrip()
    return data + data[-random.randrange(2, min(400, len(data))) :]


def _cut_document(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) * 3 // 4, len(data) - 2)]


LINES: dict[str, Damage] = {
    "nul": _on_lines(_nul),
    "glued": _on_lines(_glued),
    "cut": _on_lines(_cut),
    "cut end": _on_lines(_cut_end),
    "cut and glued": _on_lines(_cut_and_glued),
    "split": _on_lines(_split),
    "lost": _on_lines(_lost),
    "twice": _on_lines(_twice),
    "headless": _on_lines(_headless),
    "swapped": _on_lines(_swapped),
    "surrogate": _surrogate,
    "separator": _separator,
}
"""Damage to a file of lines, by its name."""

DOCUMENTS: dict[str, Damage] = {
    "nul end": _nul_end,
    "trailing": _trailing,
    "cut": _cut_document,
    "surrogate": _surrogate,
}
"""Damage to a JSON document."""


def kinds_of(data: bytes) -> dict[str, Damage]:
    """The kinds of damage that a file can have: one of lines, or a document."""
    first, _, rest = data.partition(b"\n")
    try:
        json.loads(first)
    except ValueError:
        return DOCUMENTS
    return LINES if rest.strip() else DOCUMENTS
