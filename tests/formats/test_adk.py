"""ADK sessions: compactions that hide by time, rewinds, calls without ids, both spellings of keys."""

import json
from dataclasses import replace
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.formats import SOMEWHERE, assert_exact, read
from workbench.formats.adk import FORMAT
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import difference, shape
from workbench.session import Media, Message, Session, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]


def event(number: int, author: str, *parts: Json, **more: Any) -> Json:
    role = "user" if author == "user" or "function_response" in parts[0] else "model"
    return {
        "content": {"parts": list(parts), "role": role},
        "invocation_id": f"i{number // 10}",
        "author": author,
        "actions": {},
        "id": f"e{number}",
        "timestamp": 1_700_000_000.5 + number,
        **more,
    }


CALL: Json = {"function_call": {"name": "look", "args": {"a": 1}}}
ANSWER: Json = {"function_response": {"name": "look", "response": {"result": "seen"}}}
FAILED: Json = {"function_response": {"name": "look", "response": {"error": "dark"}}}
EVENTS: list[Json] = [
    event(10, "user", {"text": "look"}, {"inline_data": {"mime_type": "image/png", "data": "QUJD"}}),
    event(11, "agent", {"text": "hm", "thought": True}, CALL, CALL, usage_metadata={"prompt_token_count": 9}),
    event(12, "agent", ANSWER, FAILED),
    {"invocation_id": "i1", "author": "model", "actions": {"state_delta": {"a": 1}}, "id": "s", "timestamp": 1.0},
    event(13, "agent", {"text": "I saw."}, model_version="g-1"),
    event(20, "user", {"text": "and now?"}),
    event(21, "agent", {"text": "now it is dark"}),
]


def compaction(number: int, start: int, end: int, text: str) -> Json:
    inner = {
        "start_timestamp": 1_700_000_000.5 + start,
        "end_timestamp": 1_700_000_000.5 + end,
        "compacted_content": {"role": "model", "parts": [{"text": text}]},
    }
    with_content = event(number, "user", {"text": ""}, actions={"compaction": inner})
    return {key: value for key, value in with_content.items() if key != "content"}


def body(events: Any = EVENTS, **more: Any) -> bytes:
    fields = {"id": "s1", "app_name": "app", "user_id": "u", "state": {}, "events": events, "last_update_time": 1.5}
    return json.dumps(fields | more).encode()


def in_camel_case(value: Any) -> Any:
    if isinstance(value, dict):
        words = ((key.split("_"), inner) for key, inner in value.items())
        return {first + "".join(w.capitalize() for w in rest): in_camel_case(inner) for (first, *rest), inner in words}
    return [in_camel_case(item) for item in value] if isinstance(value, list) else value


def test_events_become_messages() -> None:
    session = read(FORMAT, body())
    assert shape(session.messages) == [
        ("user", "normal", (Text("look"), Media("image/png", 4))),
        (
            "assistant",
            "normal",
            (Thinking("hm"), ToolUse("look-e11.1", "look", {"a": 1}), ToolUse("look-e11.2", "look", {"a": 1})),
        ),
        (
            "tool",
            "normal",
            (ToolResult("look-e11.1", (Text("seen"),)), ToolResult("look-e11.2", (Text("dark"),), is_error=True)),
        ),
        ("assistant", "normal", (Text("I saw."),)),
        ("user", "normal", (Text("and now?"),)),
        ("assistant", "normal", (Text("now it is dark"),)),
    ]
    assert session.messages[1].usage == Usage(9)
    assert session.messages[0].time == 1_700_000_010.5
    assert (session.id, session.model) == ("s1", "g-1")


def test_camel_case_is_read_alike() -> None:
    data = json.dumps(in_camel_case(json.loads(body()))).encode()
    assert b"appName" in data
    assert FORMAT.recognise(Look.of(data))
    session = read(FORMAT, data)
    assert session.messages == read(FORMAT, body()).messages
    written = FORMAT.codec.write(session, (Message("n", "user", (Text("x"),), "summary"), *session.messages[4:])).data
    assert b"invocationId" in written
    assert b"invocation_id" not in written


def test_a_compaction_hides_events_in_its_time() -> None:
    session = read(FORMAT, body([*EVENTS[:5], *EVENTS[5:], compaction(22, 10, 13, "seen it")]))
    assert [m.id for m in session.context()] == ["e22", "e20", "e21"]
    assert [m.id for m in session.context(1)] == ["e10", "e11", "e12", "e13", "e20", "e21"]
    summary = session.context()[0]
    assert (summary.kind, summary.role, summary.text) == ("summary", "assistant", "seen it")
    assert session.epochs[0].ended_by is not None
    assert_exact(FORMAT, session, session.context()[:2])


def test_a_compaction_within_another_is_hidden_too() -> None:
    events = [*EVENTS, compaction(22, 10, 13, "one"), compaction(23, 10, 20, "two")]
    assert [m.text for m in read(FORMAT, body(events)).context()] == ["two", "now it is dark"]
    again = [*EVENTS, compaction(22, 10, 13, "one"), compaction(23, 10, 13, "one, better")]
    assert [m.text for m in read(FORMAT, body(again)).context()] == ["one, better", "and now?", "now it is dark"]
    overlapping = [*EVENTS, compaction(22, 10, 13, "one"), compaction(23, 12, 20, "two")]
    assert [m.text for m in read(FORMAT, body(overlapping)).context()] == ["one", "two", "now it is dark"]


def test_a_rewind_removes_an_invocation() -> None:
    rewind = {"author": "user", "id": "r", "timestamp": 1.0, "actions": {"rewind_before_invocation_id": "i2"}}
    session = read(FORMAT, body([*EVENTS, rewind, event(30, "user", {"text": "instead"})]))
    assert [m.id for m in session.context()] == ["e10", "e11", "e12", "e13", "e30"]
    assert len(session.messages) == 7
    assert list(session.branch) == [0, 1, 2, 3, 6]
    written = assert_exact(FORMAT, session, session.context()[1:])
    assert b"rewind" not in written.data


def call_event(number: int, author: str, id: str, **more: Any) -> Json:
    return event(number, author, {"function_call": {"id": id, "name": "look", "args": {"b": 2, "a": 1}}}, **more)


def result_event(number: int, author: str, id: str, seen: str, **more: Any) -> Json:
    response = {"id": id, "name": "look", "response": {"result": seen}}
    return event(number, author, {"function_response": response}, **more)


TEAM = [
    event(10, "user", {"text": "look"}),
    call_event(11, "chief", "c1"),
    result_event(12, "chief", "c1", "fog", usage_metadata={"prompt_token_count": 9}),
    event(
        13,
        "chief",
        {"text": "hm", "thought": True},
        {"text": "Over to you."},
        usage_metadata=EVENTS[1]["usage_metadata"],
    ),
    call_event(14, "mate", "c2"),
    result_event(15, "mate", "c2", "sun"),
    event(16, "mate", {"text": "Sun."}, usage_metadata=EVENTS[1]["usage_metadata"]),
    event(20, "user", {"text": "more"}),
    event(21, "chief", {"text": "only thought", "thought": True}),
]
TOLD_BY_CHIEF = [
    ("user", "normal", (Text("look"),)),
    (
        "user",
        "meta",
        (
            Text("For context:", injected=True),
            Text("[chief] called tool `look` with parameters: {'a': 1, 'b': 2}", injected=True),
        ),
    ),
    (
        "user",
        "meta",
        (
            Text("For context:", injected=True),
            Text("[chief] `look` tool returned result: {'result': 'fog'}", injected=True),
        ),
    ),
    ("user", "meta", (Text("For context:", injected=True), Text("[chief] said: Over to you.", injected=True))),
    ("assistant", "normal", (ToolUse("c2", "look", {"b": 2, "a": 1}),)),
    ("tool", "normal", (ToolResult("c2", (Text("sun"),)),)),
    ("assistant", "normal", (Text("Sun."),)),
    ("user", "normal", (Text("more"),)),
]


def read_agent(data: bytes, agent: str) -> Session:
    return FORMAT.codec.read_part(SOMEWHERE, data, agent, no_progress)


def test_each_agent_is_sent_the_others_texts_as_user_text() -> None:
    data = body(TEAM)
    assert [(p.id, p.title, p.messages) for p in FORMAT.codec.sessions_in(SOMEWHERE, data)] == [
        ("chief", "as sent to chief", 4),
        ("mate", "as sent to mate", 3),
    ]
    mate = read_agent(data, "mate")
    assert shape(mate.context()) == TOLD_BY_CHIEF
    assert [m.usage for m in mate.context()] == [None] * 6 + [Usage(9), None]
    newest = read(FORMAT, data)  # a thought alone is not spoken
    assert [str(w) for w in newest.warnings] == [
        "2 agents in the file; shown: the context of mate, the last active one"
    ]
    assert shape(newest.context()) == TOLD_BY_CHIEF
    chief = read_agent(data, "chief")
    assert [m.text or "calls" for m in chief.context() if m.kind == "meta"] == [
        "For context:\n[mate] called tool `look` with parameters: {'a': 1, 'b': 2}",
        "For context:\n[mate] `look` tool returned result: {'result': 'sun'}",
        "For context:\n[mate] said: Sun.",
    ]
    with pytest.raises(BadInput, match="no agent 'cook'"):
        read_agent(data, "cook")
    assert FORMAT.codec.sessions_in(SOMEWHERE, body()) == ()


@pytest.mark.parametrize("agent", ["", "chief", "mate"])
@pytest.mark.parametrize("kept_messages", [slice(None), slice(1, None), slice(0, -2), slice(3, 4), slice(4, None)])
def test_a_written_context_of_an_agent_is_read_again(agent: str, kept_messages: slice) -> None:
    session = read_agent(body(TEAM), agent) if agent else read(FORMAT, body(TEAM))
    for write in (FORMAT.codec.write, FORMAT.codec.forms[0].write):
        for messages in (
            session.context()[kept_messages],
            (Message("n", "user", (Text("in short"),), "summary"), *session.context()[kept_messages]),
        ):
            written = write(session, messages)
            assert FORMAT.codec.validate(written.data) == []
            assert difference(session, messages, read(FORMAT, written.data), written.losses) == ""


def test_results_of_other_agents_calls_become_user_text() -> None:
    posted = {**result_event(14, "user", "c1", "late")}
    session = read_agent(body([*TEAM[:2], posted, *TEAM[4:]]), "mate")
    assert session.context()[2].text == "For context:\n[user] `look` tool returned result: {'result': 'late'}"


def test_other_branches_and_scopes_are_not_sent() -> None:
    events = [
        event(10, "user", {"text": "look"}),
        event(11, "north", {"text": "fog"}, branch="all.north"),
        event(12, "south", {"text": "sun"}, branch="all.south"),
        event(13, "far", {"text": "sea"}, branch="all.south.far"),
        call_event(14, "south", "c1", branch="all.south"),
        event(15, "south", {"text": "working"}, branch="all.south.look@c1"),
        result_event(16, "south", "c1", "sand", branch="all.south"),
        event(17, "lone", {"text": "apart"}, isolation_scope="c9"),
        event(18, "chief", {"text": "Well."}),
    ]
    data = body(events)
    south = read_agent(data, "south")
    assert [m.id for m in south.context()] == ["e10", "e12", "e14", "e16", "e18"]
    assert [south.messages[n].id for n in south.branch] == ["e10", "e12", "e14", "e16", "e18"]
    assert [m.id for m in read_agent(data, "far").context()] == ["e10", "e12", "e13", "e14", "e16", "e18"]
    assert [m.id for m in read_agent(data, "north").context()] == ["e10", "e11", "e18"]
    assert [m.id for m in read(FORMAT, data).context()] == ["e10", "e11", "e12", "e13", "e14", "e16", "e18"]
    assert [m.id for m in read_agent(data, "lone").context()] == ["e17"]


def test_calls_of_the_framework_are_not_sent() -> None:
    confirmation = event(22, "agent", {"function_call": {"id": "k", "name": "adk_request_confirmation", "args": {}}})
    answer = event(23, "user", {"function_response": {"id": "k", "name": "adk_request_confirmation", "response": {}}})
    assert [m.id for m in read(FORMAT, body([*EVENTS, confirmation, answer])).context()][-1] == "e21"


def test_a_rewound_rewind_has_no_effect() -> None:
    def rewind(number: int, invocation: str) -> Json:
        actions = {"rewind_before_invocation_id": invocation}
        return {
            "author": "user",
            "id": f"r{number}",
            "timestamp": 1.0,
            "invocation_id": f"i{number}",
            "actions": actions,
        }

    events = [*EVENTS, rewind(3, "i1"), event(40, "user", {"text": "no"}), rewind(5, "i3")]
    assert [m.id for m in read(FORMAT, body(events)).context()] == ["e10", "e11", "e12", "e13", "e20", "e21"]


def test_the_last_update_of_a_result_follows_its_call() -> None:
    events = [
        event(10, "user", {"text": "look"}),
        call_event(11, "agent", "c1"),
        result_event(12, "agent", "c1", "soon"),
        event(13, "user", {"text": "and?"}),
        result_event(14, "user", "c1", "there"),
        result_event(15, "agent", "gone", "nothing"),
    ]
    assert [m.id for m in read(FORMAT, body(events)).context()] == ["e10", "e11", "e14", "e13"]


def test_a_hidden_call_is_restored_with_its_late_result() -> None:
    both = event(11, "agent", *(call_event(0, "a", id)["content"]["parts"][0] for id in ("c1", "c2")))
    events = [
        event(10, "user", {"text": "look"}),
        both,
        result_event(12, "agent", "c2", "there"),
        event(13, "agent", {"text": "wait"}),
        compaction(14, 10, 13, "looked"),
        result_event(15, "user", "c1", "late"),
    ]
    assert [m.id for m in read(FORMAT, body(events)).context()] == ["e14", "e11", "e12", "e15"]


def test_a_result_without_an_id_is_written_without_one() -> None:
    session = read(FORMAT, body())
    context = list(session.context())
    first, second = context[2].results
    context[2] = replace(context[2], source=(), blocks=(replace(first, content=(Text("cleared"),)), second))
    written = json.loads(FORMAT.codec.write(session, context).data)
    responses = [
        p["function_response"]
        for e in written["events"]
        for p in e.get("content", {}).get("parts", [])
        if "function_response" in p
    ]
    assert responses == [
        {"name": "look", "response": {"result": "cleared"}},
        {"name": "look", "response": {"error": "dark"}},
    ]
    assert shape(read(FORMAT, json.dumps(written).encode()).context()) == shape(context)


def test_a_session_without_an_owner_is_valid() -> None:
    old = {"id": "s", "context": {}, "past_events": [], "events": EVENTS}
    assert FORMAT.codec.validate(json.dumps(old).encode()) == []


def test_events_without_content_are_kept_in_the_file() -> None:
    session = read(FORMAT, body())
    written = json.loads(FORMAT.codec.write(session, session.messages[4:]).data)
    assert [e["id"] for e in written["events"]] == ["s", "e20", "e21"]
    assert {k: v for k, v in written.items() if k != "events"} == {
        k: v for k, v in json.loads(body()).items() if k != "events"
    }


@pytest.mark.parametrize(
    ("events", "faults"),
    [
        ([event(1, "agent", ANSWER)], ["Event 1 answers a call of look that no earlier event made."]),
        ([event(1, "agent", {"nothing": 1})], ["Event 1 has a part of no type that ADK knows."]),
        (
            [event(1, "agent", {"function_call": {"name": "f", "args": "x"}})],
            ["Event 1 calls f with args that are not an object."],
        ),
        ([{**event(1, "user", {"text": "x"}), "timestamp": "now"}], ["Event 1 has no author or no timestamp."]),
        (
            [{**event(1, "user", {"text": "x"}), "workbench_kind": "meta"}],
            ["Event 1 has the unknown key workbench_kind."],
        ),
        (
            [{**event(1, "user", {"text": "x"}), "content": {"role": "tool", "parts": []}}],
            ["Event 1 has content with a role other than user or model."],
        ),
        ("x", ["There are no events."]),
    ],
)
def test_the_validator_finds(events: Any, faults: list[str]) -> None:
    assert FORMAT.codec.validate(body(events)) == faults


def test_the_validator_requires_an_owner() -> None:
    assert FORMAT.codec.validate(body(app_name=None)) == ["It has no app_name."]


def times_of(written: bytes) -> list[float]:
    return [one["timestamp"] for one in json.loads(written)["events"]]


def test_new_events_are_in_order_of_time() -> None:
    """`adk run --resume` stores them in a database that orders them by time."""
    turns = [("user", 50.0), ("assistant", None), ("user", 40.0), ("assistant", 60.0)]
    messages = [Message(f"m{n}", role, (Text(f"{n}"),), time=time) for n, (role, time) in enumerate(turns)]  # type: ignore[arg-type]
    other = replace(read(FORMAT, body()), format="openai-chat")
    times = times_of(FORMAT.codec.write(other, messages).data)  # type: ignore[misc]
    assert times == sorted(times)
    assert (times[0], times[3]) == (50.0, 60.0)
    assert 50.0 < times[1] < times[2] < 50.001


def test_a_summary_is_no_later_than_what_follows_it() -> None:
    loaded = read(FORMAT, body([one for one in EVENTS if "content" in one]))
    summary = Message("new", "user", (Text("what was"),), "summary", time=2_000_000_000.0)
    written = FORMAT.codec.write(loaded, [summary, loaded.context()[-1]])  # type: ignore[misc]
    assert times_of(written.data) == [1_700_000_021.5, 1_700_000_021.5]


def test_a_system_prompt_is_the_agents_own() -> None:
    other = replace(read(FORMAT, body()), format="openai-chat")
    messages = [Message("s", "system", (Text("Be brief."),)), Message("u", "user", (Text("Hello."),), time=5.0)]
    written = FORMAT.codec.write(other, messages)  # type: ignore[misc]
    assert [one["content"]["parts"] for one in json.loads(written.data)["events"]] == [[{"text": "Hello."}]]
    assert Loss(LossKind.SYSTEM_MESSAGES, 1, ("ADK",)) in written.losses
