"""What a stretch of messages says that must not get lost, each fact with the message it stands in."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.facts.calls import Called, calls_in
from workbench.facts.done import commands, errors, paths
from workbench.facts.fact import Fact, FactKind
from workbench.facts.named import identifiers, numbers, urls
from workbench.facts.said import decisions, instructions, requests
from workbench.facts.tools import Action, ActionKind, actions_of
from workbench.session import Message

__all__ = ["Action", "ActionKind", "Called", "Fact", "FactKind", "actions_of", "calls_in", "find"]


def find(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Every fact of `messages`, in their order; within a message by kind.

    Deterministic. Texts longer than 80 Ki characters are searched at their ends only (`workbench.facts.wording`).
    """
    calls = calls_in(messages)
    found = [
        *requests(messages),
        *instructions(messages),
        *decisions(messages),
        *paths(messages, calls),
        *commands(messages, calls),
        *errors(messages, calls),
        *identifiers(messages),
        *urls(messages),
        *numbers(messages),
    ]
    found.sort(key=lambda fact: fact.index)
    return tuple(found)
