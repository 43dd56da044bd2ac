"""Branches, sub-agents and calls for summaries of a Claude Code session."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.base.figures import grouped
from workbench.base.text import counted
from workbench.formats.claude_code.agents import (
    COMPACT,
    agent_files,
    agents_inside,
    compaction_call,
    compaction_calls,
)
from workbench.formats.claude_code.read import branches
from workbench.formats.claude_code.requests import requests
from workbench.formats.request_checks import last_text
from workbench.session import Session


def relatives(session: Session) -> list[tuple[str, str]]:
    """Return id and description of each branch, sub-agent and summary call."""
    return [*_relatives(session)]


def _relatives(session: Session) -> Iterator[tuple[str, str]]:
    if session.path is None:
        return
    if len(session.branch) < len(session.messages):
        for part in branches(session.path, session.records.data)[1:]:
            yield part.id, f"{part.title}, {counted(part.messages, 'message')}"
    live = set(session.branch)
    if any(number not in live for number in range(len(session.messages))):
        yield from ((id, "a sub-agent in this file") for id in agents_inside(session.records.data))
    calls = {file: boundary for boundary, file in compaction_calls(session).items()}
    for agent in agent_files(session.path):
        description = "the call for a summary" if agent.is_summary_call else "a sub-agent in its own file"
        if agent.file in calls:
            description += f", for the boundary {calls[agent.file]}"
        yield agent.id, description
    if call := compaction_call(session):
        length = len(call.answer.text) if call.answer else 0
        sent = grouped(len(call.prompt.text))
        yield "this file", f"the call for a summary: {sent} characters sent, {grouped(length)} returned"


def request_texts(session: Session) -> Iterator[str]:
    """Yield the last user text of each recorded request; for a summary call, that of its own request."""
    if session.facts.agent.startswith(COMPACT):
        last_request = max((n for n, one in enumerate(session.messages) if one.role == "user"), default=-1)
        yield last_text(session.messages[: last_request + 1])
    else:
        yield from (last_text(one.messages) for one in requests(session))
