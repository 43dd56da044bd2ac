"""Every fact of a stretch of messages, of all kinds."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.facts.calls import all_calls
from workbench.facts.commands_and_paths import command_facts, path_facts
from workbench.facts.decisions import decision_facts
from workbench.facts.errors import error_facts
from workbench.facts.fact import Fact
from workbench.facts.references import reference_facts
from workbench.facts.requests import instruction_facts, request_facts
from workbench.facts.statements import statement_facts
from workbench.session import Message


def find_facts(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Every fact of `messages`, in their order; within a message by kind.

    Deterministic. What an agent says in more than 80 Ki characters is searched at its ends only
    (`workbench.facts.wording`); of a person's text what they typed is read, what they pasted is not
    (`workbench.facts.pastes`).
    """
    calls = all_calls(messages)
    found = [
        *request_facts(messages),
        *instruction_facts(messages),
        *statement_facts(messages),
        *decision_facts(messages),
        *path_facts(messages, calls),
        *command_facts(messages, calls),
        *error_facts(messages, calls),
        *reference_facts(messages),
    ]
    found.sort(key=lambda fact: fact.index)
    return tuple(found)
