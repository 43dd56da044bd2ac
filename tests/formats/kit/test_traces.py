"""Recorded calls as sessions: grouping, order, nested steps, and the choice of one conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.formats.format import Part, no_progress
from workbench.formats.kit.traces import TracedCall, codec, values
from workbench.session import LoadWarning, Message, Session, Text, Usage

HERE = Path("trace.json")


def message(role: str, text: str) -> Message:
    return Message("", role, (Text(text),))  # type: ignore[arg-type]


def call(group: str, id: str, asked: str, answer: str | None = "Yes.", time: float = 0.0, **more: Any) -> TracedCall:
    request = tuple(message("assistant" if n % 2 else "user", text) for n, text in enumerate(asked.split("|")) if text)
    came = None if answer is None else message("tool", answer)
    return TracedCall(group, id, more.pop("parent", ""), time, request, came, **more)


def made(*calls: TracedCall) -> Any:
    def spans(path: Path, data: bytes, warnings: list[LoadWarning]) -> Iterator[TracedCall]:
        assert (path, data) == (HERE, b"data")
        warnings.append(LoadWarning("read"))
        yield from calls

    return codec("kit", spans)


def texts(session: Session) -> list[str]:
    return [one.text for one in session.context()]


def warned(session: Session) -> list[str]:
    return [warning.text for warning in session.warnings]


TOOLS = [{"type": "function", "function": {"name": "look"}}]
CALLS = (
    call("s", "2", "Bake.|Yes.|Now.", "Done.", 2.0, model="m2", usage=Usage(9)),
    call("t", "3", "Sell.", "No.", 3.0),
    call("s", "1", "Bake.", "Yes.", 1.0, model="m1", usage=Usage(5), tools=[{"name": "old"}]),
    call("s", "4", "Bake.|Yes.|Now.|Done.|More.", None, 4.0, tools=TOOLS),
    call("s", "5", "", "Never asked.", 0.5),
)


def test_a_conversation_is_made_of_its_calls_in_the_order_of_their_times() -> None:
    done: list[tuple[int, int]] = []
    session = made(*CALLS).read(HERE, b"data", lambda at, size: done.append((at, size)))
    assert [(one.id, one.role, one.text, one.usage, one.model, one.time) for one in session.messages] == [
        ("m1", "user", "Bake.", None, None, None),
        ("m2", "assistant", "Yes.", Usage(5), "m1", 1.0),
        ("m3", "user", "Now.", None, None, None),
        ("m4", "assistant", "Done.", Usage(9), "m2", 2.0),
        ("m5", "user", "More.", None, None, None),
    ]
    assert (session.format, session.path, session.records.data) == ("kit", HERE, b"data")
    assert (session.id, session.title, session.model, session.facts.part) == ("s", "Bake.", "m2", "s")
    assert [tool.name for tool in session.tools] == ["look"]
    assert ([*session.branch], [[*epoch.members] for epoch in session.epochs]) == ([0, 1, 2, 3, 4], [[0, 1, 2, 3, 4]])
    assert warned(session) == ["holds 2 conversations; this is the one with the most calls", "read"]
    assert done == [(0, 4), (4, 4)]


def test_the_requests_of_a_conversation_are_told() -> None:
    made_of = made(*CALLS)
    session = made_of.read(HERE, b"data", no_progress)
    assert [(one.answer, len(one.messages)) for one in made_of.requests(session)] == [("m2", 1), ("m4", 3), ("", 5)]


def test_conversations_are_listed_and_read_by_their_ids() -> None:
    made_of = made(*CALLS, call("s", "6", "Fetch flour.", "Here.", 6.0))
    assert made_of.sessions_in(HERE, b"data") == (
        Part("s", "Bake.", 5),
        Part("s-2", "Fetch flour.", 2),
        Part("t", "Sell.", 2),
    )
    done: list[tuple[int, int]] = []
    session = made_of.read_part(HERE, b"data", "s-2", lambda at, size: done.append((at, size)))
    assert (texts(session), session.id, session.facts.part) == (["Fetch flour.", "Here."], "s-2", "s-2")
    assert (warned(session), done) == (["read"], [(4, 4)])
    assert (session.format, session.path, session.records.data) == ("kit", HERE, b"data")
    with pytest.raises(BadInput) as raised:
        made_of.read_part(HERE, b"data", "u", no_progress)
    assert str(raised.value) == "trace.json has no conversation 'u'; choose a listed one."


def test_the_conversation_with_more_calls_has_the_id_of_its_group() -> None:
    calls = [call("s", "0", "Fetch flour.", "Here.", 0.5), *CALLS]
    assert [part.id for part in made(*calls).sessions_in(HERE, b"data")] == ["s", "s-2", "t"]
    assert made(*calls).sessions_in(HERE, b"data")[1].title == "Fetch flour."


def test_a_step_that_encloses_another_is_not_a_call() -> None:
    outer, inner = call("s", "1", "Bake.", "Outer."), call("s", "2", "Bake.", "Inner.", 1.0, parent="1")
    assert texts(made(outer, inner).read(HERE, b"data", no_progress)) == ["Bake.", "Inner."]
    nameless = call("s", "", "Bake.", "Outer."), call("s", "", "Bake.|Outer.|Go.", "Inner.", 1.0)
    assert texts(made(*nameless).read(HERE, b"data", no_progress)) == ["Bake.", "Outer.", "Go.", "Inner."]


def test_a_trace_without_a_request_is_refused() -> None:
    for way in (made().read, made(call("s", "1", "")).read):
        with pytest.raises(BadInput) as raised:
            way(HERE, b"data", no_progress)
        assert str(raised.value) == (
            "trace.json: no call in it contains messages; make the trace record prompts and responses."
        )


def test_a_session_without_a_model_has_none() -> None:
    session = made(call("s", "1", "Bake.", model=""), call("s", "2", "Bake.|Yes.|Go.", time=1.0)).read(
        HERE, b"data", no_progress
    )
    assert (session.model, session.tools, warned(session)) == (None, (), ["read"])
    assert [one.time for one in session.messages] == [None, None, None, 1.0]


@pytest.mark.parametrize(
    ("data", "found", "warnings"),
    [
        (b'{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}], []),
        (b'{"a": 1}\n{"b": 2}\n[3]\n', [{"a": 1}, {"b": 2}], ["not a JSON object; kept in the file, not shown"]),
        (b'{"a": 1}\n', [{"a": 1}], []),
        (b'{"a":\n1}', [{"a": 1}], []),
        (b'[{"a": 1},\n{"b": 2}]', [[{"a": 1}, {"b": 2}]], []),
        (b"\xef\xbb\xbf[1]", [[1]], ["begins with a byte order mark, which was skipped"]),
    ],
)
def test_a_file_holds_a_document_or_lines(data: bytes, found: list[Any], warnings: list[str]) -> None:
    told: list[LoadWarning] = [LoadWarning("before")]
    assert [*values(HERE, data, told)] == found
    assert [warning.text for warning in told] == ["before", *warnings]


def test_what_is_neither_a_document_nor_lines_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^trace\.json: line 1, column 2: the JSON is damaged"):
        [*values(HERE, b"{a", [])]
