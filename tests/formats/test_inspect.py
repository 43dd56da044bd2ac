"""Inspect logs: samples as parts, attachments, usage from events, `.eval` zips within bounds."""

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard

from workbench.base.errors import BadInput
from workbench.conformance.building import agent, call, result, session_of, user
from workbench.conformance.formats import assert_exact, read
from workbench.formats.format import no_progress
from workbench.formats.inspect_log import FORMAT
from workbench.formats.inspect_log.read import Reader
from workbench.formats.kit import compressed
from workbench.formats.look import Look
from workbench.formats.read_back import shape
from workbench.session import Compaction, Media, Message, Opaque, Session, Text, Thinking, ToolResult, ToolUse, Usage

Json = dict[str, Any]
CALL: Json = {"id": "c1", "function": "f", "arguments": {"a": "attachment://x"}}
MESSAGES: list[Json] = [
    {"role": "system", "content": "rules"},
    {
        "id": "u",
        "role": "user",
        "content": [{"type": "text", "text": "see"}, {"type": "image", "image": "data:image/png;base64,QUJD"}],
    },
    {
        "id": "a",
        "role": "assistant",
        "content": [{"type": "reasoning", "reasoning": "hm", "signature": "s"}, {"type": "text", "text": "I look."}],
        "tool_calls": [CALL],
        "model": "m",
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "function": "f",
        "content": "",
        "error": {"type": "timeout", "message": "late"},
    },
    {"id": "b", "role": "assistant", "content": "attachment://x"},
]
EVENTS: list[Json] = [
    {
        "event": "model",
        "tools": [{"name": "f", "description": "attachment://x"}],
        "output": {
            "choices": [{"message": {"id": "a"}}],
            "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 37, "input_tokens_cache_read": 30},
        },
    },
    {"event": "compaction", "type": "summary", "tokens_before": 900, "tokens_after": 90},
]


def sample(number: int = 1, **more: Any) -> Json:
    fields = {"id": 1, "epoch": number, "input": "see", "target": "", "messages": MESSAGES, "events": EVENTS}
    return fields | {"attachments": {"x": "long"}, "uuid": f"u{number}"} | more


def header() -> Json:
    run = {"run_id": "r", "created": "2026-01-01T00:00:00Z", "task": "t", "dataset": {}, "model": "m/x", "config": {}}
    return {"version": 2, "status": "success", "eval": run, "plan": {}}


def log(*samples: Json) -> bytes:
    return json.dumps(header() | {"samples": list(samples or [sample()])}, indent=1).encode()


def zipped(entries: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in entries.items():
            archive.writestr(name, raw)
    return target.getvalue()


def test_a_sample_becomes_a_session() -> None:
    session = read(FORMAT, log())
    assert shape(session.messages) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "normal", (Text("see"), Media("image/png", 4))),
        ("assistant", "normal", (Thinking("hm", "s"), Text("I look."), ToolUse("c1", "f", {"a": "long"}))),
        ("tool", "normal", (ToolResult("c1", (Text("late"),), is_error=True),)),
        ("assistant", "normal", (Text("long"),)),
    ]
    assert session.messages[2].usage == Usage(5, 2, cache_read=30)
    assert "900" in str(session.warnings[0])
    assert "long" in session.tools[0].schema
    short = Message("x", "assistant", (Thinking("", "sealed"), Text("y"), ToolUse("c1", "f", {})), "normal")
    assert_exact(FORMAT, session, (*session.messages[:2], short, *session.messages[3:]))


def test_reasoning_that_the_api_signed_is_its_summary() -> None:
    """In newer logs `reasoning` is the signature and `summary` the text, or nothing where the API hid it."""
    parts = [
        {"type": "reasoning", "reasoning": "seal", "summary": "attachment://x", "redacted": True},
        {"type": "reasoning", "reasoning": "sealed", "redacted": True},
        {"type": "reasoning", "reasoning": "hm", "signature": "s"},
    ]
    session = read(FORMAT, log(sample(messages=[MESSAGES[1], {"id": "a", "role": "assistant", "content": parts}])))
    thoughts = (Thinking("long", "seal"), Thinking("", "sealed"), Thinking("hm", "s"))
    assert session.messages[1].blocks == thoughts
    anew = Message("n", "assistant", (*thoughts, Thinking("plain"), Text("y")))
    (_, written) = json.loads(assert_exact(FORMAT, session, (session.messages[0], anew)).data)["samples"][0]["messages"]
    assert written["content"] == [
        {"type": "reasoning", "reasoning": "seal", "summary": "long", "redacted": True},
        {"type": "reasoning", "reasoning": "sealed", "redacted": True},
        {"type": "reasoning", "reasoning": "s", "summary": "hm", "redacted": True},
        {"type": "reasoning", "reasoning": "plain", "redacted": False},
        {"type": "text", "text": "y"},
    ]


def test_written_texts_stay_separate_when_inspect_joins_turns() -> None:
    """Inspect merges plain texts and adds a placeholder to an answer without text; it leaves parts unchanged."""
    other = session_of((user("u", "go"), agent("a", "", call("c")), result("r", ("c", "one")), user("v", "more")))
    messages = json.loads(FORMAT.codec.write(other, other.context()).data)["samples"][0]["messages"]
    assert [message["content"] for message in messages] == [
        [{"type": "text", "text": "go"}],
        [],
        [{"type": "text", "text": "one"}],
        [{"type": "text", "text": "more"}],
    ]


def test_a_message_that_cannot_be_written_leaves_no_empty_one() -> None:
    other = session_of((user("u", "go"), Message("k", "user", (Opaque("compaction", {"encrypted": "x"}),), "summary")))
    written = FORMAT.codec.write(other, other.context())
    assert [message["role"] for message in json.loads(written.data)["samples"][0]["messages"]] == ["user"]
    assert written.losses != ()


@pytest.mark.parametrize("form", ["json", "eval"])
def test_samples_are_parts(form: str) -> None:
    samples = [sample(1), sample(2, messages=MESSAGES[:2]), sample(10, messages=MESSAGES[1:])]
    data = log(*samples)
    if form == "eval":
        entries = {f"samples/1_epoch_{s['epoch']}.json": json.dumps(s).encode() for s in samples}
        data = zipped({"_journal/start.json": b"{}", **entries, "header.json": json.dumps(header()).encode()})
    assert FORMAT.recognise(Look.of(data))
    parts = Reader.sessions_in(Path("x.eval"), data)
    assert [(part.id, part.title, part.messages) for part in parts] == [
        ("1", "1, epoch 1", 5),
        ("2", "1, epoch 2", 2),
        ("3", "1, epoch 10", 4),
    ]
    assert "3 samples" in str(read(FORMAT, data).warnings[0])
    session = Reader.read_part(Path("x.eval"), data, "3", no_progress)
    assert (session.id, session.model, len(session.messages)) == ("u10", "m/x", 4)
    with pytest.raises(BadInput, match="choose one of 1 to 3"):
        Reader.read_part(Path("x.eval"), data, "4", no_progress)


@pytest.mark.parametrize("length", [21, 22, 60_000])
def test_an_error_in_a_zip_is_described_briefly(length: int) -> None:
    """The header states the length of a name: it may cover the entire file."""
    data = bytearray(zipped({"samples/1_epoch_1.json": json.dumps(sample()).encode(), "x": bytes(range(256)) * 300}))
    data[26:28] = length.to_bytes(2, "little")
    if length == 22:
        assert FORMAT.codec.read(Path("a.eval"), bytes(data), no_progress).messages
        return
    with pytest.raises(BadInput, match="the zip cannot be read") as refused:
        FORMAT.codec.read(Path("a.eval"), bytes(data), no_progress)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_member_of_any_method_is_refused_in_a_sentence(method: int) -> None:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", method) as archive:
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample()))
    whole, start = into.getvalue(), 30 + len("samples/1_epoch_1.json")
    assert FORMAT.codec.read(Path("a.eval"), whole, no_progress).messages
    for width in (1, 9, 20):
        broken = whole[: start + 4] + bytes(255 - one for one in whole[start + 4 : start + 4 + width])
        with pytest.raises(BadInput, match="the zip cannot be read"):
            FORMAT.codec.read(Path("a.eval"), broken + whole[len(broken) :], no_progress)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_zip_is_refused(damage: str) -> None:
    data = zipped({"samples/1_epoch_1.json": json.dumps(sample()).encode()})
    broken = {"cut": data[:-30], "flipped": data[:60] + b"\xff" * 20 + data[80:], "empty": zipped({"a": b""})}[damage]
    with pytest.raises(BadInput):
        read(FORMAT, broken)
    assert not FORMAT.recognise(Look.of(zipped({"word/document.xml": b"<x/>"})))


@pytest.mark.parametrize(
    ("messages", "faults"),
    [
        (None, ["Sample 1 has no messages."]),
        (
            [{"role": "robot", "content": ""}],
            ["Message 1 of sample 1 has a role other than system, user, assistant, tool."],
        ),
        (
            [{"role": "user", "content": None}],
            ["Message 1 of sample 1 has content that is neither text nor a list of parts."],
        ),
        (MESSAGES[3:4], ["Message 1 of sample 1 answers the call c1, which no earlier message made."]),
        (
            [{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": "f", "arguments": "x"}]}],
            ["Message 1 of sample 1 calls f with arguments that are not an object."],
        ),
    ],
)
def test_the_validator_finds(messages: Any, faults: list[str]) -> None:
    assert FORMAT.codec.validate(log(sample(messages=messages))) == faults


# --- inputs of calls ------------------------------------------------------------------------------------------------


def new_message(role: str, id: str, content: str, **more: Any) -> Json:
    return {"id": id, "role": role, "content": content, **more}


def call_message(id: str) -> Json:
    return new_message("assistant", id, f"I call {id}", tool_calls=[{"id": f"c{id}", "function": "f", "arguments": {}}])


def result_message(id: str, content: str) -> Json:
    return new_message("tool", f"t{id}", content, tool_call_id=f"c{id}", function="f")


ASK, A, TA, B, TB = (
    new_message("user", "u", "count"),
    call_message("a"),
    result_message("a", "one"),
    call_message("b"),
    result_message("b", "two"),
)
C = new_message("assistant", "c", "three")
TALK = [ASK, A, TA, B, TB, C]
CLEARED = {**TA, "id": "x", "content": "(removed)"}
SUMMARY = new_message("user", "s", "[CONTEXT COMPACTION SUMMARY] one", metadata={"summary": True})


def model_event(answer: Json, *input: Json, tokens: int = 10, **more: Any) -> Json:
    usage = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
    return {"event": "model", "input": list(input), "output": {"choices": [{"message": answer}], "usage": usage} | more}


def compaction(type: str, **more: Any) -> Json:
    fields = {"tokens_before": 90, "tokens_after": 40, "timestamp": "1970-01-01T00:01:00+00:00"}
    return {"event": "compaction", "type": type, "metadata": {"trigger": "threshold"}} | fields | more


def run(messages: list[Json], *events: Json, **more: Any) -> Session:
    return read(FORMAT, log(sample(messages=messages, events=list(events), **more)))


def ids(session: Session, epoch: int | None = None) -> list[str]:
    return [message.id for message in session.context(epoch)]


def test_a_cleared_result_is_a_separate_message() -> None:
    last = model_event(C, ASK, A, CLEARED, B, TB, tokens=40)
    session = run(TALK, model_event(A, ASK), model_event(B, ASK, A, TA, tokens=20), compaction("edit"), last)
    assert (ids(session, 1), ids(session)) == (["u", "a", "ta", "b", "tb"], ["u", "a", "ta~cleared", "b", "tb", "c"])
    assert session.epochs[0].ended_by == Compaction("auto", 90, None, 60.0, "clearing", 40, ("u", "a", "b", "tb"))
    cleared = session.messages[-1]
    assert (cleared.results[0].text, cleared.source, cleared.time) == ("(removed)", (), 60.0)
    assert [message.usage and message.usage.context for message in session.context()] == [None, 10, None, 20, None, 40]
    written = FORMAT.codec.write(session, session.context()[1:])
    again = read(FORMAT, written.data)
    assert (len(again.epochs), shape(again.context())) == (1, shape(session.context()[1:]))
    assert {message.usage for message in again.messages} == {None}
    assert again.warnings == ()


def test_a_summary_replaces_earlier_messages() -> None:
    request = new_message("user", "p", "Summarize.")
    side = model_event(new_message("assistant", "w", "one"), ASK, A, TA, request)
    events = [
        model_event(A, ASK),
        side,
        compaction("summary"),
        model_event(B, ASK, SUMMARY),
        model_event(C, ASK, SUMMARY, B, TB),
    ]
    session = run([ASK, A, TA, SUMMARY, B, TB, C], *events)
    assert (ids(session, 1), ids(session)) == (["u", "a", "ta"], ["u", "s", "b", "tb", "c"])
    assert [message.kind for message in session.context()] == ["normal", "summary", "normal", "normal", "normal"]
    assert [message.time for message in session.context()[:3]] == [None, 60.0, None]
    assert session.epochs[0].ended_by == Compaction("auto", 90, "s", 60.0, "summary", 40, ("u",))
    assert len(session.messages) == 7  # the call that wrote the summary is not part of the conversation
    recorded = list(FORMAT.codec.requests(session))
    assert [(one.answer, len(one.messages)) for one in recorded] == [("a", 1), ("", 4), ("b", 2), ("c", 4)]
    assert shape(recorded[-1].messages) == shape(session.context()[:-1])


def test_trimmed_messages_end_an_epoch_with_and_without_a_record() -> None:
    for record, trigger, before in ((compaction("trim"), "auto", 90), ({"event": "info"}, "", None)):
        session = run(TALK, model_event(A, ASK), model_event(B, ASK, A, TA), record, model_event(C, ASK, B, TB))
        assert (ids(session, 1), ids(session)) == (["u", "a", "ta", "b", "tb"], ["u", "b", "tb", "c"])
        compaction_of_epoch = session.epochs[0].ended_by
        assert compaction_of_epoch is not None
        assert (
            compaction_of_epoch.way,
            compaction_of_epoch.trigger,
            compaction_of_epoch.tokens_before,
            compaction_of_epoch.kept_ids,
        ) == (
            "removal",
            trigger,
            before,
            ("u", "b", "tb"),
        )


def test_messages_of_equal_content_are_distinguished_by_position() -> None:
    """The pool of a log stores them once, under the id of the first."""
    on = [new_message("user", f"on{n}", "Go on.") for n in range(3)]
    replies = [new_message("assistant", f"r{n}", f"step {n}") for n in range(3)]
    talk = [one for pair in zip(on, replies, strict=True) for one in pair]
    pool = [on[0], *replies]
    refs = [[[0, 1]], [[0, 2], [0, 1]], [[0, 2], [0, 1], [2, 3], [0, 1]]]
    events = [model_event(answer) | {"input_refs": ranges} for answer, ranges in zip(replies, refs, strict=True)]
    session = run(talk, *events, events_data={"messages": pool, "calls": []})
    assert ids(session) == ["on0", "r0", "on1", "r1", "on2", "r2"]
    assert len(session.epochs) == 1


def test_another_agents_view_and_missing_reasoning_end_no_epoch() -> None:
    thought = {**A, "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I call a"}]}
    session = run(
        [ASK, thought, *TALK[2:]],
        model_event(thought, ASK),
        model_event(B, ASK, thought, TA),
        model_event(C, ASK, A, TA, B, TB),
    )
    assert (len(session.epochs), ids(session)) == (1, ["u", "a~sent", "ta", "b", "tb", "c"])
    assert [message.usage is not None for message in session.context()] == [False, True, False, True, False, True]
    view = run(TALK, model_event(A, ASK), model_event(B, TA), model_event(C, ASK, A, TA, B, TB))
    assert (len(view.epochs), ids(view)) == (1, ["u", "a", "ta", "b", "tb", "c"])


OTHER_RULES = [new_message("system", "s1", "It is ten."), new_message("system", "s2", "It is eleven.")]
THOUGHT = {**A, "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "I call a"}]}


@pytest.mark.parametrize(
    ("messages", "second", "seen"),
    [
        ([OTHER_RULES[0], *TALK], [OTHER_RULES[1], ASK, A, TA, B, TB], ["s2", "u", "a", "ta", "b", "tb", "c"]),
        (TALK, [ASK, A, TA, {**B, "content": "I called b"}, TB], ["u", "a", "ta", "b~sent", "tb", "c"]),
        ([ASK, THOUGHT, *TALK[2:]], [ASK, {**A, "id": "new"}, TA, B, TB], ["u", "new", "ta", "b", "tb", "c"]),
    ],
    ids=["another time in the prompt", "an answer edited", "an answer written down anew"],
)
def test_another_form_of_a_message_ends_no_epoch(messages: list[Json], second: list[Json], seen: list[str]) -> None:
    first = [message for message in messages if message["id"] in ("s1", "u", "a", "ta")]
    session = run(messages, model_event(B, *first), model_event(C, *second))
    assert (len(session.epochs), ids(session)) == (1, seen)


def test_a_compaction_that_only_emptied_calls_counts_and_another_roles_does_not() -> None:
    emptied = {**A, "tool_calls": [{"id": "ca", "function": "f", "arguments": {"cleared": True}}]}
    for role, epochs in ((None, 2), ("grader", 1)):
        record = compaction("edit", role=role)
        session = run(TALK, model_event(B, ASK, A, TA), record, model_event(C, ASK, emptied, TA, B, TB))
        assert (len(session.epochs), ids(session)) == (epochs, ["u", "a~sent", "ta", "b", "tb", "c"])


def test_a_zip_that_grows_beyond_bounds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = json.dumps(sample()).encode()
    entries = {"header.json": json.dumps(header()).encode(), "samples/1_epoch_1.json": raw}
    size = sum(map(len, entries.values()))
    monkeypatch.setattr(compressed, "HIGHEST_RATIO", 0)
    for data in (zipped(entries), zip_with_zstd(entries)):
        monkeypatch.setattr(compressed, "_FREE_ZIP", size)
        assert len(read(FORMAT, data).messages) == 5
        monkeypatch.setattr(compressed, "_FREE_ZIP", size - 1)
        with pytest.raises(BadInput, match="unpacks to more than 0 MiB"):
            read(FORMAT, data)


def test_without_events_the_last_answer_has_the_outputs_usage() -> None:
    output = {"usage": {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9, "total_cost": 0.25}}
    session = run(TALK, output=output)
    assert [message.usage for message in session.messages] == [None] * 5 + [Usage(7, 2, cost=0.25)]


def test_a_log_without_inputs_only_warns_of_compactions() -> None:
    session = run(TALK, model_event(C), compaction("edit"))
    assert len(session.epochs) == 1
    assert [str(warning) for warning in session.warnings] == [
        "Inspect compacted 1 time (from 90 tokens); the shortened context is not in the log"
    ]


def test_a_compaction_before_the_first_input_ends_no_epoch() -> None:
    """The first input with the result already holds it cleared: there is no earlier epoch, and no warning."""
    events = [model_event(A, ASK), compaction("edit"), compaction("edit"), model_event(C, ASK, A, CLEARED)]
    session = run([ASK, A, TA, C], *events)
    assert (ids(session), session.warnings) == (["u", "a", "ta~cleared", "c"], ())
    after = run([ASK, A, TA, C], *events, compaction("edit"))
    assert [str(warning) for warning in after.warnings] == [
        "Inspect compacted 1 time (from 90 tokens); the shortened context is not in the log"
    ]


def test_members_packed_with_zstd_are_read() -> None:
    raw = json.dumps(sample()).encode()
    data = zip_with_zstd({"header.json": json.dumps(header()).encode(), "samples/1_epoch_1.json": raw})
    assert FORMAT.recognise(Look.of(data))
    assert (len(read(FORMAT, data).messages), read(FORMAT, data).model) == (5, "m/x")
    begin = data.index(b"samples/1_epoch_1.json") + len("samples/1_epoch_1.json") + len(EXTRA)
    flipped = [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(begin + 10, begin + 90)]
    for broken in (data[:-30], *flipped):
        with pytest.raises(BadInput, match=r"cannot be read|are damaged"):
            read(FORMAT, broken)


EXTRA = struct.pack("<HH4s", 0x7773, 4, b"more")
"""Extra field after a member's name, as some programs write."""


def zip_with_zstd(entries: dict[str, bytes]) -> bytes:
    """Return a zip as Inspect writes it, with members of method 93, which `zipfile` writes since Python 3.14."""
    body, directory = b"", b""
    for name, raw in entries.items():
        packed, call_message = zstandard.compress(raw), name.encode()
        sizes = (zlib.crc32(raw), len(packed), len(raw), len(call_message), len(EXTRA))
        about = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 0, *sizes)
        place = struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + about + place + call_message + EXTRA
        body += b"PK\x03\x04" + about + call_message + EXTRA + packed
    count = len(entries)
    return body + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
