"""Find the facts of all kinds in a list of messages."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.facts.calls import all_calls
from workbench.facts.commands_and_paths import command_facts, path_facts
from workbench.facts.decisions import decision_facts
from workbench.facts.errors import error_facts
from workbench.facts.fact import Fact
from workbench.facts.references import reference_facts
from workbench.facts.requests import request_facts
from workbench.facts.standing import instruction_facts
from workbench.facts.statements import statement_facts
from workbench.session import Message


def find_facts(messages: Sequence[Message]) -> tuple[Fact, ...]:
    """Return every fact of `messages` in message order; within a message by kind.

    Deterministic. Agent texts over 80 Ki characters are searched only at both ends (`workbench.facts.wording`). Of a
    user's text only the typed part is read, not the pasted part (`workbench.facts.pastes`).
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
