"""The rules of document 003: `message-window`."""

from __future__ import annotations

from tests.documents.rules import rule
from workbench.compaction.strategies.message_window import STRATEGY, MessageWindowPolicy
from workbench.conformance.building import chat, context_of
from workbench.conformance.strategies import run


@rule("003-001", "003-034")
def test_thirty_eight_messages_are_left_alone() -> None:
    context = context_of(chat(19), manual=False)
    outcome, requests = run(STRATEGY, context, MessageWindowPolicy())
    assert (outcome.status, outcome.reason, requests) == ("unchanged", "no trigger fires", [])
    assert outcome.messages == tuple(context.messages)
