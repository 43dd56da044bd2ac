"""Tasks of Cline and Roo: what their tags hide, results as texts, and histories written back with those tags."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.conformance.formats import assert_exact
from workbench.formats.format import no_progress
from workbench.formats.read_back import shape
from workbench.formats.roo_cline import FORMAT, recognise_folder
from workbench.formats.roo_cline.read import read_folder
from workbench.session import Compaction, Message, Session, Text, Thinking, ToolResult, ToolUse, Usage, pairs_of

Json = dict[str, Any]

DETAILS = "<environment_details>\n# Current Workspace Directory (/w) Files\n<model>m-1</model>\n</environment_details>"


def say(role: str, *content: Any, **flags: Any) -> Json:
    blocks = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    return {"role": role, "content": blocks, "ts": 1_700_000_000_000, **flags}


def call(id: str) -> Json:
    return {"type": "tool_use", "id": id, "name": "read_file", "input": {"path": id}}


def result(id: str, text: str) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": text}


def put(text: str) -> Text:
    """What the extension put there."""
    return Text(text, injected=True)


def read(*items: Any) -> Session:
    return FORMAT.codec.read(Path("api_conversation_history.json"), json.dumps(items, indent=1).encode(), no_progress)


def texts(session: Session, epoch: int | None = None) -> list[str]:
    return [message.text for message in session.context(epoch)]


NATIVE = (
    say("user", "<task>\nfirst\n</task>", DETAILS),
    say("assistant", {"type": "reasoning", "text": "hm"}, "look", call("t1")),
    say("user", result("t1", "found"), DETAILS),
    say("assistant", "one"),
    say("user", "<feedback>more</feedback>"),
    say(
        "assistant",
        "two",
        modelInfo={"modelId": "m-2"},
        metrics={"tokens": {"prompt": 9, "completion": 2, "cached": 4}},
    ),
)


def test_a_real_folder_tells_more_than_its_history(shared: Path) -> None:
    path = shared / "sessions/roo-cline/roo-natural-already-condensed"
    assert recognise_folder(path)
    assert not recognise_folder(path.parent)
    session = read_folder(path, no_progress)
    assert session.id == path.name
    assert session.epochs[0].ended_by == Compaction("condense", 124669, "m2", 1758845305.82)
    assert list(session.epochs[0].members) == [0, 2, 3, 4], "what it kept was in the context before, too"
    assert [m.usage.context if m.usage else None for m in session.messages if m.role == "assistant"][1:] == [
        *(
            117_888,
            45_726,
            50_994,
            53_617,
            54_177,
            None,
            62_435,
            63_092,
            64_154,
            80_511,
            96_868,
            99_479,
            100_593,
            101_692,
        )
    ]
    assert [m.id for m in session.messages if m.usage and m.usage.absurd] == ["m4"], "billed for what is gone"
    assert (session.context()[1].role, session.context()[1].kind) == ("assistant", "summary")
    assert session.cwd == "c:/dev/roo-code"
    assert session.model == "anthropic/claude-sonnet-4"


def test_what_the_user_typed_starts_a_round(shared: Path) -> None:
    path = shared / "sessions/roo-cline/roo-natural-already-condensed"
    session = read_folder(path, no_progress)
    assert [m.id for m in session.messages if m.starts_round] == ["m1", "m5", "m7", "m9", "m15", "m29"]
    assert sum(m.kind == "meta" for m in session.messages) == 9


def test_what_a_history_says() -> None:
    session = read(*NATIVE)
    assert shape(session.context()) == [
        ("user", "normal", (put("<task>\n"), Text("first"), put("\n</task>"), put(DETAILS))),
        ("assistant", "normal", (Thinking("hm"), Text("look"), ToolUse("t1", "read_file", {"path": "t1"}))),
        ("tool", "normal", (ToolResult("t1", (Text("found"),)), put(DETAILS))),
        ("assistant", "normal", (Text("one"),)),
        ("user", "normal", (put("<feedback>"), Text("more"), put("</feedback>"))),
        ("assistant", "normal", (Text("two"),)),
    ]
    assert session.title.startswith("first")
    assert (session.model, session.cwd) == ("m-2", "/w")
    assert session.messages[5].usage == Usage(5, 2, cache_read=4)


def test_what_a_file_that_was_read_says_is_no_folder_of_the_session() -> None:
    """The extension's own source holds the words by which it tells the folder."""
    source = "12 | `<environment_details>\n13 | # Current Working Directory (${cwd}) Files\n14 | <model>m-9</model>"
    session = read(say("user", "look", DETAILS), say("assistant", "ok"), say("user", f"[read_file] Result:\n{source}"))
    assert (session.model, session.cwd) == ("m-1", "/w")


def test_results_as_texts_answer_their_calls_in_order() -> None:
    session = read(
        say("user", "<task>x</task>"),
        say("assistant", call("a"), call("b"), call("c")),
        say("user", "[read_file for 'a'] Result:", "A", "more of A", "[read_file for 'b'] Result:", "B", DETAILS),
        say("assistant", "done"),
        say("user", "[read_file for 'z'] Result:", "text protocol", DETAILS),
    )
    found = session.messages[2]
    assert found.role == "tool"
    assert [(r.call_id, r.text) for r in found.results] == [
        ("a", "[read_file for 'a'] Result:\nA\nmore of A"),
        ("b", "[read_file for 'b'] Result:\nB"),
    ]
    assert found.blocks[-1] == put(DETAILS)
    assert [(p.id, p.result) for p in pairs_of(session.messages)] == [("a", 2), ("b", 2), ("c", None)]
    assert (session.messages[4].role, session.messages[4].kind) == ("user", "meta")
    assert_exact(FORMAT, session, session.context())


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["plain words", DETAILS], "plain words"),
        (
            ["<task>\nlook at 'a' (see below)\n</task>\n\n<file_content path=\"a\">\nx\n</file_content>"],
            "look at 'a' (see below)",
        ),
        (
            [
                "[write_to_file for 'a'] Result:",
                "The user denied this operation and provided the following feedback:\n<feedback>\nnot a\n</feedback>",
            ],
            "not a",
        ),
        (
            ["[run] Result:", "A log.\nThe user provided the following feedback:\n<feedback>\nstop it\n</feedback>"],
            "stop it",
        ),
        (["[ask_followup_question for 'a or b?'] Result:", "<answer>\nb\n</answer>"], "b"),
        (["[read_file for 'a'] Result:", "<answer>\nonly a file\n</answer>", DETAILS], ""),
        (
            [
                "[read_file for 'a'] Result:",
                "a file",
                DETAILS,
                "New instructions for task continuation:\n<user_message>\ngo on\n</user_message>",
            ],
            "go on",
        ),
        (["[ERROR] You did not use a tool.", DETAILS], ""),
    ],
)
def test_whose_words_a_message_holds(parts: list[str], said: str) -> None:
    session = read(say("user", "<task>x</task>"), say("assistant", "y"), say("user", *parts), say("assistant", "z"))
    message = session.messages[2]
    assert message.user_text == said
    assert message.kind == ("normal" if said else "meta")
    assert "".join(b.text for b in message.blocks if isinstance(b, Text)) == "".join(parts)
    assert_exact(FORMAT, session, session.context())
    anew = replace(message, source=())
    again = FORMAT.codec.read(Path("x"), FORMAT.codec.write(session, [*session.messages[:2], anew]).data, no_progress)
    assert again.messages[2].user_text == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"status":"denied","feedback":"not that way"}', "not that way"),
        ('{"status":"denied","message":"The user denied this operation."}', ""),
        ('{"status":', ""),
        (
            "ok\nThe user provided the following context:\n<feedback>\nbut tidy up\n</feedback>",
            "but tidy up",
        ),
        ("<feedback>\nonly a file\n</feedback>", ""),
    ],
)
def test_what_was_said_about_a_call_stands_in_its_result(text: str, said: str) -> None:
    session = read(say("user", "<task>x</task>"), say("assistant", call("t1")), say("user", result("t1", text)))
    assert [r.user_text for r in session.messages[2].results] == [said]


T = 1_700_000_000_000
FILE = "[read_file for 'a'] Result:"


def test_what_cline_replaced_and_left_out_stands_beside_its_history(tmp_path: Path) -> None:
    """Two reads of a file were replaced by notes, later a third, with which two messages went."""
    items = [
        say("user", "0", ts=T + 1_000),
        say("assistant", "1", ts=T + 2_000),
        say("user", FILE, "long", ts=T + 3_000),
        say("assistant", "3", ts=T + 4_000),
        say("user", FILE, "long", ts=T + 5_000),
        say("assistant", "5", ts=T + 6_000),
        say("user", "6", ts=T + 7_000),
    ]
    chat = [
        request(T + at, 9, conversationHistoryIndex=last)
        for at, last in ((1_500, -1), (3_500, 1), (5_500, 3), (7_500, 5))
    ]
    task = tmp_path / "tasks/17"
    task.mkdir(parents=True)
    (tmp_path / "state").mkdir()

    def change(at: int, text: str) -> list[Any]:
        return [T + at, "text", [text], [[]]]

    history = [
        [2, [2, [[1, [change(3_500, "see below")]]]]],
        [4, [2, [[1, [change(5_500, "gone")]]]]],
        [1, [1, [[0, [change(5_500, "1 (some was left out)")]]]]],
        ["x", [2, [[0, "y"]]]],
        [99, [2, [[0, [change(5_500, "no such message")]]]]],
        7,
    ]
    (task / "context_history.json").write_text(json.dumps(history))
    (tmp_path / "state/taskHistory.json").write_text(
        json.dumps([{"id": "17", "conversationHistoryDeletedRange": [2, 3]}])
    )
    session = folder_of(task, items, chat)
    assert [texts(session, epoch.number) for epoch in session.epochs] == [
        ["0", "1", f"{FILE}\nlong", "3", f"{FILE}\nlong"],
        ["0", "1", f"{FILE}\nsee below", "3", f"{FILE}\nlong", "5", "6"],
        ["0", "1 (some was left out)", f"{FILE}\ngone", "5", "6"],
    ]
    assert [epoch.ended_by for epoch in session.epochs] == [
        Compaction("files read again", time=T / 1000 + 3.5, way="clearing"),
        Compaction("truncation", time=T / 1000 + 5.5, way="removal"),
        None,
    ]
    assert [sorted(session.messages[n].id for n in epoch.copies) for epoch in session.epochs] == [
        [],
        ["m3~1"],
        ["m2~1", "m5~1"],
    ]
    assert [m.usage.context for m in session.messages if m.usage] == [9, 9, 9], "no call gave what stands there anew"
    assert list(session.branch) == list(range(7))
    for context in (session.context(), session.context(2)):
        assert_exact(FORMAT, session, context)


CONDENSED = (
    say("user", "first", condenseParent="c1"),
    say("assistant", "a", call("t1"), condenseParent="c1"),
    say("user", "summary one", isSummary=True, condenseId="c1"),
    say("user", result("t1", "orphan")),
    say("assistant", "b"),
)


def test_a_summary_of_the_user_is_a_fresh_start() -> None:
    session = read(*CONDENSED)
    assert [list(epoch.members) for epoch in session.epochs] == [[0, 1], [2, 4]]
    assert session.epochs[0].ended_by == Compaction("condense", None, "m3", 1_700_000_000.0)
    assert texts(session) == ["summary one", "b"]
    assert FORMAT.codec.validate(json.dumps(CONDENSED).encode()) == [
        "Message 4 has the result t1, which answers no call of the message before it."
    ]


def test_a_summary_of_the_assistant_leaves_the_first_message() -> None:
    session = read(
        say("user", "first"), say("assistant", "x"), say("assistant", "sum", isSummary=True), say("user", "y")
    )
    assert texts(session) == ["first", "sum", "y"]
    assert_exact(FORMAT, session, session.context())


def test_a_sliding_window_hides_what_names_its_marker() -> None:
    session = read(
        say("user", "first"),
        say("assistant", "hidden", truncationParent="w"),
        say("user", "also", truncationParent="w"),
        say("user", "[2 messages hidden]", isTruncationMarker=True, truncationId="w"),
        say("assistant", "seen", truncationParent="gone"),
    )
    assert [texts(session, epoch) for epoch in (1, 2)] == [
        ["first", "hidden", "also"],
        ["first", "[2 messages hidden]", "seen"],
    ]
    assert session.epochs[0].ended_by == Compaction("sliding window", None, None, 1_700_000_000.0, "removal")
    assert_exact(FORMAT, session, session.context(1))


def test_clines_deleted_range_is_in_the_index(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "17"
    task.mkdir(parents=True)
    (task / "api_conversation_history.json").write_text(json.dumps([say("user", str(n)) for n in range(5)]))
    (tmp_path / "state").mkdir()
    index = [{"id": "16"}, {"id": "17", "task": "the task", "conversationHistoryDeletedRange": [1, 2]}]
    (tmp_path / "state/taskHistory.json").write_text(json.dumps(index))
    session = read_folder(task, no_progress)
    assert [texts(session, epoch) for epoch in (1, 2)] == [["0", "1", "2"], ["0", "3", "4"]]
    assert (session.id, session.title) == ("17", "the task")
    with pytest.raises(BadInput, match="cannot be read"):
        read_folder(tmp_path, no_progress)


def request(ts: int, sent: int | None = None, read: int = 0, written: int = 0, **more: Any) -> Json:
    said = {"request": "…", **({} if sent is None else {"tokensIn": sent, "tokensOut": 7, "cost": 0.1})}
    said |= {"cacheReads": read, "cacheWrites": written, **more.pop("said", {})}
    return {"ts": ts, "type": "say", "say": "api_req_started", "text": json.dumps(said), **more}


def folder_of(task: Path, items: list[Json], chat: list[Json]) -> Session:
    task.mkdir(exist_ok=True)
    (task / "api_conversation_history.json").write_text(json.dumps(items))
    (task / "ui_messages.json").write_text(json.dumps(chat))
    return read_folder(task, no_progress)


def usages(session: Session) -> list[Usage | None]:
    return [message.usage for message in session.messages if message.role == "assistant"]


OPENAI, ANTHROPIC = {"said": {"apiProtocol": "openai"}}, {"said": {"apiProtocol": "anthropic"}}


@pytest.mark.parametrize(
    ("one", "usage"),
    [
        (request(1, 100, 60, 30), Usage(100, 7, 60, 30, cost=0.1)),  # Cline, and Roo of old: beside the cache
        (request(1, 100, 60, 30, **OPENAI), Usage(10, 7, 60, 30, cost=0.1)),
        (request(1, 90, 60, 30, **ANTHROPIC), Usage(0, 7, 60, 30, cost=0.1)),  # of late among them
        (request(1, 89, 60, 30, **ANTHROPIC), Usage(89, 7, 60, 30, cost=0.1)),
        (request(1), None),
        (request(1, 0), None),
        ({**request(1), "text": "no JSON"}, None),
        ({**request(1), "text": "[1]"}, None),
    ],
)
def test_what_a_request_was_billed(tmp_path: Path, one: Json, usage: Usage | None) -> None:
    items = [say("user", "a", ts=2), say("assistant", "b", ts=5)]
    assert usages(folder_of(tmp_path, items, [one])) == [usage]


@pytest.mark.parametrize(
    ("times", "billed"),
    [
        ([(10, 1), (29, 3), (31, 4)], [1, None, 4]),  # the second failed as it began: no other's figures are its own
        ([(19, 1), (20, 2), (39, 3)], [1, 2, 3]),  # said as soon as the answer before it was kept
        ([(10, 1), (11, 2), (40, 3)], [2, None, None]),  # tried again; and one whose answer is not kept yet
    ],
)
def test_a_request_is_that_of_the_answer_behind_it(
    tmp_path: Path, times: list[tuple[int, int]], billed: list[int | None]
) -> None:
    items = [say("user", "a", ts=11), *(say("assistant", "b", ts=ts) for ts in (20, 30, 40))]
    chat = [request(ts, None if sent == 3 and ts == 29 else sent) for ts, sent in times]
    found = [usage.context if usage else None for usage in usages(folder_of(tmp_path, items, chat))]
    assert found == billed


def test_cline_says_which_message_a_request_follows(tmp_path: Path) -> None:
    items = [say("user", "a"), say("assistant", "b"), say("user", "c"), say("assistant", "d")]
    bare = [{key: value for key, value in item.items() if key != "ts"} for item in items]
    chat = [request(1, 5, conversationHistoryIndex=-1), request(2, 9, conversationHistoryIndex=1)]
    assert usages(folder_of(tmp_path, bare, chat)) == [Usage(5, 7, cost=0.1), Usage(9, 7, cost=0.1)]


def test_an_export_in_a_copy_of_the_folder_takes_no_bill_of_the_longer_context(tmp_path: Path) -> None:
    items = [say("user", "a", ts=2), say("assistant", "b", ts=5), say("user", "c", ts=6), say("assistant", "d", ts=9)]
    chat = [request(1, 50), request(6, 90)]
    session = folder_of(tmp_path, items, chat)
    assert [usage.context for usage in usages(session) if usage] == [50, 90]
    unchanged = json.loads(FORMAT.codec.write(session, session.context()).data)
    assert unchanged == items
    shorter = json.loads(assert_exact(FORMAT, session, session.context()[2:]).data)
    shorter += [say("user", "e", ts=11), say("assistant", "f", ts=20)]
    assert usages(folder_of(tmp_path, shorter, [*chat, request(10, 30)])) == [None, Usage(30, 7, cost=0.1)]


def test_the_export_hides_what_the_summary_stands_for() -> None:
    roos = (*NATIVE[:5], say("assistant", "two"))
    session = read(*roos)
    summary = Message("s", "user", (Text("in short"),), "summary")
    reply = Message("r", "assistant", (Text("Ok."),), "summary")
    written = assert_exact(FORMAT, session, (summary, reply, *session.messages[4:]))
    items = json.loads(written.data)
    assert [item.get("condenseParent") for item in items[:5]] == [items[4]["condenseId"]] * 4 + [None]
    assert items[4]["isSummary"] is True
    assert items[5]["workbench_kind"] == "summary"
    assert items[6:] == [roos[4], {**roos[5], "workbench_spent": True}]
    exported = read(*items)
    shorter = Message("s2", "user", (Text("shorter"),), "summary")
    again = assert_exact(FORMAT, exported, (shorter, *exported.context()[-1:]))
    parents = [item.get("condenseParent") for item in json.loads(again.data)]
    assert parents[0] == items[4]["condenseId"] != parents[5]


def test_clines_history_keeps_nothing_that_only_roos_tags_would_hide() -> None:
    session = read(*NATIVE)
    summary = Message("s", "user", (Text("in short"),), "summary")
    written = assert_exact(FORMAT, session, (summary, *session.messages[4:]))
    assert len(json.loads(written.data)) == 3


def test_a_summary_behind_other_messages_hides_nothing() -> None:
    session = read(*CONDENSED)
    context = session.context()
    later = Message("s", "user", (Text("later"),), "summary")
    written = assert_exact(FORMAT, session, (session.messages[0], context[0], later, context[1]))
    assert not any(item.get("isSummary") for item in json.loads(written.data))


@pytest.mark.parametrize(
    ("items", "faults"),
    [
        ([], ["There are no messages."]),
        ([{"role": "system", "content": "x"}], ["Message 1 is neither a user nor an assistant message."]),
        ([say("user", "x", ts="now")], ["Message 1 has a ts that is not a number."]),
        ([say("assistant", "x")], ["The first message that is sent is not the user's."]),
        (
            [say("user", "x", condenseParent="gone")],
            ["Message 1 is hidden by the summary gone, which is not in the history."],
        ),
        (
            [say("user", "x"), say("user", result("t", "r"))],
            ["Message 2 has the result t, which answers no call of the message before it."],
        ),
        ([say("user")], ["Message 1 has no content."]),
        ([{"role": "user", "content": 4}], ["Message 1 has content that is neither text nor a list of blocks."]),
        ([say("user", {"no": "type"})], ["Message 1 has a block without a type."]),
        (
            [say("user", "x", isSummary=True, condenseId="c"), say("user", "y", isSummary=True, condenseId="c")],
            ["Message 2 has the condenseId of another summary."],
        ),
    ],
)
def test_the_validator_finds(items: list[Json], faults: list[str]) -> None:
    assert FORMAT.codec.validate(json.dumps(items).encode()) == faults
