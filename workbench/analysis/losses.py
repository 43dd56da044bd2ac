"""What the head has and a summary lost, the gravest first: standing instructions, open errors, changed files, …"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.head_index import WORD, stems
from workbench.facts import Fact, FactKind, find
from workbench.facts.calls import is_check
from workbench.facts.done import same_command
from workbench.session import Message

LOOKED_FOR: tuple[FactKind, ...] = ("instruction", "error", "path", "command", "identifier", "number")

ENOUGH = 0.6
"""The share of an instruction's or an error's words that one line of the summary must have to stand for it."""

COMMAND_CHARS = 40
"""Of a command so much must stand in the summary: the rest is often shortened."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A fact of the head that the summary does not have. `message` is its id, `index` its place in the head.

    `why` says why it matters ("changed", "not fixed", "failed", "ran 3 times", …).
    """

    kind: FactKind
    text: str
    message: str
    index: int
    why: str
    rank: float


@dataclass(frozen=True, slots=True)
class _Sought:
    """A fact in the form in which it is looked for in a summary."""

    loss: Loss
    needles: tuple[str, ...] = ()
    stems: frozenset[str] = frozenset()


class Inventory:
    """The facts of a head, gathered once; `lost` compares them with a summary's text."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._sought = sorted(_inventory(messages), key=lambda one: -one.loss.rank)

    def lost(self, summary: str) -> tuple[Loss, ...]:
        """By rank. Paths count as there by their file name, commands by their beginning, sentences by their words."""
        flat = " ".join(summary.split())
        words = set(WORD.findall(flat.lower()))
        lines = [line_stems for line in summary.split("\n") if (line_stems := stems(line))]
        return tuple(one.loss for one in self._sought if not _there(one, flat, words, lines))


def _there(one: _Sought, flat: str, words: set[str], lines: list[frozenset[str]]) -> bool:
    if one.stems:
        most = len(one.stems)
        return any(len(one.stems & line) >= ENOUGH * most for line in lines)
    for needle in one.needles:
        first = WORD.search(needle)
        # Most facts are lost: one word of them that the summary lacks settles it.
        if (first is None or len(first[0]) < 3 or first[0].lower() in words) and needle in flat:
            return True
    return False


def _inventory(messages: Sequence[Message]) -> list[_Sought]:
    count = len(messages) or 1
    together: dict[tuple[FactKind, str], list[Fact]] = {}
    for fact in find(messages):
        if fact.kind in LOOKED_FOR and not (fact.kind == "path" and fact.detail == "mentioned"):
            together.setdefault((fact.kind, _sameness(fact)), []).append(fact)
    found: list[_Sought] = []
    for (kind, _), same in together.items():
        weight, why = _importance(kind, same)
        last = same[-1]
        rank = weight + last.index / count + min(len(same), 20) / 40
        loss = Loss(kind, last.text, last.message, last.index, why, rank)
        if sought := _sought(loss):
            found.append(sought)
    return found


def _sameness(fact: Fact) -> str:
    if fact.kind == "command":
        return same_command(fact.text)
    return fact.text.lower() if fact.kind in ("instruction", "error") else fact.text


def _importance(kind: FactKind, same: Sequence[Fact]) -> tuple[float, str]:
    last = same[-1]
    match kind:
        case "instruction":
            return 10.0, "a standing instruction"
        case "error":
            return (3.0, "fixed") if last.ok else (8.0, "not fixed")
        case "path":
            did = {fact.detail for fact in same if fact.ok is not False}
            changed = next((word for word in ("deleted", "created", "modified") if word in did), "")
            return (6.0, changed) if changed else (2.0, "read") if did else (1.0, "not opened")
        case "command":
            often = f"ran {len(same)} times" if len(same) > 1 else "ran once"
            if last.ok is False:
                return 5.0, "failed"
            return (4.0, often) if is_check(last.text) else (2.5, often)
        case "identifier":
            sort, _, uses = last.detail.partition(" ")
            return (3.5 if sort in ("ticket", "uuid", "hash") else 1.5), f"{sort} {uses}"
    return 1.0, last.detail


def _sought(loss: Loss) -> _Sought | None:
    """None for what cannot be looked for: a sentence of hardly any words."""
    match loss.kind:
        case "instruction" | "error":
            words = stems(loss.text)
            return _Sought(loss, stems=words) if len(words) >= 2 else None
        case "path":
            return _Sought(loss, (loss.text, posixpath.basename(loss.text) or loss.text))
        case "command":
            core = " ".join(same_command(loss.text).split())
            return _Sought(loss, (core[:COMMAND_CHARS].rstrip(),)) if core else None
    return _Sought(loss, (loss.text,))
