"""Augment sessions, built from the description of the format, without a real file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base.errors import BadInput
from workbench.conformance.building import session_of
from workbench.conformance.drawn import dialogues
from workbench.conformance.formats import read
from workbench.formats import anthropic_messages, openai_chat, registry
from workbench.formats.augment import FORMAT
from workbench.formats.look import Look
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import (
    Compaction,
    Epoch,
    Media,
    Message,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)

IDE = {"id": 2, "type": 4, "ide_state_node": {"workspace_folders": ["/w"]}}


def text_node(text: str) -> dict[str, object]:
    return {"id": 0, "type": 0, "text_node": {"content": text}}


def result_node(id: str, content: str, **more: object) -> dict[str, object]:
    return {"id": 1, "type": 1, "tool_result_node": {"tool_use_id": id, "content": content, "is_error": False, **more}}


def call_node(id: str, name: str, input_json: str) -> dict[str, object]:
    return {
        "id": 1,
        "type": 5,
        "content": "",
        "tool_use": {"tool_use_id": id, "tool_name": name, "input_json": input_json},
    }


def usage_node(history: int) -> dict[str, object]:
    counts = {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 40}
    return {"id": 9, "type": 10, "token_usage": {**counts, "chat_history_tokens": history}}


def entry(
    number: float, request: str, requests: list[object], response: str, responses: list[object], **more: object
) -> dict[str, object]:
    return {
        "exchange": {
            "request_message": request,
            "response_text": response,
            "request_id": f"r{number}",
            "request_nodes": requests,
            "response_nodes": responses,
        },
        "completed": True,
        "sequenceId": number,
        "finishedAt": "2026-02-03T04:05:06.000Z",
        "changedFiles": [],
        "unknownKey": {"kept": [1, 2]},
        **more,
    }


SUMMARY_NODE = {
    "id": 0,
    "type": 10,
    "history_summary_node": {
        "summary_text": "we began",
        "summarization_request_id": "q",
        "history_middle_abridged_text": "<user>\nbefore\n</user>",
        "history_end": [{"request_message": "late"}],
        "message_template": "{summary}",
    },
}
TEXT_NODE = {"id": 0, "type": 0, "content": "I look."}
ENTRIES = [
    entry(
        1,
        "first",
        [text_node("first"), IDE],
        "I look.",
        [call_node("t1", "view", '{"path": "a.py"}'), TEXT_NODE, usage_node(50_000)],
    ),
    entry(
        2,
        "",
        [result_node("t1", "source"), IDE],
        "Done.",
        [{"id": 0, "type": 0, "content": "Done."}, usage_node(52_000)],
    ),
    entry(
        3,
        "go on",
        [SUMMARY_NODE, text_node("go on"), {"id": 1, "type": 2, "image_node": {"image_data": "QUJDRA==", "format": 1}}],
        "",
        [
            {"id": 0, "type": 0, "content": ""},
            call_node("t2", "launch-process", "{broken"),
            {"id": 3, "type": 8, "thinking": {"summary": "", "content": "hm", "encrypted_content": "sig"}},
            {"id": 4, "type": 9, "whatever": 1},
            usage_node(9_000),
        ],
    ),
    entry(
        4.5,
        "also this",
        [
            text_node("also this"),
            result_node(
                "t2",
                "dup",
                content_nodes=[{"type": 1, "text_content": "out"}, {"type": 2, "image_content": {"image_data": "12"}}],
            ),
        ],
        "All done.",
        [{"id": 0, "type": 0, "content": "All done."}],
    ),
    entry(5, "unfinished", [text_node("unfinished")], "", [], completed=False),
]


def document(entries: list[object] = ENTRIES, **more: object) -> bytes:
    top = {
        "sessionId": "old-id",
        "created": "2026-02-03T04:00:00.000Z",
        "modified": "2026-02-03T04:05:06.000Z",
        "chatHistory": entries,
        "agentState": {
            "userGuidelines": "be kind",
            "workspaceGuidelines": "",
            "agentMemories": "- likes tests\n- hates sleeps",
            "modelId": "model-x",
            "userEmail": "someone@example.org",
        },
        "customTitle": "A day",
        "newKey": {"a": [1.50, "é"]},
        **more,
    }
    return json.dumps(top, indent=2, ensure_ascii=False).encode()


@pytest.fixture
def session() -> Session:
    return read(FORMAT, document())


def test_entries_become_messages(session: Session) -> None:
    summary = (
        "<supervisor>\n<summary request_id=q>\nwe began\n</summary>\n<middle_part_abridged>\n<user>\nbefore\n</user>\n"
        "</middle_part_abridged>\n</supervisor>"
    )
    assert [(m.id, *rest) for m, rest in zip(session.messages, shape(session.messages), strict=True)] == [
        ("r1:request", "user", "normal", (Text("first"), Opaque("ide_state_node", IDE))),
        ("r1:response", "assistant", "normal", (Text("I look."), ToolUse("t1", "view", {"path": "a.py"}))),
        ("r2:request", "tool", "normal", (ToolResult("t1", (Text("source"),)), Opaque("ide_state_node", IDE))),
        ("r2:response", "assistant", "normal", (Text("Done."),)),
        (
            "r3:summary",
            "user",
            "summary",
            (Text(summary), Opaque("history_end", {"history_end": [{"request_message": "late"}]})),
        ),
        ("r3:request", "user", "normal", (Text("go on"), Media("image", 8))),
        (
            "r3:response",
            "assistant",
            "normal",
            (
                Thinking("hm", "sig"),
                ToolUse("t2", "launch-process", "{broken"),
                Opaque("response node 9", {"id": 4, "type": 9, "whatever": 1}),
            ),
        ),
        ("r4.5:request", "tool", "normal", (ToolResult("t2", (Text("out"), Media("image", 2))), Text("also this"))),
        ("r4.5:response", "assistant", "normal", (Text("All done."),)),
        ("r5:request", "user", "normal", (Text("unfinished"),)),
    ]
    assert [m.source[0] for m in session.messages] == [0, 0, 1, 1, 2, 2, 2, 3, 3, 4]
    assert session.messages[1].usage == Usage(10, 20, 30, 40)
    assert session.messages[1].time == 1770091506
    ended_by = Compaction(tokens_before=100, summary="r3:summary", time=1770091506)
    assert session.epochs == (Epoch(1, [0, 1, 2, 3], ended_by), Epoch(2, [4, 5, 6, 7, 8]))
    assert (session.id, session.title, session.model) == ("old-id", "A day", "model-x")
    assert session.memories == "- likes tests\n- hates sleeps"
    assert session.system == "be kind"
    assert not session.warnings


def test_personal_data_stays_in_the_file(session: Session) -> None:
    assert "someone@" not in repr((session.title, session.facts, session.messages, session.system))
    written = FORMAT.codec.write(session, session.messages[2:4])
    assert b"someone@example.org" in written.data
    assert Loss(LossKind.EMAIL_KEPT) in written.losses


def test_flagged_summaries_and_their_versions() -> None:
    flagged = entry(2, "sum", [text_node("sum")], "Ok.", [], isHistorySummary=True, historySummaryVersion=3)
    resumed = entry(3, "x", [text_node("x")], "y", [], isHistorySummary=False, historySummaryVersion=0)
    session = read(FORMAT, document([ENTRIES[0], flagged, resumed]))
    assert [m.kind for m in session.messages] == ["normal", "normal", "summary", "summary", "normal", "normal"]
    assert session.facts.summary_versions == {"r2:request": 3, "r2:response": 3}
    assert session.context() == session.messages[2:]
    written = FORMAT.codec.write(session, session.messages[2:4])
    assert FORMAT.codec.validate(written.data) == []
    assert json.loads(written.data)["chatHistory"] == [{**flagged, "isHistorySummary": False, "workbench_spent": True}]


def test_text_that_the_agent_added_is_no_user_request() -> None:
    summary = "<supervisor>\n<summary>\nold\n</summary>\n</supervisor>"
    entries = [
        entry(1, "", [text_node(summary)], "Ok. I will continue the conversation from this point.", []),
        entry(2, "", [text_node("a nudge")], "well", []),
        entry(3, "", [text_node(summary)], "I go on with the task.", []),
    ]
    session = read(FORMAT, document(entries))
    assert [m.kind for m in session.messages] == ["summary", "summary", "meta", "normal", "summary", "normal"]


def test_silent_truncation_is_warned_of() -> None:
    entries = [
        entry(n, "x", [text_node("x")], "y", [usage_node(size)])
        for n, size in enumerate([100_000, 122_579, 34_205, 30_000])
    ]
    session = read(FORMAT, document(entries))
    assert [str(w) for w in session.warnings] == [
        "between exchanges 2 and 3 the history sent fell from 122579 to 34205 tokens without a summary: auggie"
        " dropped the oldest part without a record"
    ]


def test_a_compacted_session_holds_what_auggie_sends(session: Session) -> None:
    node = Message("n", "user", (Text("<supervisor>\n<summary>\nshort\n</summary>\n</supervisor>"),), "summary")
    answer = Message(
        "a",
        "assistant",
        (Text("Ok. I will continue the conversation from this point."), ToolUse("t1", "view", {"path": "a.py"})),
        "summary",
    )
    context = [m for m in session.messages[2:9] if m.id != "r3:summary"]
    written = FORMAT.codec.write(session, [node, answer, *context])
    assert FORMAT.codec.validate(written.data) == []
    after, before = json.loads(written.data), json.loads(document())
    assert after["sessionId"] == written.id != "old-id"
    assert written.name == f"{written.id}.json"
    assert after["modified"] > before["modified"]
    assert {k: v for k, v in after.items() if k not in ("sessionId", "modified", "chatHistory")} == {
        k: v for k, v in before.items() if k not in ("sessionId", "modified", "chatHistory")
    }
    new, *others = after["chatHistory"]
    assert [e["sequenceId"] for e in after["chatHistory"]] == [1, 2, 3, 4.5]
    assert "isHistorySummary" not in new
    assert new["completed"] is True
    assert new["exchange"]["request_message"] == node.text
    assert new["exchange"]["request_nodes"] == [{**text_node(node.text), "id": 1}]
    assert [n["type"] for n in new["exchange"]["response_nodes"]] == [0, 5]
    assert others[0] == ENTRIES[1]
    assert others[1]["exchange"]["request_nodes"] == ENTRIES[2]["exchange"]["request_nodes"][1:]  # type: ignore[index]
    assert others[1]["unknownKey"] == {"kept": [1, 2]}
    assert json.dumps(ENTRIES[1], indent=2, ensure_ascii=False).replace("\n", "\n    ").encode() in written.data
    assert Loss(LossKind.UNFINISHED_EXCHANGES) in written.losses
    again = read(FORMAT, written.data)
    assert shape(again.messages) == shape([node, answer, *context])


def test_a_summary_node_after_a_new_summary_becomes_text(session: Session) -> None:
    node = Message("n", "user", (Text("<supervisor>\n<summary>\nshort\n</summary>\n</supervisor>"),), "summary")
    answer = Message("a", "assistant", (Text("Ok. I will continue."),), "summary")
    for way in ("augment", "augment:flagged", "augment:inserted"):
        written = registry.target(way).write(session, [node, answer, *session.context()])
        again = shape(read(FORMAT, written.data).context())
        expected = [("user", "summary", session.messages[4].blocks[:1]), *shape(session.context()[1:])]
        assert again[:3] + again[4:] == [*shape([node, answer]), *expected]
        assert again[3][:2] == ("assistant", "summary")  # every exchange has a response
        assert LossKind.ANSWER_INSERTED in {loss.kind for loss in written.losses}


def test_usage_of_a_longer_context_is_stale(session: Session) -> None:
    """A new summary at the start is later than the usage after it; without one, a mark shows that usage is stale."""
    assert [message.usage is None for message in session.context()] == [True, True, False, True, True]
    written = FORMAT.codec.write(session, session.context()[1:])
    again = read(FORMAT, written.data)
    assert [message.usage for message in again.messages] == [None] * 4
    grown = json.loads(written.data)
    grown["chatHistory"].append(entry(9, "more", [text_node("more")], "ok", [usage_node(7)]))
    assert read(FORMAT, json.dumps(grown).encode()).messages[-1].usage == Usage(10, 20, 30, 40)


def test_text_of_the_editor_and_the_supervisor_is_not_user_text() -> None:
    nodes = [text_node("go on"), text_node("open: a.py"), text_node("<supervisor>Be quick.</supervisor>\n")]
    new_entry = entry(1, "go on\n", nodes, "ok", [])
    wrapped = entry(2, "<supervisor>Be quick.</supervisor>\nand now?", [], "ok", [])
    first, _, second, _ = read(FORMAT, document([new_entry, wrapped])).messages
    assert first.blocks == (
        Text("go on"),
        Text("open: a.py", injected=True),
        Text("<supervisor>Be quick.</supervisor>\n", injected=True),
    )
    assert second.blocks == (Text("<supervisor>Be quick.</supervisor>\n", injected=True), Text("and now?"))
    assert [first.user_text, second.user_text] == ["go on", "and now?"]


def test_a_shortened_result_replaces_the_old_one(session: Session) -> None:
    messages = list(session.context(1))
    messages[2] = Message("short", "tool", (ToolResult("t1", (Text("so…"),)),))
    written = FORMAT.codec.write(session, messages)
    assert FORMAT.codec.validate(written.data) == []
    history = json.loads(written.data)["chatHistory"]
    assert (history[0], len(history)) == (ENTRIES[0], 2)
    assert history[1]["exchange"]["request_nodes"][0]["tool_result_node"]["content"] == "so…"
    assert history[1]["exchange"]["response_nodes"] == ENTRIES[1]["exchange"]["response_nodes"]  # type: ignore[index]
    assert history[1]["sequenceId"] == 2


def test_a_summary_without_an_answer_gets_one(session: Session) -> None:
    plain = Message("n", "system", (Text("what happened"),), "summary")
    written = FORMAT.codec.write(session, [plain, *session.messages[5:9]])
    again = read(FORMAT, written.data)
    assert [m.kind for m in again.messages[:2]] == ["summary", "summary"]
    assert "<summary>\nwhat happened\n</summary>" in again.messages[0].text
    assert FORMAT.codec.validate(written.data) == []


def test_an_entry_that_is_no_exchange_is_kept() -> None:
    session = read(FORMAT, document([7, ENTRIES[3], {"completed": True}, ENTRIES[0]]))
    assert [m.kind for m in session.messages] == ["meta", "normal", "normal", "meta", "normal", "normal"]
    assert len(session.warnings) == 2
    new_message = Message("x", "assistant", (Text("made"),))
    written = FORMAT.codec.write(session, [session.messages[0], new_message, session.messages[3]])
    history = json.loads(written.data)["chatHistory"]
    assert (history[0], history[2]) == (7, {"completed": True})
    assert history[1]["exchange"]["response_text"] == "made"


def test_an_empty_exchange_is_a_message() -> None:
    data = document([{"exchange": {"request_nodes": 4, "response_nodes": None}, "sequenceId": "x"}, {"exchange": {}}])
    session = read(FORMAT, data)
    assert [(m.role, m.blocks, m.source) for m in session.messages] == [("user", (), (0,)), ("user", (), (1,))]
    assert FORMAT.codec.write(session, session.context()).data == data
    new_message = Message("made", "user", (Text("made"),))
    assert (
        new_message.text.encode()
        in FORMAT.codec.write(session, [new_message, session.messages[0], session.messages[0]]).data
    )


def test_repeated_request_ids_give_unique_messages() -> None:
    session = read(FORMAT, document([ENTRIES[0], ENTRIES[0], {**ENTRIES[1], "exchange": {"request_message": "x"}}]))
    ids = [m.id for m in session.messages]
    assert len(set(ids)) == len(ids) == 5


@given(dialogues(), st.data())
def test_kept_parts_are_unchanged(messages: list[Message], data: st.DataObject) -> None:
    session = read(FORMAT, FORMAT.codec.write(session_of(messages), messages).data)
    flags = data.draw(st.lists(st.booleans(), min_size=len(messages), max_size=len(messages)))
    context = [m for m, flag in zip(session.messages, flags, strict=True) if flag]
    again = read(FORMAT, FORMAT.codec.write(session, context).data)
    assert shape(again.messages) == shape(context)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda d: d.pop("created"), ["It has no created as text."]),
        (lambda d: d.update(chatHistory=[]), ["There are no entries in chatHistory."]),
        (
            lambda d: d["chatHistory"][1].update(sequenceId=1),
            ["Entry 2 has the sequenceId 1, which does not increase."],
        ),
        (
            lambda d: d["chatHistory"][1].update(isHistorySummary=True),
            ["Entry 3 has no result for the call t1 of entry 1."],
        ),
        (
            lambda d: d["chatHistory"][1].update(isHistorySummary=True, historySummaryVersion=3),
            ["Entry 2 has the result t1, which answers no call of the entry before it."],
        ),
        (lambda d: d["chatHistory"].pop(1), ["Entry 2 has no result for the call t1 of entry 1."]),
        (
            lambda d: d["chatHistory"].pop(0),
            ["Entry 1 has the result t1, which answers no call of the entry before it."],
        ),
        (
            lambda d: d["chatHistory"][1].pop("exchange"),
            ["Entry 2 has no exchange.", "Entry 3 has no result for the call t1 of entry 1."],
        ),
    ],
)
def test_the_validator_finds(change: object, faults: list[str]) -> None:
    broken = json.loads(document())
    change(broken)  # type: ignore[operator]
    assert FORMAT.codec.validate(json.dumps(broken).encode()) == faults


def test_truncated_files_are_recognised_and_others_are_not() -> None:
    long = document([entry(1, "long " * 30_000, [], "", [])])
    assert FORMAT.recognise(Look.of(long))
    assert FORMAT.recognise(Look.of(b'{"sessionId":"1","chatHistory":[]}'))
    assert not anthropic_messages.FORMAT.recognise(Look.of(document()))
    assert not openai_chat.FORMAT.recognise(Look.of(document()))
    for head in (b'{"chatHistory":5}', b'{"chatHistory":[1]}', b'{"type":"user"}\n{"chatHistory":[]}'):
        assert not FORMAT.recognise(Look.of(head))


@pytest.mark.parametrize(
    ("data", "says"), [(document()[:-40], "line "), (b"[]", "no chatHistory"), (b'{"a":1}', "no chatHistory")]
)
def test_refused_in_one_sentence(data: bytes, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        read(FORMAT, data)


def test_a_missing_id_is_warned_of() -> None:
    raw = b'{"chatHistory":[{"exchange":{"request_message":"x","request_nodes":4}}]}'
    session = read(FORMAT, raw)
    assert [str(w)[:9] for w in session.warnings] == ["sessionId", "created i", "modified "]
    assert session.messages[0].text == "x"
