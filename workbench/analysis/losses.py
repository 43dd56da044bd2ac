"""What the head has and a summary lost, the gravest first: standing instructions, open errors, changed files, …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.analysis.holding import Said, Sought, sought
from workbench.facts import Fact, FactKind, find
from workbench.facts.calls import is_check
from workbench.facts.known import known
from workbench.session import Message

LOOKED_FOR: tuple[FactKind, ...] = ("instruction", "error", "path", "command", "identifier", "number")


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


class Inventory:
    """The facts of a head, gathered once; `lost` compares them with a summary's text."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._sought = sorted(_inventory(messages), key=lambda one: -one[0].rank)

    def lost(self, summary: str) -> tuple[Loss, ...]:
        """What the summary does not hold, not even in part (`workbench.analysis.holding`), by rank."""
        said = Said((summary,))
        return tuple(loss for loss, one in self._sought if said.holds(one) == "none")


def _inventory(messages: Sequence[Message]) -> list[tuple[Loss, Sought]]:
    count = len(messages) or 1
    wanted = (f for f in find(messages) if f.kind in LOOKED_FOR and not (f.kind == "path" and f.detail == "mentioned"))
    found: list[tuple[Loss, Sought]] = []
    for one in known(wanted):
        weight, why = importance(one.mentions)
        rank = weight + one.last.index / count + min(len(one.mentions), 20) / 40
        if (form := sought(one.kind, one.text, one.last.detail)) is not None:
            found.append((Loss(one.kind, one.text, one.last.message, one.last.index, why, rank), form))
    return found


def importance(same: Sequence[Fact]) -> tuple[float, str]:
    """How grave the loss of a fact is, and why; `same` are its mentions, oldest first."""
    last = same[-1]
    match last.kind:
        case "instruction":
            return 10.0, "a standing instruction"
        case "request":
            return (5.0, "answered") if last.ok else (9.0, "not answered")
        case "decision":
            return 7.0, "a decision"
        case "error":
            return (3.0, "fixed") if last.ok else (8.0, "not fixed")
        case "path":
            did = {fact.detail for fact in same if fact.ok is not False}
            changed = next((word for word in ("deleted", "created", "modified") if word in did), "")
            return (6.0, changed) if changed else (2.0, "read") if did - {"mentioned"} else (1.0, "not opened")
        case "command":
            often = f"ran {len(same)} times" if len(same) > 1 else "ran once"
            if last.ok is False:
                return 5.0, "failed"
            return (4.0, often) if is_check(last.text) else (2.5, often)
        case "identifier":
            sort, _, uses = last.detail.partition(" ")
            return (3.5 if sort in ("ticket", "uuid", "hash") else 1.5), f"{sort} {uses}"
    return 1.0, last.detail
