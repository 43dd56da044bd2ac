"""Every fact of a stretch of messages, of all kinds."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.facts.calls import calls_and_spoken
from workbench.facts.decided import decisions
from workbench.facts.done import commands, paths
from workbench.facts.errors import errors
from workbench.facts.fact import Fact
from workbench.facts.named import named
from workbench.facts.said import instructions, requests
from workbench.facts.stated import statements
from workbench.session import Message


def find(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Every fact of `messages`, in their order; within a message by kind.

    Deterministic. What an agent says in more than 80 Ki characters is searched at its ends only
    (`workbench.facts.wording`); of a person's text what they typed is read, what they pasted is not
    (`workbench.facts.pasted`).
    """
    calls = calls_and_spoken(messages)
    found = [
        *requests(messages),
        *instructions(messages),
        *statements(messages),
        *decisions(messages),
        *paths(messages, calls),
        *commands(messages, calls),
        *errors(messages, calls),
        *named(messages),
    ]
    found.sort(key=lambda fact: fact.index)
    return tuple(found)
