"""pydantic-ai: requests of several sides, responses with their bills, compactions of both kinds."""

import json
from typing import Any

import pytest

from workbench.conformance.formats import read
from workbench.formats.look import Look
from workbench.formats.pydantic_ai import FORMAT
from workbench.formats.read_back import shape
from workbench.session import Block, Compaction, Epoch, Media, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
WHEN = "1970-01-01T00:01:00Z"
USAGE: Json = {
    "input_tokens": 90,
    "cache_read_tokens": 30,
    "cache_write_tokens": 20,
    "output_tokens": 7,
    "cost": "0.25",
}


def part(kind: str, content: Any = None, **more: Any) -> Json:
    return {"part_kind": kind, "content": content, **more}


def asked(*parts: Json, **more: Any) -> Json:
    return {"kind": "request", "parts": list(parts), "timestamp": WHEN, "instructions": "Be short.", **more}


def answered(*parts: Json) -> Json:
    return {"kind": "response", "parts": list(parts), "usage": USAGE, "model_name": "m", "timestamp": WHEN}


def call(args: Any) -> Json:
    return {"part_kind": "tool-call", "tool_name": "f", "args": args, "tool_call_id": "c"}


def given(content: Any, outcome: str | None = "success") -> Json:
    return {"part_kind": "tool-return", "tool_name": "f", "content": content, "tool_call_id": "c", "outcome": outcome}


FILES = ["see", {"kind": "image-url", "url": "https://x.example/a", "media_type": "image/png"}]
RUN = [
    asked(
        part("system-prompt", "rules"),
        part("user-prompt", [*FILES, {"kind": "binary", "data": "QUJD", "media_type": "image/gif"}]),
    ),
    answered(part("thinking", "hm", signature="s"), part("text", "I look."), call('{"a": 1}')),
    asked(given({"b": 2}), part("user-prompt", "and?")),
    answered(part("text", "done")),
]


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("document", [RUN, {"messages": RUN}, {"all_messages": RUN}, {"message_history": RUN}])
def test_what_a_run_says(document: Any) -> None:
    assert FORMAT.recognise(Look.of(as_bytes(document)))
    session = read(FORMAT, as_bytes(document))
    assert shape(session.messages) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "normal", (Text("see"), Media("image/png", 0), Media("image/gif", 4))),
        ("assistant", "normal", (Thinking("hm", "s"), Text("I look."), ToolUse("c", "f", {"a": 1}))),
        ("tool", "normal", (ToolResult("c", (Text('{"b":2}'),)),)),
        ("user", "normal", (Text("and?"),)),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert [message.id for message in session.messages] == ["m1", "m1.2", "m2", "m3", "m3.2", "m4"]
    assert [message.usage for message in session.messages if message.role == "assistant"] == [
        Usage(40, 7, 30, 20, cost=0.25)
    ] * 2
    assert (session.system, session.model, session.messages[2].time) == ("Be short.", "m", 60.0)


def test_the_instructions_are_those_of_the_newest_request() -> None:
    items = [RUN[0], asked(part("user-prompt", "go"), instructions="Be long."), asked(given("x"), instructions=None)]
    assert read(FORMAT, as_bytes(items)).system == "Be long."


def test_a_providers_compaction_ends_an_epoch_which_system_prompts_outlast() -> None:
    session = read(FORMAT, as_bytes([*RUN[:3], answered(part("compaction", "so far"), part("text", "done"))]))
    assert session.epochs[0] == Epoch(1, range(5), Compaction("", summary="m4"))
    assert shape(session.context()) == [
        ("system", "normal", (Text("rules"),)),
        ("assistant", "summary", (Text("so far"),)),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert [message.usage is not None for message in session.context()] == [False, False, True]


def test_a_summary_in_a_request_is_the_applications() -> None:
    session = read(FORMAT, as_bytes([asked(part("compaction", "so far")), RUN[3]]))
    assert [(m.role, m.kind) for m in session.messages] == [("user", "summary"), ("assistant", "normal")]
    assert len(session.epochs) == 1
    sealed = part("compaction", None, provider_details={"encrypted_content": "x"})
    assert read(FORMAT, as_bytes([answered(sealed)])).messages[0].blocks == (Opaque("compaction", sealed),)


AGAIN = "no\n\nFix the errors and try again."
PARTS: list[tuple[Json, str, str, tuple[Block, ...]]] = [
    (given("no", "retried"), "tool", "normal", (ToolResult("c", (Text("no"),), is_error=True),)),
    (
        given("Not that.", "denied"),
        "tool",
        "normal",
        (ToolResult("c", (Text("Not that."),), is_error=True, user_text="Not that."),),
    ),
    (
        given("The tool call was denied.", "denied"),
        "tool",
        "normal",
        (ToolResult("c", (Text("The tool call was denied."),), is_error=True),),
    ),
    (
        part("retry-prompt", "no", tool_name="f", tool_call_id="c"),
        "tool",
        "normal",
        (ToolResult("c", (Text(AGAIN),), is_error=True),),
    ),
    (part("retry-prompt", "no", tool_name=None), "user", "meta", (Text(AGAIN),)),
    (part("hologram"), "user", "meta", (Opaque("hologram", part("hologram")),)),
]


@pytest.mark.parametrize(("raw", "role", "kind", "blocks"), PARTS)
def test_other_parts_of_a_request(raw: Json, role: str, kind: str, blocks: tuple[Block, ...]) -> None:
    assert shape(read(FORMAT, as_bytes([asked(raw)])).messages) == [(role, kind, blocks)]


def test_what_only_sets_something_is_not_shown() -> None:
    items = [asked(part("instruction", "x"), part("model-settings-delta"), part("user-prompt", "go"))]
    assert shape(read(FORMAT, as_bytes(items)).messages) == [("user", "normal", (Text("go"),))]


@pytest.mark.parametrize("item", [{"kind": "event", "parts": []}, {"kind": "request", "parts": [{"type": "text"}]}, 7])
def test_not_recognised(item: Any) -> None:
    assert not FORMAT.recognise(Look.of(as_bytes([item])))


def test_an_answer_in_which_the_provider_ran_a_tool_has_one_bill() -> None:
    ran = {"part_kind": "builtin-tool-return", "tool_name": "web", "content": "sun", "tool_call_id": "c"}
    session = read(FORMAT, as_bytes([answered(part("text", "I look."), ran, part("text", "Sun."))]))
    assert [(m.role, m.usage is not None) for m in session.messages] == [
        ("assistant", True),
        ("tool", False),
        ("assistant", False),
    ]
