"""Captures of API calls: a session per conversation, epochs by the requests, and no secret of the wire."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import read
from workbench.formats import files
from workbench.formats.capture import FORMAT
from workbench.formats.export import export
from workbench.formats.format import no_progress
from workbench.session import Session, Usage

SECRET = "-".join(["sk", "ant", "api03", "x" * 30])
"""Put together here: no scanner is to find a key in this file."""


def turns(*texts: str) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]


def body(*texts: str, system: str = "You sail. The wind is fair and the tide is out.") -> dict[str, Any]:
    return {"model": "claude-x", "max_tokens": 9, "system": system, "messages": turns(*texts)}


def response(text: str, sent: int = 40) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {
        "type": "message",
        "role": "assistant",
        "content": content,
        "usage": {"input_tokens": sent, "output_tokens": 2},
    }


def claude_trace(*calls: tuple[Any, Any]) -> bytes:
    lines = [
        {
            "request": {"timestamp": 1_700_000_000 + at, "url": f"https://x/v1/messages?key={SECRET}", "body": request}
            | {"headers": {"authorization": f"Bearer {SECRET}"}},
            "response": {"timestamp": 1_700_000_005.5 + at, "body": answer} if answer is not None else None,
        }
        for at, (request, answer) in enumerate(calls)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def har(*calls: tuple[Any, Any], packed: bool = False) -> bytes:
    def content(answer: Any) -> dict[str, str]:
        text = json.dumps(answer)
        return {"text": base64.b64encode(text.encode()).decode(), "encoding": "base64"} if packed else {"text": text}

    entries = [
        {
            "startedDateTime": f"2026-01-01T00:00:0{at}.000Z",
            "request": {"url": f"https://x?key={SECRET}", "headers": [{"name": "x-api-key", "value": SECRET}]}
            | {"postData": {"mimeType": "application/json", "text": json.dumps(request)}},
            "response": {"status": 200, "content": content(answer)},
        }
        for at, (request, answer) in enumerate(calls)
    ]
    page = {"startedDateTime": "2026-01-01T00:00:00.000Z", "request": {"url": "https://x/a.js"}, "response": {}}
    return json.dumps({"log": {"version": "1.2", "creator": {}, "entries": [page, *entries]}}).encode()


GROWING = (
    (body("a", "b", "c"), response("d", 50)),
    (body("a", "b", "c", "d", "e"), response("f", 60)),
)


@pytest.mark.parametrize("data", [claude_trace(*GROWING), har(*GROWING), har(*GROWING, packed=True)], ids=range(3))
def test_requests_that_continue_are_one_conversation(data: bytes) -> None:
    session = read(FORMAT, data)
    assert [message.text for message in session.messages[1:]] == ["a", "b", "c", "d", "e", "f"]
    assert [message.usage for message in session.messages if message.usage] == [Usage(50, 2), Usage(60, 2)]
    assert (len(session.epochs), session.warnings, session.model) == (1, (), "claude-x")
    assert [len(sent.messages) for sent in requests(session)] == [4, 6]
    assert session.messages[4].time in (1_700_000_005.5, 1_767_225_600.0)


def requests(session: Session) -> list[Any]:
    assert FORMAT.codec.requests is not None
    return [*FORMAT.codec.requests(session)]


def test_a_context_that_lost_its_beginning_is_an_epoch_of_its_own() -> None:
    session = read(FORMAT, (SAMPLES / "capture-ferry.jsonl").read_bytes())
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert compaction.way == "removal"
    assert [len(epoch.members) for epoch in session.epochs] == [7, 6]
    assert not any("captain" in message.text for message in session.context())


def test_a_summary_written_under_another_prompt_continues_the_conversation() -> None:
    summary = "They sail to the island of Inchkeith and must be back at six o'clock sharp."
    session = read(
        FORMAT,
        claude_trace(
            (body("sail", "where to?", "to the island"), response("aye")),
            (body("sail", "where to?", "to the island", "aye", "Sum it up.", system="You sum up."), response(summary)),
            (body(f"Continued from before:\n{summary}", "good", "go on"), response("on")),
        ),
    )
    assert len(session.epochs) == 2
    assert session.epochs[0].ended_by is not None
    assert session.epochs[0].ended_by.way == "summary"
    prompts = [session.context(epoch.number)[0].text for epoch in session.epochs]
    assert prompts == ["You sail. The wind is fair and the tide is out."] * 2
    assert [message.kind for message in session.context()] == ["normal", "summary", "normal", "normal", "normal"]


def test_other_conversations_are_parts_and_the_longest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    title = (body("title?", system="You name things, briefly and well."), response("Sails"))
    path.write_bytes(claude_trace(title, title, title, *GROWING))
    assert [(part.id, part.title, part.messages) for part in files.parts_of(path)] == [
        ("1", "a", 7),
        ("2", "title?", 5),
    ]
    assert "holds 2 conversations; this is the longest" in str(files.load(path).warnings[0])
    assert files.load(path, part="2").messages[1].text == "title?"
    with pytest.raises(BadInput, match=r"no conversation 3; choose one of 1 to 2\.$"):
        files.load(path, part="3")


def test_no_secret_of_the_wire_is_in_the_session_or_in_an_export() -> None:
    for data in (claude_trace(*GROWING), har(*GROWING)):
        session = read(FORMAT, data)
        assert SECRET not in repr(session)
        assert SECRET.encode() not in export(session, session.context(), "anthropic-messages").written.data


def test_a_stored_response_is_continued() -> None:
    def body(text: str, **more: str) -> dict[str, Any]:
        return {"model": "m", "instructions": "You sail.", "input": [{"role": "user", "content": text}], **more}

    def response(id: str, text: str) -> dict[str, Any]:
        turns = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        return {"object": "response", "id": id, "output": [turns], "usage": {"input_tokens": 9, "output_tokens": 1}}

    session = read(
        FORMAT,
        claude_trace(
            (body("a"), response("r1", "b")),
            (body("c", previous_response_id="r1"), response("r2", "d")),
            (body("e", previous_response_id="r2"), response("r3", "f")),
        ),
    )
    assert [message.text for message in session.context()] == ["You sail.", "a", "b", "c", "d", "e", "f"]
    assert [len(sent.messages) for sent in requests(session)] == [2, 4, 6]


@pytest.mark.parametrize("count", ["/v1/messages/count_tokens", "/v1beta/models/gemini-x:countTokens"])
def test_requests_that_count_tokens_are_no_calls(count: str) -> None:
    first, *rest = claude_trace(*GROWING).splitlines()
    data = b"\n".join([first.replace(b"/v1/messages", count.encode()), first, *rest])
    assert len(requests(read(FORMAT, data))) == 2


def test_a_call_that_failed_has_no_answer() -> None:
    session = read(
        FORMAT, claude_trace((body("a"), {"type": "error", "error": {"message": "overloaded"}}), (body("a"), None))
    )
    assert [message.text for message in session.messages[1:]] == ["a"]
    assert [sent.answer for sent in requests(session)] == ["", ""]


@pytest.mark.parametrize("data", [har(), claude_trace(({"events": []}, {})), b'{"log": {"entries": [{"request": 3}]}}'])
def test_a_capture_without_a_model_is_refused(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"it contains no request to a model; capture an agent's calls and open that\.$"):
        FORMAT.codec.read(Path("x"), data, no_progress)


def test_the_apis_compaction_ends_an_epoch_with_its_usage() -> None:
    """The answer and every later request hold the summary before their text."""
    block = {"type": "compaction", "content": "Sails are set."}
    words = {"type": "text", "text": "On course."}
    bills = [{"type": "compaction", "input_tokens": 900, "output_tokens": 9}, {"type": "message", "input_tokens": 30}]
    answer = response("") | {
        "content": [block, words],
        "usage": {"input_tokens": 30, "output_tokens": 2, "iterations": bills},
    }
    request = body("Set the sails.")
    again = request | {
        "messages": [*request["messages"], {"role": "assistant", "content": [block, words]}, *turns("Where to?")]
    }
    session = read(FORMAT, claude_trace((request, answer), (again, response("North.", 50))))
    assert context_texts(session, 1) == ["You sail. The wind is fair and the tide is out.", "Set the sails."]
    assert context_texts(session) == [
        context_texts(session, 1)[0],
        "Sails are set.",
        "On course.",
        "Where to?",
        "North.",
    ]
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert (compaction.way, compaction.tokens_before, compaction.summary) == ("summary", 900, session.context()[1].id)
    assert [message.kind for message in session.context()[1:]] == ["summary", "normal", "normal", "normal"]
    assert [message.usage and message.usage.context for message in session.context()] == [None, None, 30, None, 50]
    assert [one.answer for one in FORMAT.codec.requests(session)] == ["", *(session.context()[at].id for at in (2, 4))]


def test_content_that_the_api_cleared_is_not_in_the_context() -> None:
    """The responses say how many results were cleared, the oldest first; the requests hold all of them."""
    looks = [{"type": "tool_use", "id": f"c{at}", "name": "look", "input": {"at": at}} for at in range(2)]
    found = [{"type": "tool_result", "tool_use_id": f"c{at}", "content": f"buoy {at}"} for at in range(2)]
    talk = [*turns("Look."), {"role": "assistant", "content": looks[:1]}, {"role": "user", "content": found[:1]}]
    more = [*talk, {"role": "assistant", "content": looks[1:]}, {"role": "user", "content": found[1:]}]
    first = response("") | {"content": looks[1:]}
    edit = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1, "cleared_input_tokens": 5}
    second = response("Two buoys.") | {"context_management": {"applied_edits": [edit]}}
    session = read(FORMAT, claude_trace((body() | {"messages": talk}, first), (body() | {"messages": more}, second)))
    results = [[result.text for m in session.context(number) for result in m.results] for number in (1, 2)]
    assert results == [["buoy 0"], ["[Old tool result content cleared]", "buoy 1"]]
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert compaction.way == "clearing"


def test_a_real_compaction_by_the_api_is_explained_by_its_usage(shared: Path) -> None:
    folders = {1: shared / "sessions/anthropic-api", 2: shared / "sessions-more/anthropic-api"}
    calls = [
        tuple(
            json.loads((at / f"pydantic-compaction-{n}-{side}.json").read_bytes()) for side in ("request", "response")
        )
        for n, at in folders.items()
    ]
    session = read(FORMAT, claude_trace(*calls))
    assert [len(epoch.members) for epoch in session.epochs] == [2, 5]
    compaction = session.epochs[0].ended_by
    assert compaction is not None
    assert compaction.tokens_before == 55196
    assert [message.usage.context for message in session.context() if message.usage] == [220, 239]


def context_texts(session: Session, epoch: int | None = None) -> list[str]:
    return [message.text for message in session.context(epoch)]
