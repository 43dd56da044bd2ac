"""pi sessions of all versions: the tree, what a compaction keeps, what is never sent, and the way back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.pi_build import HEADER, STAMP, entry, lines, response, result, said, text, usage
from workbench.base.errors import BadInput
from workbench.conformance.formats import assert_exact, read
from workbench.formats.look import Look
from workbench.formats.pi import FORMAT
from workbench.formats.read_back import shape
from workbench.session import Block, Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage

CALL = {"type": "toolCall", "id": "c|1", "name": "ls", "arguments": {"path": "."}}
THINK = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}
ENTRIES = [
    entry("model_change", "e1", None, provider="p", modelId="m-1"),
    said("e2", "e1", "user", [text("look"), {"type": "image", "data": "QUJD", "mimeType": "image/png"}]),
    response("e3", "e2", THINK, CALL, total=100, stop="toolUse"),
    result("e4", "e3", "c|1", text("a b"), bad=True),
    response("x1", "e4", text("half"), stop="aborted", total=900),
    response("e5", "x1", text("Done."), total=200),
    said("e6", "e5", "bashExecution", None, command="ls", output="a\n", exitCode=2),
    said("e7", "e6", "bashExecution", None, command="pw", output="", exitCode=0, excludeFromContext=True),
    entry("label", "e8", "e7", targetId="e5", label="here"),
    said("e9", "e8", "user", "more"),
    response("e10", "e9", text("More done."), total=300),
]


FILE = lines(HEADER, *ENTRIES)


def test_what_an_entry_says() -> None:
    session = read(FORMAT, FILE)
    assert FORMAT.recognise(Look.of(FILE))
    assert FORMAT.codec.validate(FILE) == []
    assert shape(session.context()) == [
        ("user", "normal", (Text("look"), Media("image/png", 4))),
        ("assistant", "normal", (Thinking("hm", "sig"), ToolUse("c|1", "ls", {"path": "."}))),
        ("tool", "normal", (ToolResult("c|1", (Text("a b"),), is_error=True),)),
        ("assistant", "normal", (Text("Done."),)),
        ("user", "meta", (Text("Ran `ls`\n```\na\n\n```\n\nCommand exited with code 2"),)),
        ("user", "normal", (Text("more"),)),
        ("assistant", "normal", (Text("More done."),)),
    ]
    unsent = [m.text for m in session.messages if m not in session.context()]
    assert unsent == ["half", "Ran `pw`\n(no output)"]
    assert [m.usage for m in session.messages if m.usage][-1] == Usage(285, 5, 10, 0)
    assert (session.id, session.cwd, session.model, session.title) == ("old", "/w/x", "m-1", "look")
    assert session.messages[0].time == 1779271236.42
    again = FORMAT.codec.write(session, session.context())
    assert (again.data, again.id) == (FILE, "old")


def test_the_newest_entry_is_the_leaf() -> None:
    fork = [said("f1", "e5", "user", "instead"), response("f2", "f1", text("as you like")), entry("custom", "f3", "f2")]
    session = read(FORMAT, lines(HEADER, *ENTRIES, *fork))
    assert [m.text for m in session.context()][-3:] == ["Done.", "instead", "as you like"]
    assert len(session.messages) - len(session.branch) == 4
    assert b"more" not in assert_exact(FORMAT, session, session.context()[:-1]).data


def test_a_compaction_keeps_from_its_first_kept_entry_on() -> None:
    about = {"summary": "we looked", "firstKeptEntryId": "e5", "tokensBefore": 205, "details": {"x": 1}}
    new = [entry("compaction", "k1", "e10", **about), said("e11", "k1", "user", "on")]
    session = read(FORMAT, lines(HEADER, *ENTRIES, *new))
    first, second = session.epochs
    assert first.ended_by is not None
    assert (first.ended_by.tokens_before, first.ended_by.summary, len(second.members)) == (205, "k1", 6)
    assert first.ended_by.kept_ids == ("e5", "e6", "e9", "e10")
    context = session.context()
    assert context[0].kind == "summary"
    assert context[0].text.startswith("The conversation history before this point")
    assert context[0].text.endswith("<summary>\nwe looked\n</summary>")
    assert [m.text for m in context[1:2]] == ["Done."]
    copied = assert_exact(FORMAT, session, context[:-1])
    assert b'"details": {"x": 1}' in copied.data
    assert b'"compaction"' in copied.data
    moved = assert_exact(FORMAT, session, (context[1], context[0], *context[2:]))
    assert b'"compaction"' not in moved.data
    none = [entry("compaction", "k1", "e10", **{**about, "firstKeptEntryId": "gone"}), new[1]]
    assert len(read(FORMAT, lines(HEADER, *ENTRIES, *none)).context()) == 2


def test_version_1_has_places_for_ids() -> None:
    plain = [{k: v for k, v in e.items() if k not in ("id", "parentId")} for e in ENTRIES]
    kept = {"type": "compaction", "timestamp": STAMP, "summary": "S", "firstKeptEntryIndex": 10, "tokensBefore": 9}
    header = {k: v for k, v in HEADER.items() if k != "version"}
    data = lines(
        header, *plain, kept, {k: v for k, v in said("", None, "user", "on").items() if k in ("type", "message")}
    )
    session = read(FORMAT, data)
    assert FORMAT.codec.validate(data) == []
    assert [m.text[-12:] for m in session.context()] == ["S\n</summary>", "more", "More done.", "on"]
    written = assert_exact(FORMAT, session, session.context()[:-1])
    header, *entries = map(json.loads, written.data.splitlines())
    assert (header["version"], header["id"]) == (3, written.id)
    assert len({each["id"] for each in entries}) == len(entries)
    assert [each["parentId"] for each in entries] == [None, *(each["id"] for each in entries[:-1])]


def test_what_extensions_put_in() -> None:
    more = [
        said("h1", "e10", "hookMessage", "from a hook"),
        entry("custom_message", "h2", "h1", customType="t", content=[text("note")], display=True),
        entry("branch_summary", "h3", "h2", fromId="e1", summary="was elsewhere\n"),
        entry("session_info", "h4", "h3", name="A name"),
        entry("brand_new", "h5", "h4"),
        response("h6", "h5", {"type": "strange", "x": 1}, "bare"),
    ]
    session = read(FORMAT, lines({**HEADER, "version": 2}, *ENTRIES, *more))
    tail = session.context()[-4:]
    assert [(m.kind, m.text[-20:]) for m in tail[:3]] == [
        ("meta", "from a hook"),
        ("meta", "note"),
        ("meta", "elsewhere\n</summary>"),
    ]
    assert tail[3].blocks == (Opaque("strange", {"type": "strange", "x": 1}), Opaque("str", "bare"))
    assert session.title == "A name"
    assert [str(warning) for warning in session.warnings] == [
        "1 entry of unknown type 'brand_new' is kept in the file, not shown"
    ]
    written = assert_exact(FORMAT, session, session.context()[1:])
    assert b'"role": "custom"' in written.data.replace(b'"role":"custom"', b'"role": "custom"')
    assert b"hookMessage" not in written.data
    assert b"brand_new" in written.data


def test_kept_entries_change_only_in_their_place_and_the_last_usage() -> None:
    session = read(FORMAT, FILE)
    node = Message("n", "user", (Text("Short."),), "summary")
    written = assert_exact(FORMAT, session, (node, *session.context()[3:]))
    entries = [json.loads(raw) for raw in written.data.splitlines()]
    assert [each["type"] for each in entries[1:4]] == ["model_change", "message", "message"]
    assert entries[2]["workbench_kind"] == "summary"
    assert [each["id"] for each in entries[3:]] == ["e5", "e6", "e7", "e8", "e9", "e10"]
    assert entries[3] == {**ENTRIES[5], "parentId": entries[2]["id"]}
    assert entries[-1]["message"]["usage"] == {**dict.fromkeys(usage(0), 0), "cost": {"total": 0}}
    assert not [m for m in read(FORMAT, written.data).messages if m.usage]
    assert written.home.startswith("~/.pi/agent/sessions/--w-x--/")


def test_an_own_export_is_known_by_its_mark_and_not_by_zeros() -> None:
    unfinished = said("z", "e10", "assistant", "…", usage=dict.fromkeys(usage(0), 0), stopReason="stop")
    interrupted = read(FORMAT, FILE + json.dumps(unfinished).encode())
    before = [m.usage for m in read(FORMAT, FILE).messages if m.usage]
    assert [m.usage for m in interrupted.messages if m.usage] == before
    session = read(FORMAT, FILE)
    node = Message("n", "user", (Text("Short."),), "summary")
    appended = read(FORMAT, FORMAT.codec.forms[0].write(session, (node, *session.context()[-2:])).data)
    assert not [m for m in appended.context() if m.usage]
    bills = [[m.usage for m in one.context(1) if m.usage] for one in (session, appended)]
    assert bills[0][:-1] == bills[1] != [], "what was billed in earlier epochs stays"


def test_recorded_dollars_are_read() -> None:
    paid = response("z", "e10", text("Dear."))
    paid["message"]["usage"]["cost"] = {"input": 0.5, "total": 0.75}
    session = read(FORMAT, FILE + json.dumps(paid).encode())
    assert [m.usage.cost for m in session.messages if m.usage] == [None, None, None, 0.75]
    assert session.context()[-1].usage == Usage(85, 5, 10, 0, cost=0.75)


def test_files_and_skills_before_a_request_are_not_the_persons_words() -> None:
    content = '<file name="/w/a.py">\nprint()\n</file>\n<skill name="s" location="/s">\nsteps\n</skill>\n\nexplain it'
    session = read(FORMAT, lines(HEADER, said("a", None, "user", content)))
    assert session.context()[0].user_text == "explain it"


def test_made_messages_come_back() -> None:
    session = read(FORMAT, FILE)
    made: list[tuple[str, str, Block]] = [
        ("user", "meta", Text("reminder")),
        ("assistant", "summary", Text("I go on.")),
        ("assistant", "normal", ToolUse("z", "ls", {})),
        ("tool", "normal", ToolResult("z", (Text("x"), Text("y")))),
        ("assistant", "normal", Thinking("so", "sig2")),
    ]
    messages = [Message(f"m{n}", role, (block,), kind) for n, (role, kind, block) in enumerate(made)]  # type: ignore[arg-type]
    assert_exact(FORMAT, session, (*messages, *session.context()[-2:]))


def test_odd_lines_are_told() -> None:
    odd = [7, {**ENTRIES[1], "parentId": "gone"}, said("z", "e2", "user", "end")]
    session = read(FORMAT, FILE + lines(*odd) + b"{broken")
    assert [str(warning).partition(":")[0] for warning in session.warnings] == [
        "line 13",
        "line 14",
        "line 14",
        "line 16",
    ]
    for data in (lines(HEADER), lines(HEADER, ENTRIES[0])):
        with pytest.raises(BadInput):
            read(FORMAT, data)


@pytest.mark.parametrize(
    ("values", "faults"),
    [
        (ENTRIES, ["The first line is not a session header with an id: pi would start a new session."]),
        ([{**HEADER, "version": 9}, *ENTRIES], ["Version 9 is unknown to pi."]),
        ([HEADER, *ENTRIES[:1]], ["The newest entry's branch has no message."]),
        ([HEADER, *ENTRIES, {**ENTRIES[1]}], ["Line 13 has the id of an earlier line."]),
        ([HEADER, *ENTRIES, said("z", "gone", "user", "x")], ["Line 13 names a parent that is not before it."]),
        ([HEADER, *ENTRIES, said("z", "e10", "user", "")], ["Line 13 has a message without content."]),
        (
            [HEADER, *ENTRIES, said("z", "e10", "robot", "x")],
            ["Line 13 has a message with a role that pi does not know."],
        ),
        (
            [HEADER, *ENTRIES, said("z", "e10", "assistant", [])],
            ["Line 13 has a response without usage, which pi requires."],
        ),
        (
            [HEADER, *ENTRIES, said("z", "e10", "assistant", "x")],
            ["Line 13 has a message whose content is not a list."],
        ),
        (
            [HEADER, *ENTRIES, result("z", "e10", "c9")],
            ["Line 13 has a result without its call before it."],
        ),
        (
            [HEADER, *ENTRIES, response("z", "e10", text("x"), total=90_000)],
            ["Line 13 claims 90000 tokens, more than the context can have."],
        ),
        (
            [
                HEADER,
                *ENTRIES,
                response("y", "e10", text("x"), total=90_000),
                entry("compaction", "z", "y", summary="S", firstKeptEntryId="e9"),
            ],
            [],
        ),
        ([HEADER, *ENTRIES, entry("compaction", "z", "e10")], ["Line 13 is a compaction without a summary."]),
        ([HEADER, *ENTRIES, 7], ["Line 13 is not a JSON object, so pi would skip it."]),
    ],
)
def test_the_rules_find_each_fault(values: list[Any], faults: list[str]) -> None:
    assert FORMAT.codec.validate(lines(*values)) == faults


def test_c_an_appended_compaction_counts_the_answer_that_the_session_ends_with() -> None:
    """pi counts as it does live: the prompt of the newest call and what was answered. The call below was 100 in all."""
    last = response("z1", "e10", text("done"), total=100)
    session = read(FORMAT, lines(HEADER, *ENTRIES, last))
    node = Message("n", "user", (Text("Short."),), "summary")
    (appended,) = FORMAT.codec.forms
    newest = json.loads(appended.write(session, (node, *session.context()[-1:])).data.splitlines()[-1])
    assert newest["type"] == "compaction"
    assert newest["tokensBefore"] == last["message"]["usage"]["totalTokens"] == 100
