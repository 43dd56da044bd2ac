"""One conversation of another format written as every format: who speaks, what is a summary or an error, what goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats import test_atif, test_openai_responses
from tests.formats.written import WRITTEN
from tests.paths import SAMPLES
from workbench.conformance.building import session_of
from workbench.conformance.formats import assert_exact, faults, read, write
from workbench.formats import registry
from workbench.formats.loss import Loss, LossKind
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse

MESSAGES = [
    Message("u", "user", (Text("do"), Media("image/png", 9))),
    Message("a", "assistant", (Thinking("hm", "sig"), ToolUse("x", "bash", {"n": 1}), ToolUse("y", "bash", "raw"))),
    Message("t", "tool", (ToolResult("x", (Text("1"),), is_error=True), ToolResult("y", ()), Text("and more"))),
    Message("o", "assistant", (Text("yes"), Opaque("odd", {"type": "odd"}))),
    Message("s", "system", (Text("old things"),), "summary"),
]
EXPECTED = json.loads((Path(__file__).parent / "adopted.json").read_text(encoding="utf-8"))
"""By format: roles (with the kind where it is not normal), which results are errors, all losses with their counts."""


@pytest.mark.parametrize("format", WRITTEN, ids=lambda format: format.id)
def test_another_formats_messages_are_made_fit(format: registry.Format) -> None:
    written = write(format, session_of(MESSAGES, system="base"), MESSAGES)
    assert faults(format, written.data) == []
    again = read(format, written.data).context()
    roles = " ".join(m.role if m.kind == "normal" else f"{m.role}/{m.kind}" for m in again)
    errors = [result.is_error for message in again for result in message.results]
    assert {
        "roles": roles,
        "errors": errors,
        "losses": {loss.kind.name.lower(): loss.count for loss in written.losses},
    } == EXPECTED[format.id]


@pytest.mark.parametrize("kind", ["normal", "summary", "meta"])
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
@pytest.mark.parametrize("id", ["atif", "openai-responses", "tau-bench"])
def test_every_kind_finds_its_way_back(id: str, role: Any, kind: Any) -> None:
    made = {"atif": test_atif.body, "openai-responses": test_openai_responses.body}
    format, data = (
        registry.by_id(id),
        made[id]() if id in made else (SAMPLES / "tau-bench-two-sessions.json").read_bytes(),
    )
    session = read(format, data)
    assert_exact(format, session, (Message("n", role, (Text("old"), Text("things")), kind), *session.messages[1:]))


OBJECTS = ["adk", "anthropic-messages", "atif", "inspect", "langchain", "openai-chat", "openai-responses", "openhands"]


@pytest.mark.parametrize("id", OBJECTS)
def test_arguments_that_are_no_object_are_put_into_one(id: str) -> None:
    """Another API behind the same client refuses the text of a tool that takes any."""
    format = registry.by_id(id)
    again = read(format, write(format, session_of(MESSAGES), MESSAGES).data)
    assert [call.input for message in again.context() for call in message.calls] == [{"n": 1}, {"raw": "raw"}]


def test_no_system_message_stands_among_langchains_and_none_is_empty() -> None:
    """ChatAnthropic refuses a second system message that does not stand behind the first."""
    summary, rules = MESSAGES[-1], Message("d", "system", (Text("be brief"),))
    opaque = Opaque("odd", {"type": "odd"})
    hidden = Message("h", "assistant", (opaque, Text(" "))), Message("s2", "system", (opaque,), "summary")
    for first in ([], [rules]):
        messages = [*first, summary, MESSAGES[3], rules, *hidden, MESSAGES[0]]
        format = registry.by_id("langchain")
        again = read(format, write(format, session_of(MESSAGES, system="base"), messages).data).context()
        assert [(m.role, m.kind, m.text) for m in again] == [
            ("system", "normal", "base\n\nbe brief" if first else "base"),
            ("user", "summary", "[Summary of the conversation so far]\nold things"),
            ("assistant", "normal", "yes"),
            ("user", "meta", "[System message]\nbe brief"),
            ("user", "normal", "do\n[image/png, 9 bytes]"),
        ]


@pytest.mark.parametrize("system", ["", "base"])
def test_no_conversation_of_langchain_begins_with_the_agent(system: str) -> None:
    format = registry.by_id("langchain")
    written = write(format, session_of(MESSAGES, system=system), MESSAGES[3:4])
    assert [(m.role, m.text) for m in read(format, written.data).context()][bool(system) :] == [
        ("user", "[…]"),
        ("assistant", "yes"),
    ]
    assert Loss(LossKind.USER_INSERTED, 1, ("the API allows no assistant message there",), "[…]") in written.losses


def test_a_new_system_summary_in_a_loaded_list_of_langchain_is_the_users() -> None:
    """One in the list already stands where an agent has sent it; a second one between turns ChatAnthropic refuses."""
    format = registry.by_id("langchain")
    rules, go = Message("s", "system", (Text("be brief"),)), Message("u", "user", (Text("go"),))
    loaded = read(format, write(format, session_of([go], system="base"), [go]).data)
    again = read(format, write(format, loaded, [*loaded.context(), MESSAGES[-1], rules]).data).context()
    assert [(m.role, m.kind, m.text) for m in again] == [
        ("system", "normal", "base"),
        ("user", "normal", "go"),
        ("user", "summary", "[Summary of the conversation so far]\nold things"),
        ("user", "meta", "[System message]\nbe brief"),
    ]
