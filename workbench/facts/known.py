"""Facts by what they say: one entry for a fact however often it is stated."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from workbench.facts.done import same_command
from workbench.facts.fact import Fact, FactKind


class Known(Struct, frozen=True):
    """A fact and every place where it is stated, in order; never empty."""

    mentions: tuple[Fact, ...]

    @property
    def first(self) -> Fact:
        return self.mentions[0]

    @property
    def last(self) -> Fact:
        """The newest mention: of a command how it ended in the end, of a path what was done to it last."""
        return self.mentions[-1]

    @property
    def kind(self) -> FactKind:
        return self.last.kind

    @property
    def text(self) -> str:
        return self.last.text


def known(facts: Iterable[Fact]) -> tuple[Known, ...]:
    """The facts, each once, in the order in which they were first stated."""
    together: dict[tuple[FactKind, str], list[Fact]] = {}
    for fact in facts:
        together.setdefault((fact.kind, sameness(fact)), []).append(fact)
    return tuple(Known(tuple(same)) for same in together.values())


def sameness(fact: Fact) -> str:
    """What two facts of a kind share when they are the same: letters' case is nothing in a sentence, the pipe behind a
    command neither."""
    if fact.kind == "command":
        return same_command(fact.text)
    if fact.kind == "decision" and fact.detail:
        return f"{fact.text.lower()}\0{fact.detail}"  # "yes" to one question is not "yes" to another
    return fact.text.lower() if fact.kind in ("request", "instruction", "stated", "decision", "error") else fact.text
