"""Distinct facts: one entry per fact with all its mentions, and the messages that use it again."""

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
    """A fact with all its mentions in order; at least one."""

    mentions: tuple[Fact, ...]

    @property
    def first(self) -> Fact:
        return self.mentions[0]

    @property
    def last(self) -> Fact:
        """The newest mention. It holds a command's last result and the last action on a path."""
        return self.mentions[-1]

    @property
    def kind(self) -> FactKind:
        return self.last.kind

    @property
    def text(self) -> str:
        return self.last.text


def distinct_facts(facts: Iterable[Fact]) -> tuple[DistinctFact, ...]:
    """Group equal facts, in the order of their first mention."""
    groups: dict[tuple[FactKind, str], list[Fact]] = {}
    for fact in facts:
        groups.setdefault((fact.kind, fact_key(fact)), []).append(fact)
    return tuple(DistinctFact(tuple(same)) for same in groups.values())


def fact_key(fact: Fact) -> str:
    """Return the key under which two facts of a kind are equal. It ignores the letter case of sentences and the pipe
    after a command."""
    if fact.kind == "command":
        return core_command(fact.text)
    if fact.kind == "decision" and fact.detail:
        return f"{fact.text.lower()}\0{fact.detail}"  # "yes" to one question is not "yes" to another
    return fact.text.lower() if fact.kind in ("request", "instruction", "stated", "decision", "error") else fact.text


SEARCHED_CHARS = 4_000
"""Number of characters that are searched at the start of each text in a call's input, and of a fact's own text."""

_TOKEN = re.compile(r"[\w#][\w.#@-]{1,199}")
_NAMED = re.compile(
    rf"(?:[\w.~@-]{{1,80}}/){{1,20}}[\w.-]{{1,80}}|\b[\w-]{{1,80}}\.[a-z]{{1,5}}\b|{IDS.pattern}|{NAMES.pattern}"
)


class FactUses:
    """Index of the messages that use facts, in text of user or agent or in the input of a call; tool results do not
    count. A message uses a sentence if a name of the sentence occurs in it.

    `facts` are the facts of `messages`; `targets` are the facts to look up later. Built in linear time, then read only.
    """

    def __init__(self, messages: Sequence[Message], facts: Iterable[Fact], targets: Iterable[DistinctFact]) -> None:
        self._places: dict[str, list[int]] = {name: [] for one in targets for name in _names(one.kind, one.text)}
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
        """Return the indexes of messages that state or use the fact, ascending."""
        found = set(self._stated.get((one.kind, fact_key(one.last)), ()))
        return sorted(found.union(*(self._places.get(name, ()) for name in _names(one.kind, one.text))))


@session_cache(1 << 14)
def _names(kind: FactKind, text: str) -> tuple[str, ...]:
    """Return the words that identify a use of a fact; () for kinds whose uses are only restatements."""
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
