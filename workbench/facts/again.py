"""What is used again: names, paths, numbers, addresses and commands that messages speak of or act on."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from workbench.base.memory import remembered
from workbench.facts.fact import Fact, FactKind
from workbench.facts.known import Known, sameness
from workbench.facts.named import IDS, NAMES
from workbench.facts.wording import is_agents, spoken
from workbench.session import Message

INPUT_CHARS = 4_000
"""Of each text in a call's input so much is looked at."""

_TOKEN = re.compile(r"[\w#][\w.#@-]{1,199}")
_NAMED = re.compile(
    rf"(?:[\w.~@-]{{1,80}}/){{1,20}}[\w.-]{{1,80}}|\b[\w-]{{1,80}}\.[a-z]{{1,5}}\b|{IDS.pattern}|{NAMES.pattern}"
)


class Uses:
    """Which of `messages` use a fact: in the words of user and agent, or in what a call is given. What a tool returned
    is not a use. A sentence is used where a name in it is.

    `facts` are those of `messages` (`find`), `wanted` those that will be asked for. Linear; read-only once built.
    """

    def __init__(self, messages: Sequence[Message], facts: Iterable[Fact], wanted: Iterable[Known]) -> None:
        self._places: dict[str, list[int]] = {name: [] for one in wanted for name in _names(one.kind, one.text)}
        self._stated: dict[tuple[FactKind, str], list[int]] = {}
        for fact in facts:
            self._stated.setdefault((fact.kind, sameness(fact)), []).append(fact.index)
        places = self._places
        for index, message in enumerate(messages):
            for text in _used_texts(message):
                for name in {token.rstrip(".-@#") for token in _TOKEN.findall(text)} & places.keys():
                    if not places[name] or places[name][-1] != index:
                        places[name].append(index)

    def of(self, one: Known) -> list[int]:
        """The messages that state the fact or use it, by index, ascending."""
        found = set(self._stated.get((one.kind, sameness(one.last)), ()))
        return sorted(found.union(*(self._places.get(name, ()) for name in _names(one.kind, one.text))))


@remembered(1 << 14)
def _names(kind: FactKind, text: str) -> tuple[str, ...]:
    """The words by which a use of a fact is recognised; none for what is only found when it is stated again."""
    match kind:
        case "path":
            return (posixpath.basename(text),)
        case "identifier":
            return (_bare(text),)
        case "request" | "instruction" | "stated" | "decision" | "error":
            return tuple(dict.fromkeys(_bare(match[0]) for match in _NAMED.finditer(text[:INPUT_CHARS])))
    return ()


def _bare(name: str) -> str:
    return posixpath.basename(name.split(" ")[-1]).rstrip(".-@#")


def _used_texts(message: Message) -> Iterator[str]:
    yield spoken(message)
    for call in message.calls if is_agents(message) else ():
        values = call.input.values() if isinstance(call.input, dict) else (call.input,)
        for value in values:
            if isinstance(value, str):
                yield value[:INPUT_CHARS]
