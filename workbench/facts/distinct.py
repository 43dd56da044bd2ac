"""Facts by what they say: one entry for a fact however often it is stated."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.commands_and_paths import core_command
from workbench.facts.fact import Fact, FactKind
from workbench.facts.references import IDS, NAMES
from workbench.facts.wording import is_agent_message, message_prose
from workbench.session import Message


class DistinctFact(Struct, frozen=True):
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


def distinct_facts(facts: Iterable[Fact]) -> tuple[DistinctFact, ...]:
    """The facts, each once, in the order in which they were first stated."""
    together: dict[tuple[FactKind, str], list[Fact]] = {}
    for fact in facts:
        together.setdefault((fact.kind, fact_key(fact)), []).append(fact)
    return tuple(DistinctFact(tuple(same)) for same in together.values())


def fact_key(fact: Fact) -> str:
    """What two facts of a kind share when they are the same: letters' case is nothing in a sentence, the pipe behind a
    command neither."""
    if fact.kind == "command":
        return core_command(fact.text)
    if fact.kind == "decision" and fact.detail:
        return f"{fact.text.lower()}\0{fact.detail}"  # "yes" to one question is not "yes" to another
    return fact.text.lower() if fact.kind in ("request", "instruction", "stated", "decision", "error") else fact.text


SEARCHED_CHARS = 4_000
"""Of each text in a call's input so much is looked at."""

_TOKEN = re.compile(r"[\w#][\w.#@-]{1,199}")
_NAMED = re.compile(
    rf"(?:[\w.~@-]{{1,80}}/){{1,20}}[\w.-]{{1,80}}|\b[\w-]{{1,80}}\.[a-z]{{1,5}}\b|{IDS.pattern}|{NAMES.pattern}"
)


class FactUses:
    """Which of `messages` use a fact: in the words of user and agent, or in what a call is given. What a tool returned
    is not a use. A sentence is used where a name in it is.

    `facts` are those of `messages` (`find`), `wanted` those that will be asked for. Linear; read-only once built.
    """

    def __init__(self, messages: Sequence[Message], facts: Iterable[Fact], wanted: Iterable[DistinctFact]) -> None:
        self._places: dict[str, list[int]] = {name: [] for one in wanted for name in _names(one.kind, one.text)}
        self._stated: dict[tuple[FactKind, str], list[int]] = {}
        for fact in facts:
            self._stated.setdefault((fact.kind, fact_key(fact)), []).append(fact.index)
        places = self._places
        for index, message in enumerate(messages):
            for text in _used_texts(message):
                for name in {token.rstrip(".-@#") for token in _TOKEN.findall(text)} & places.keys():
                    if not places[name] or places[name][-1] != index:
                        places[name].append(index)

    def of(self, one: DistinctFact) -> list[int]:
        """The messages that state the fact or use it, by index, ascending."""
        found = set(self._stated.get((one.kind, fact_key(one.last)), ()))
        return sorted(found.union(*(self._places.get(name, ()) for name in _names(one.kind, one.text))))


@session_cache(1 << 14)
def _names(kind: FactKind, text: str) -> tuple[str, ...]:
    """The words by which a use of a fact is recognised; none for what is only found when it is stated again."""
    match kind:
        case "path":
            return (posixpath.basename(text),)
        case "identifier":
            return (_bare(text),)
        case "request" | "instruction" | "stated" | "decision" | "error":
            return tuple(dict.fromkeys(_bare(match[0]) for match in _NAMED.finditer(text[:SEARCHED_CHARS])))
    return ()


def _bare(name: str) -> str:
    return posixpath.basename(name.split(" ")[-1]).rstrip(".-@#")


def _used_texts(message: Message) -> Iterator[str]:
    yield message_prose(message)
    for call in message.calls if is_agent_message(message) else ():
        values = call.input.values() if isinstance(call.input, dict) else (call.input,)
        for value in values:
            if isinstance(value, str):
                yield value[:SEARCHED_CHARS]
