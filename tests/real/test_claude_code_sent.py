"""What Claude Code itself says it sent, held against the contexts read from its files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SHARED
from workbench.formats import claude_code
from workbench.formats.claude_code import rules
from workbench.formats.format import RecordedRequest, no_progress
from workbench.formats.kit.blocks import from_anthropic
from workbench.formats.request_checks import compare_requests
from workbench.session import Message, Role, Session

FILES = SHARED / "agents" / "files" / "claude-code" if SHARED else Path("nowhere")
SENT = SHARED / "agents" / "sent" / "claude-code" if SHARED else Path("nowhere")
pytestmark = pytest.mark.skipif(not FILES.is_dir(), reason="the shared folder of the agents' own files is not here")

RECORDED = {
    "2.1.330-after-auto-compact": (11, 11),
    "2.1.330-before-auto-compact": (10, 10),
    "2.1.330-compacted-after-refusal": (1, 1),
    "2.1.330-manual-compact": (11, 7),
    "2.1.330-parallel-subagent": (8, 8),
    "2.1.330-rewind": (10, 6),
}
"""Requests that each file records and an answer came to, and those of them whose answer is not on a branch left."""
FILLED = 55
"""Characters that are left of a vendor's text in these files; what follows is filler, but in the requests it is not."""
REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


def read(data: bytes) -> Session:
    return claude_code.FORMAT.codec.read(Path("session.jsonl"), data, no_progress)


def filler(data: bytes) -> Callable[[str], str]:
    """What puts the filler of a file's lines into a text that was sent."""
    rendered = (one["content"] for raw in data.splitlines() for one in json.loads(raw).get("rendered") or ())
    texts = {text.strip()[:FILLED]: text for text in rendered if "[left out]" in text}

    def fill(text: str) -> str:
        known = texts.get(text.strip()[:FILLED], "")
        return known if known and abs(len(known.strip()) - len(text.strip())) < 3 else text

    return lambda text: REMINDER.sub(lambda found: fill(found[0]), text)


def fill_content(content: list[dict[str, Any]], fill: Callable[[str], str]) -> None:
    for block in content:
        for key in ("text", "content"):
            if isinstance(block.get(key), str):
                block[key] = fill(block[key])


def filled(data: bytes) -> bytes:
    """The file with the same filler in its requests as in its lines."""
    values, fill = [json.loads(raw) for raw in data.splitlines()], filler(data)
    for value in values:
        if value["type"] == "api-request-blob":
            fill_content(value["message"]["content"], fill)
    return b"\n".join(json.dumps(value).encode() for value in values)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_every_recorded_request_is_the_context_shown(name: str) -> None:
    session = read(filled((FILES / f"{name}.jsonl").read_bytes()))
    assert claude_code.FORMAT.codec.requests is not None
    sent = list(claude_code.FORMAT.codec.requests(session))
    found = list(compare_requests(session, sent))
    assert (len(sent), len(found)) == RECORDED[name]
    assert [one.difference for one in found] == [""] * len(found)


@pytest.mark.parametrize("name", ["2.1.330-after-auto-compact", "2.1.330-compacted-after-refusal"])
def test_what_a_server_was_sent_after_a_compaction_is_the_context_shown(name: str) -> None:
    data = (FILES / f"{name}.jsonl").read_bytes()
    session = read(data)
    messages: list[Message] = []
    for item in json.loads((SENT / f"{name}.json").read_text())["messages"]:
        fill_content(item["content"], filler(data))
        role: Role = "assistant" if item["role"] == "assistant" else "user"
        messages.append(Message(str(len(messages)), role, from_anthropic(item["content"])))
    answer = session.context()[-1]
    assert [one.difference for one in compare_requests(session, [RecordedRequest(answer.id, tuple(messages))])] == [""]


def test_all_answers_that_were_picked_are_the_persons_words() -> None:
    path = FILES.parents[2] / "sessions-more" / "claude-code" / "starcar-071b084-2.1.217.jsonl"
    session = read(path.read_bytes())
    said = "\n".join(message.user_text for message in session.context())
    picked = [
        answer
        for raw in path.read_bytes().splitlines()
        if isinstance(result := json.loads(raw).get("toolUseResult"), dict)
        for question, answer in (result.get("answers") or {}).items()
        for answer in [answer if "only)" not in answer else result["annotations"][question]["notes"]]
    ]
    assert len(picked) == 23  # 21 that were picked, two that were written
    assert [answer for answer in picked if answer not in said] == []


def test_the_rules_object_to_no_session_that_an_agent_wrote() -> None:
    made_by_hand = ("daaain-edge_cases", "agentsessions-small")
    folders = [FILES, *(FILES.parents[2] / name / "claude-code" for name in ("sessions", "sessions-more"))]
    files = [path for folder in folders for path in sorted(folder.rglob("*.json*")) if path.stem not in made_by_hand]
    assert len(files) > 20
    assert {path.name: rules.validate(path.read_bytes()) for path in files} == {path.name: [] for path in files}
