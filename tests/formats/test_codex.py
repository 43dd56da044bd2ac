"""Codex rollouts: usage, compactions, and exports for `codex resume`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from workbench.analysis.course import course_of, growth, growth_messages
from workbench.base.errors import BadInput
from workbench.conformance.building import session_of
from workbench.conformance.formats import assert_exact, read
from workbench.formats.codex import FORMAT
from workbench.formats.codex.items import SUMMARY_PREFIX
from workbench.formats.codex.skim import skim
from workbench.formats.diagnosis import findings
from workbench.formats.kit import compressed
from workbench.formats.look import Look
from workbench.formats.loss import Loss, LossKind
from workbench.formats.read_back import shape
from workbench.session import Media, Message, Opaque, SessionFacts, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.tokens import Basis, Counter

STAMP = "2026-03-04T05:06:07.000Z"
META = {"id": "old", "timestamp": STAMP, "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.140.0"}


def line(kind: str, payload: Any, **more: Any) -> bytes:
    return json.dumps({"timestamp": STAMP, "type": kind, "payload": payload, **more}).encode()


def item(**fields: Any) -> bytes:
    return line("response_item", fields)


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more}


def event(kind: str, **fields: Any) -> bytes:
    return line("event_msg", {"type": kind, **fields})


def tokens(number: int, total: int = 0) -> bytes:
    last = {"input_tokens": number, "cached_input_tokens": 10, "output_tokens": 5, "total_tokens": number + 5}
    info = {"total_token_usage": {"n": total or number}, "last_token_usage": last, "model_context_window": 1000}
    return event("token_count", info=info)


def call(id: str, **given: Any) -> dict[str, Any]:
    return {"type": "function_call", "name": "shell", "arguments": json.dumps(given), "call_id": id}


def output(id: str, text: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": text}


def counted(total: int, last: int) -> bytes:
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": {"total_tokens": last}}
    return event("token_count", info=info)


THINK = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"}
TURN = line("turn_context", {"cwd": "/w", "model": "gpt-x", "approval_policy": "never"})
FIRST = [
    line("session_meta", {**META, "base_instructions": {"text": "You are Codex."}, "extra": 1}),
    item(**said("developer", "rules")),
    item(**said("user", "<environment_context>\n</environment_context>")),
    item(**said("user", "do it")),
    event("user_message", message="do it"),
    TURN,
    item(**THINK),
    event("agent_message", message="I look"),
    item(**said("assistant", "I look")),
    item(**call("c1", a=1)),
    item(**call("c2", a=2)),
    tokens(100),
    item(**output("c1", "one")),
    item(**output("c2", [{"type": "input_text", "text": "two"}, {"type": "input_image", "image_url": "data:a/b;,12"}])),
    TURN,
    tokens(100),
    item(**said("assistant", "done")),
    event("token_count", info=None),
    tokens(200),
    line("world_state", {"x": 1}),
]


def rollout(*lines: bytes) -> bytes:
    return b"\n".join(lines) + b"\n"


def test_items_of_one_response_are_one_message_and_nothing_counts_twice() -> None:
    session = read(FORMAT, rollout(*FIRST))
    assert shape(session.messages) == [
        ("system", "normal", (Text("rules"),)),
        ("user", "meta", (Text("<environment_context>\n</environment_context>", injected=True),)),
        ("user", "normal", (Text("do it"),)),
        (
            "assistant",
            "normal",
            (
                Thinking("hm", "gAAA"),
                Text("I look"),
                ToolUse("c1", "shell", {"a": 1}),
                ToolUse("c2", "shell", {"a": 2}),
            ),
        ),
        (
            "tool",
            "normal",
            (ToolResult("c1", (Text("one"),)), ToolResult("c2", (Text("two"), Media("a/b", 2)))),
        ),
        ("assistant", "normal", (Text("done"),)),
    ]
    assert [m.usage for m in session.messages if m.role == "assistant"] == [Usage(90, 5, 10), Usage(190, 5, 10)]
    assert (session.id, session.cwd, session.model, session.title) == ("old", "/w", "gpt-x", "do it")
    assert session.system == "You are Codex."
    assert session.facts == SessionFacts(version="0.140.0")
    assert [epoch.window for epoch in session.epochs] == [1000]
    assert session.warnings == ()
    assert session.messages[0].time == 1772600767.0


def test_counts_that_stand_before_their_response_go_to_it() -> None:
    lines = [TURN, tokens(50), item(**call("c")), item(**output("c", "x")), TURN, tokens(70), item(**call("d"))]
    session = read(FORMAT, rollout(FIRST[0], item(**said("user", "go")), *lines))
    assert [m.usage.context for m in session.messages if m.usage] == [50, 70]
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "assistant"]


COMPACTION = {"type": "compaction", "encrypted_content": "secret"}


def compaction(*items: Any, **more: Any) -> bytes:
    return line("compacted", {"message": "", "replacement_history": list(items), "window_id": 2, **more})


def test_a_compaction_with_items_is_the_whole_base() -> None:
    kept = {"content": [{"text": "do it", "type": "input_text"}], "role": "user", "type": "message"}
    lines = [*FIRST, compaction(kept, said("developer", "new rules"), COMPACTION), TURN, item(**said("user", "next"))]
    session = read(FORMAT, rollout(*lines))
    first, second = session.epochs
    assert len(first.members) == 6
    assert first.ended_by is not None
    assert first.ended_by.tokens_before == 205
    summary = session.messages[second.members[2]]
    assert (summary.kind, summary.blocks) == ("summary", (Opaque("compaction", COMPACTION),))
    assert first.ended_by.summary == summary.id
    assert second.members[0] == 2, "the kept message is the one of before"
    assert first.ended_by.kept_ids == (session.messages[2].id,)
    assert [m.text for m in session.context()] == ["do it", "new rules", "", "next"]
    assert [m.kind for m in session.messages].count("boundary") == 1
    written = assert_exact(FORMAT, session, session.context()[1:])
    assert json.dumps(COMPACTION).encode() in written.data
    assert json.dumps(said("developer", "new rules")).encode() in written.data


def test_what_a_compaction_says_again_is_no_answer_of_the_model() -> None:
    again = compaction(
        said("user", "do it"), said("assistant", "I look"), call("c1", a=1), output("c1", "one"), COMPACTION
    )
    session = read(FORMAT, rollout(*FIRST, again, TURN, item(**said("assistant", "on")), tokens(50, 300)))
    assert [m.text for m in session.context()] == ["do it", "I look", "", "", "on"]
    first, second = session.epochs
    assert (first.copies, second.copies) == (frozenset(), frozenset(second.members[1:3]))
    points = growth(session, Counter())
    assert [(p.message, p.epoch, p.tokens, p.basis, p.compacted) for p in points] == [
        (3, 1, 100, Basis.EXACT, False),
        (5, 1, 200, Basis.EXACT, False),
        (second.members[-1], 2, 50, Basis.EXACT, True),
    ]
    assert growth_messages(session) == ()
    course = course_of(session, Counter())
    assert [m.text for m in course.messages[6:]] == ["on"]
    later = course_of(session, Counter(), first=2)
    assert [m.text for m in later.messages] == ["do it", "I look", "", "", "on"]
    assert list(later.answers) == [4]
    assert findings(session)[-1].text == "recorded for 1 of 1 answer"


def test_a_compaction_in_clear_keeps_the_users_texts_and_its_summary() -> None:
    long = item(**said("user", "x" * 90_000))
    lines = [FIRST[0], item(**said("user", "old")), long, *FIRST[1:], line("compacted", {"message": "We began."})]
    session = read(FORMAT, rollout(*lines, item(**said("assistant", "on"))))
    assert [(m.text[:9], m.kind) for m in session.context()] == [
        ("x" * 9, "normal"),
        ("do it", "normal"),
        ("We began.", "summary"),
        ("on", "normal"),
    ]
    assert_exact(FORMAT, session, session.context()[1:])


PREFIX = f"{SUMMARY_PREFIX}. Use it:"


def test_the_answer_that_became_the_summary_was_no_part_of_the_context() -> None:
    """Since 0.169 a local compaction records its answer in the rollout, with separate usage."""
    answer = item(**said("assistant", "We did it."))
    compacted = line(
        "compacted",
        {
            "message": f"{PREFIX}\nWe did it.",
            "replacement_history": [said("user", "do it"), said("user", f"{PREFIX}\nWe did it.")],
        },
    )
    after = event(
        "token_count",
        info={"total_token_usage": {"n": 300}, "last_token_usage": {"input_tokens": 0, "total_tokens": 77}},
    )
    later = json.loads(after)
    later["payload"]["info"]["last_token_usage"]["total_tokens"] = 99
    lines = [*FIRST, TURN, answer, tokens(300), compacted, TURN, after, json.dumps(later).encode()]
    session = read(FORMAT, rollout(*lines, item(**said("assistant", "on"))))
    assert session.context(1) == session.messages[:6]
    assert [(m.text, m.kind) for m in session.context()] == [
        ("do it", "normal"),
        (f"{PREFIX}\nWe did it.", "summary"),
        ("on", "normal"),
    ]
    ended = session.epochs[0].ended_by
    assert ended is not None
    assert (ended.tokens_before, ended.tokens_after) == (205, 77)
    for message, text in ((f"{PREFIX}\nWe did it.", "All done."), ("So far: We did it.", "We did it.")):
        ended_so = line("compacted", {"message": message, "replacement_history": [said("user", "do it")]})
        other = read(FORMAT, rollout(*FIRST, TURN, item(**said("assistant", text)), ended_so))
        assert other.context(1)[-1].text == text, "an ordinary answer stays"


def test_what_was_written_to_the_cache_is_part_of_the_prompt_and_reasoning_of_the_output() -> None:
    prompt = {"input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 30}
    last = {**prompt, "output_tokens": 5, "reasoning_output_tokens": 3}
    count = event("token_count", info={"total_token_usage": {"n": 1}, "last_token_usage": last})
    session = read(FORMAT, rollout(*FIRST[:4], TURN, item(**said("assistant", "so")), count))
    assert session.messages[-1].usage == Usage(10, 5, 60, 30, reasoning=3)


IDE = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\n"


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("plain", (Text("plain"),)),
        (f"{IDE}mend it", (Text(IDE, injected=True), Text("mend it"))),
        (f"{IDE}say\n## My request for Codex:", (Text(IDE, injected=True), Text("say\n## My request for Codex:"))),
        (IDE, (Text(IDE, injected=True),)),
        ("I see # Context from my IDE setup:", (Text("I see # Context from my IDE setup:"),)),
        (
            "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>",
            (Text("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>", injected=True),),
        ),
        (
            f"{PREFIX}\n<environment_context>\n</environment_context>",
            (Text(f"{PREFIX}\n<environment_context>\n</environment_context>"),),
        ),
        ("<skill>\nx\n</skill>\nuse it", (Text("<skill>\nx\n</skill>\n", injected=True), Text("use it"))),
        ("<turn_aborted>\nx\n</turn_aborted>", (Text("<turn_aborted>\nx\n</turn_aborted>", injected=True),)),
        ("<user_shell_command>ls</user_shell_command>", (Text("<user_shell_command>ls</user_shell_command>", True),)),
    ],
)
def test_what_codex_or_an_editor_wrote_is_told_from_the_persons_words(text: str, blocks: tuple[Text, ...]) -> None:
    session = read(FORMAT, rollout(*FIRST[:2], item(**said("user", text))))
    assert session.messages[-1].blocks == blocks
    assert (session.messages[-1].kind == "meta") is all(block.injected for block in blocks)
    assert_exact(FORMAT, session, session.context()[1:])


def test_where_codex_says_whose_a_part_is_that_is_believed() -> None:
    about = {"content_item_metadata": [{"provenance": {"type": one}} for one in ("harness", "user")]}
    parts = [{"type": "input_text", "text": text} for text in ("a note", "my words")]
    told = {"type": "message", "role": "user", "content": parts, "internal_chat_message_metadata_passthrough": about}
    session = read(FORMAT, rollout(FIRST[0], item(**told)))
    assert session.messages[0].blocks == (Text("a note", injected=True), Text("my words"))
    assert (session.messages[0].user_text, session.title) == ("my words", "my words")


def test_answers_to_the_agents_questions_are_the_persons_words() -> None:
    ask = {"type": "function_call", "name": "request_user_input", "arguments": "{}", "call_id": "q"}
    answered = output("q", json.dumps({"answers": {"a": {"answers": ["red", "user_note: but dark"]}}}))
    session = read(FORMAT, rollout(*FIRST[:4], item(**ask), item(**answered)))
    assert session.messages[-1].user_text == "red\nbut dark"


def test_arguments_that_are_no_json_stay_those_of_a_function_call() -> None:
    odd = {"type": "function_call", "name": "shell", "arguments": "[REDACTED len=9]", "call_id": "r"}
    session = read(
        FORMAT, rollout(*FIRST[:4], item(**odd), item(**output("r", "long result")), item(**said("user", "x")))
    )
    made = Message("m", "assistant", session.messages[3].blocks)
    cut = Message("n", "tool", (ToolResult("r", (Text("long"),)),))
    written = assert_exact(FORMAT, session, (session.messages[2], made, cut, session.messages[5]))
    items = [json.loads(raw)["payload"] for raw in written.data.splitlines()]
    assert [one["type"] for one in items if "call_id" in one] == ["function_call", "function_call_output"]
    assert_exact(FORMAT, session, (session.messages[2], session.messages[3], cut, session.messages[5]))


def test_turns_that_were_rolled_back_are_in_the_file_but_not_on_the_branch() -> None:
    back = event("thread_rolled_back", num_turns=1)
    lines = [*FIRST, item(**said("user", "wrong")), event("user_message", message="wrong"), item(**call("z")), back]
    session = read(FORMAT, rollout(*lines, item(**said("user", "right")), event("user_message", message="right")))
    assert [m.text for m in session.context()][-2:] == ["done", "right"]
    assert len(session.messages) == len(session.branch) + 2
    assert len(read(FORMAT, rollout(*lines, event("thread_rolled_back", num_turns=9))).context()) == 2
    written = assert_exact(FORMAT, session, session.context()[2:])
    assert b"wrong" not in written.data
    assert b"rolled" not in written.data


def test_the_form_before_0_32_is_read_and_written_as_todays() -> None:
    bare = [
        json.dumps({"id": "b", "timestamp": STAMP, "instructions": "be brief", "git": {"branch": "main"}}).encode(),
        json.dumps(said("user", "go")).encode(),
        b'{"record_type":"state"}',
        json.dumps(call("c", a=1)).encode(),
        json.dumps(output("c", {"content": "no", "success": False})).encode(),
        json.dumps(said("assistant", "end")).encode(),
    ]
    session = read(FORMAT, rollout(*bare))
    assert "before 0.32" in FORMAT.recognise(Look.of(rollout(*bare)))
    assert (session.id, session.system, session.facts.git_branch) == ("b", "be brief", "main")
    assert session.messages[2].blocks == (ToolResult("c", (Text("no"),), is_error=True),)
    written = assert_exact(FORMAT, session, session.context()[:-1])
    assert all(raw in written.data for raw in (bare[1], bare[3], bare[4]))


def test_every_kind_of_call() -> None:
    items = [
        {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": "*** Begin"},
        {"type": "tool_search_call", "call_id": "s", "arguments": {"query": "q"}},
        {"type": "local_shell_call", "call_id": "l", "action": {"type": "exec", "command": ["ls"]}},
        {"type": "web_search_call", "id": "ws", "action": {"query": "w"}},
        {"type": "custom_tool_call_output", "call_id": "p", "output": '{"output":"ok"}'},
        {"type": "tool_search_output", "call_id": "s", "tools": [{"name": "t"}]},
        output("l", "files"),
        {"type": "strange_item", "x": 1},
    ]
    session = read(FORMAT, rollout(*FIRST[:4], TURN, *(item(**each) for each in items)))
    calls, results, strange = session.messages[3:]
    assert [call.input for call in calls.calls] == ["*** Begin", {"query": "q"}, {"type": "exec", "command": ["ls"]}]
    assert calls.blocks[3] == Opaque("web_search_call", items[3])
    assert [result.text for result in results.results] == ['{"output":"ok"}', '[{"name":"t"}]', "files"]
    assert (strange.kind, strange.blocks) == ("meta", (Opaque("strange_item", items[7]),))
    shorter = Message("m", "tool", tuple(ToolResult(r.call_id, (Text(r.text[:3]),)) for r in results.results))
    assert_exact(FORMAT, session, (*session.messages[:4], shorter, strange))


def test_kept_lines_stay_and_stale_counts_do_not() -> None:
    session = read(FORMAT, rollout(*FIRST))
    node = Message("n", "user", (Text("Short."),), "summary")
    written = assert_exact(FORMAT, session, (node, *session.context()[2:]))
    lines = written.data.splitlines()
    assert [raw for raw in FIRST[3:] if raw not in lines] == [FIRST[11], FIRST[15], FIRST[18]]
    assert [json.loads(raw)["payload"].get("info") for raw in lines if b"token_count" in raw] == [None] * 4
    meta = json.loads(lines[0])["payload"]
    assert (meta["id"], meta["extra"], written.id in written.name) == (written.id, 1, True)
    assert written.commands == (("codex", "resume", written.id),)
    assert not [m for m in read(FORMAT, written.data).messages if m.usage]
    again = FORMAT.codec.write(session, session.context())
    assert (again.data, again.id) == (rollout(*FIRST), "old")


def test_neighbours_that_lost_what_stood_between_them_stay_apart() -> None:
    session = read(FORMAT, rollout(*FIRST, item(**said("user", "more")), item(**said("assistant", "ok"))))
    context = session.context()
    assert_exact(FORMAT, session, (context[2], context[5], context[7]))
    made = [Message(f"m{n}", "assistant", (Text(str(n)),), "summary") for n in range(3)]
    assert_exact(FORMAT, session, (context[2], *made, context[5]))


THREADS = [f"01a20372-67a9-71b0-8193-7596526a8bc{n}" for n in range(3)]


def ordered(thread: str, lines: list[bytes], base: tuple[str, int, int] | None = None) -> bytes:
    """Return a rollout with paginated history; `base`: the continued thread, its ordinal and byte limits."""
    begun = base[1] if base else 0
    meta = {**META, "id": thread, "history_mode": "paginated"}
    if base:
        about = {"thread_id": base[0], "end_ordinal_exclusive": base[1], "end_byte_offset": base[2]}
        meta["history_base"] = about
    numbered = [json.loads(raw) | {"ordinal": n} for n, raw in enumerate([line("session_meta", meta), *lines], begun)]
    return rollout(*(json.dumps(one).encode() for one in numbered))


def test_a_fork_and_a_reverted_turn_go_on_from_another_file(tmp_path: Path) -> None:
    """Codex 0.169 sent the base up to its end for such files, and nothing after it."""

    def name(folder: str, more: str) -> Path:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        return tmp_path / folder / f"rollout-2026-11-22T13-29-19-{more}.jsonl"

    talk = [item(**said("user", "one")), item(**said("assistant", "1")), TURN]
    base = name("2026/11/22", THREADS[0])
    base.write_bytes(ordered(THREADS[0], [*talk, item(**said("user", "reverted")), item(**said("assistant", "x"))]))
    stop = len(ordered(THREADS[0], talk))
    again = name("2026/11/22", f"{THREADS[0]}_{THREADS[1]}")
    more = [item(**said("user", "two")), item(**said("assistant", "2"))]
    again.write_bytes(ordered(THREADS[0], more, (THREADS[0], 4, stop)))
    fork = name("2026/12/01", THREADS[2])
    last = (THREADS[0], 7, len(again.read_bytes()))
    fork.write_bytes(ordered(THREADS[2], [item(**said("user", "three"))], last))
    for path, words in ((again, ["one", "1", "two", "2"]), (fork, ["one", "1", "two", "2", "three"])):
        session = read(FORMAT, path.read_bytes(), path)
        assert [message.text for message in session.context()] == words
        assert session.id == (THREADS[0] if path is again else THREADS[2])
        assert [warning.text for warning in session.warnings] == [
            f"continues {(base if path is again else again).name}, which is read as well; line numbers start there"
        ]
        assert b"history_base" not in session.records.data
        assert b"reverted" not in session.records.data
    alone = tmp_path / again.name
    for data in (
        again.read_bytes(),
        ordered(THREADS[0], more, ("../*", 4, stop)),
        ordered(THREADS[0], more, (THREADS[0], 5, stop)),
    ):
        alone.write_bytes(data)
        session = read(FORMAT, data, alone if b'"../*"' not in data else again)
        found = [message.text for message in session.context()]
        assert found == ["two", "2"]
        assert "records of the thread" in session.warnings[0].text


def test_a_paginated_history_becomes_a_plain_one() -> None:
    lines = [line("session_meta", {**META, "history_mode": "paginated", "session_id": "old"}, ordinal=0), *FIRST[1:]]
    session = read(FORMAT, rollout(*lines))
    meta = json.loads(FORMAT.codec.write(session, session.context()[2:]).data.splitlines()[0])["payload"]
    assert (meta["history_mode"], meta["session_id"]) == ("legacy", meta["id"])
    assert any("ordinal" in fault for fault in FORMAT.codec.validate(rollout(*lines)))


def test_compressed_rollouts_are_unpacked_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zstandard.ZstdCompressor(write_checksum=True).compress(rollout(*FIRST))
    assert FORMAT.recognise(Look.of(data)).startswith("zstd-compressed, and inside line 1")
    assert shape(read(FORMAT, data).messages) == shape(read(FORMAT, rollout(*FIRST)).messages)
    with pytest.raises(BadInput, match="damaged"):
        read(FORMAT, data[:-4] + b"1234")
    bomb = zstandard.ZstdCompressor().compress(b" " * (1 << 26))
    assert not FORMAT.recognise(Look.of(bomb))
    with pytest.raises(BadInput, match="unpacks to more than 17 MiB"):
        read(FORMAT, bomb)
    monkeypatch.setattr(compressed, "LARGEST", 1000)
    with pytest.raises(BadInput, match="unpacks to more than"):
        read(FORMAT, data)


def test_odd_lines_are_told_and_survive() -> None:
    odd = [b"{broken", b"42", line("new_kind", {"a": 1}), line("response_item", {"no": "type"}), item(type="message")]
    session = read(FORMAT, rollout(*FIRST, *odd))
    assert [str(warning) for warning in session.warnings] == [
        "line 21: not JSON; kept in the file, not shown",
        "line 22: not a JSON object; kept in the file, not shown",
        "1 record of unknown type 'new_kind' is kept in the file, not shown",
        "1 record of a response item without a type is kept in the file, not shown",
    ]
    assert b"new_kind" in FORMAT.codec.write(session, session.context()[1:]).data
    with pytest.raises(BadInput, match="without messages"):
        read(FORMAT, FIRST[0])


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        ([item(**said("user", "x"))], ["Line 1 is not a session_meta line."]),
        (
            [line("session_meta", {"id": "x"}), *FIRST[3:]],
            [
                "Line 1 has no timestamp.",
                "Line 1 has no cwd.",
                "Line 1 has no originator.",
                "Line 1 has no cli_version.",
            ],
        ),
        (
            [FIRST[0], item(**said("user", "x"))],
            ["There is no user_message event, so Codex would not list the session."],
        ),
        ([*FIRST[:5], b"{broken"], ["Line 6 is not a rollout line, so Codex would skip it."]),
        ([*FIRST[:5], item(**output("zz", "x"))], ["Line 6 has an output without its call before it."]),
        ([*FIRST[:5], item(**call("a")), item(**call("a"))], ["Line 7 has a call with the id of line 6."]),
        (
            [*FIRST[:5], item(type="function_call", name="f", arguments={}, call_id="a")],
            ["Line 6 has a call without a name or without arguments as text."],
        ),
        (
            [*FIRST[:5], item(**call("a")), item(type="custom_tool_call_output", call_id="a", output="")],
            ["Line 7 has an output of another type than its call on line 6."],
        ),
        (
            [*FIRST[:5], item(type="message", role="assistant", content=[{"type": "input_text"}])],
            ["Line 6 has a part of type input_text, which its role does not allow."],
        ),
        ([*FIRST, tokens(90_000)], ["Line 21 claims 90005 tokens, more than the context can have."]),
        ([FIRST[0], *FIRST[3:5], counted(50_000, 50_000), counted(90_000, 40_000), counted(90_000, 40_000)], []),
        (
            [FIRST[0], *FIRST[3:5], counted(50_000, 50_000), counted(90_001, 40_000)],
            ["Line 5 claims 40000 tokens, more than the context can have."],
        ),
        (
            [FIRST[0], FIRST[3], event("item_completed", item={"type": "UserMessage"})],
            [],
        ),
        (
            [FIRST[0], FIRST[3], event("item_completed", item={"type": "AgentMessage"})],
            ["There is no user_message event, so Codex would not list the session."],
        ),
        ([*FIRST[:1], FIRST[4]], ["There are no response items."]),
    ],
)
def test_the_rules_find_each_fault(lines: list[bytes], faults: list[str]) -> None:
    assert FORMAT.codec.validate(rollout(*FIRST)) == []
    assert FORMAT.codec.validate(rollout(*lines)) == faults


def test_a_repeated_count_is_not_the_next_responses() -> None:
    lines = [item(**said("user", "go")), item(**said("assistant", "one")), tokens(100)]
    lines += [item(**said("user", "on")), item(**said("assistant", "two")), tokens(100)]
    session = read(FORMAT, rollout(FIRST[0], *lines))
    assert [m.usage for m in session.messages if m.role == "assistant"] == [Usage(90, 5, 10), None]
    session = read(FORMAT, rollout(FIRST[0], *lines[:-1], tokens(100, total=200)))
    assert [m.usage for m in session.messages if m.role == "assistant"] == [Usage(90, 5, 10)] * 2


@pytest.mark.parametrize(("length", "kept"), [(79_999, ["old", "x"]), (80_000, ["x"]), (80_001, ["x"])])
def test_a_compaction_in_clear_keeps_an_older_text_while_there_is_room(length: int, kept: list[str]) -> None:
    texts = [item(**said("user", text)) for text in ("old", "x" * length)]
    session = read(FORMAT, rollout(FIRST[0], *texts, line("compacted", {"message": "S"})))
    assert [m.text.strip("x") or "x" for m in session.context()] == [*kept, "S"]


def test_each_epoch_has_the_window_that_was_recorded_last_before_it_ended() -> None:
    def recorded(window: Any) -> bytes:
        return event("token_count", info={"model_context_window": window})

    summary = line("compacted", {"message": "so far"})
    later = [event("task_started", model_context_window=121_600), item(**said("user", "on"))]
    session = read(FORMAT, rollout(*FIRST, recorded(258_400), summary, *later, summary, item(**said("user", "more"))))
    assert [epoch.window for epoch in session.epochs] == [258_400, 121_600, 121_600]
    silent = read(FORMAT, rollout(item(**said("user", "hi")), recorded(None)))
    assert ([epoch.window for epoch in silent.epochs], silent.warnings) == ([None], ())


@pytest.mark.parametrize("window", [0, -1, True, 2.5, "258400", [], {"n": 1}])
def test_a_window_that_cannot_be_is_left_out_with_one_note(window: Any) -> None:
    absurd = event("token_count", info={"model_context_window": window})
    (epoch,) = (session := read(FORMAT, rollout(*FIRST, absurd, absurd))).epochs
    assert epoch.window == 1000
    said_of = f"line 21: an impossible context window of {window!r} tokens is recorded; ignored"
    assert list(map(str, session.warnings)) == [said_of]


CUT = Loss(LossKind.LONG_RESULTS, 1, ("48 000",))


@pytest.mark.parametrize(
    ("texts", "losses"),
    [
        (("x" * 47_999,), []),
        (("x" * 48_000,), []),
        (("x" * 48_001,), [CUT]),
        (("é" * 24_000,), []),
        (("é" * 24_000 + "x",), [CUT]),
        (("\n" * 48_000,), []),
        (("y" * 24_000, "z" * 24_000), []),
        (("y" * 24_000, "z" * 24_001), [CUT]),
    ],
)
def test_a_result_that_codex_will_cut_is_told(texts: tuple[str, ...], losses: list[Loss]) -> None:
    """Limits of Codex 0.169; it cuts nothing in its own compaction record."""
    messages = (
        Message("u", "user", (Text("read"),)),
        Message("a", "assistant", (ToolUse("c", "shell", {}),)),
        Message("r", "tool", (ToolResult("c", tuple(map(Text, texts))),)),
        Message("b", "assistant", (Text("done"),)),
    )
    written = FORMAT.codec.write(session_of(list(messages)), messages)
    assert list(written.losses) == losses
    loaded = read(FORMAT, written.data)
    kept = loaded.context()[:3]
    assert list(FORMAT.codec.write(loaded, kept).losses) == losses
    (appended,) = FORMAT.codec.forms
    assert list(appended.write(loaded, kept).losses) == []


def test_another_formats_session_goes_on_with_the_persons_own_provider() -> None:
    messages = [Message("a", "user", (Text("go"),)), Message("b", "assistant", (Text("yes"),))]
    made = FORMAT.codec.write
    assert made is not None
    meta = json.loads(made(session_of(messages), messages).data.splitlines()[0])["payload"]
    assert "model_provider" not in meta


def test_a_count_that_is_none_is_no_error_of_the_rules() -> None:
    info = {"total_token_usage": {"total_tokens": 7}, "last_token_usage": {"total_tokens": [None]}}
    lines = [line("session_meta", META), item(**said("user", "hi")), event("token_count", info=info)]
    assert FORMAT.codec.validate is not None
    assert not [fault for fault in FORMAT.codec.validate(b"\n".join(lines)) if "tokens" in fault]


def test_c_an_appended_compaction_resets_the_newest_count() -> None:
    """Codex compacts by the newest count; the old context's count would make it compact at once."""
    session = read(FORMAT, rollout(*FIRST, tokens(900)))
    node = Message("n", "user", (Text("Short."),), "summary")
    (appended,) = FORMAT.codec.forms
    written = appended.write(session, (node,)).data.splitlines()
    counts = [at for at, raw in enumerate(written) if b'"token_count"' in raw]
    info = json.loads(written[counts[-1]])["payload"]["info"]
    assert set(info["last_token_usage"].values()) == {0}
    assert info["total_token_usage"] == {"n": 900}, "what was billed in all stays"
    assert FORMAT.codec.validate(rollout(*written)) == []
    left_in = [raw for at, raw in enumerate(written) if at != counts[-1]]
    (fault,) = FORMAT.codec.validate(rollout(*left_in))
    old, made = (
        1 + max(at for at, raw in enumerate(left_in) if kind in raw) for kind in (b'"info": {', b'"compacted"')
    )
    assert fault == f"Line {old} counts 905 tokens from before the compaction in line {made}."


@pytest.mark.parametrize(
    ("behind", "fault"),
    [
        ([], True),
        ([event("token_count", info=None)], True),
        ([counted(2_000, 0)], False),
        ([counted(2_000, 5)], False),
    ],
)
def test_c_the_rules_know_a_count_from_before_a_compaction(behind: list[bytes], fault: bool) -> None:
    lines = [*FIRST, counted(1_000, 990), compaction([said("user", "Short.")], said("user", "Short.")), *behind]
    said_of = ["Line 21 counts 990 tokens from before the compaction in line 22."] if fault else []
    assert FORMAT.codec.validate(rollout(*lines)) == said_of


@pytest.mark.parametrize(
    ("about", "is_trae"),
    [
        ({"model_provider": "trae"}, True),
        ({"base_instructions": {"text": "You are TRAE CLI, a coding agent."}}, True),
        ({"model_provider": "openai", "base_instructions": {"text": "You are Codex."}}, False),
    ],
)
def test_a18_a_rollout_that_trae_wrote_says_so(about: dict[str, Any], is_trae: bool) -> None:
    session = read(FORMAT, b"\n".join([line("session_meta", {**META, **about}), *FIRST[1:]]))
    told = [str(warning) for warning in session.warnings if "Trae" in warning.text]
    assert told == (["line 1: written by Trae CLI in Codex's format; read as Codex"] if is_trae else [])


def test_a3_a_count_far_above_the_window_leaves_the_one_before_it() -> None:
    def counted_last(count: int) -> tuple[int, list[str]]:
        lines = [*FIRST[:9], tokens(500), tokens(count, 9_999)]
        session = read(FORMAT, rollout(*lines))
        answer = session.messages[-1]
        return answer.bill, [str(one) for one in session.warnings if "usage" in one.text]

    assert counted_last(2_000) == (2_000, [])
    assert counted_last(2_001) == (
        500,
        ["line 11: a usage of 2 001 tokens was recorded, more than a window of 1 000; ignored"],
    )


PARENT, CHILD = "01a094d8-5668-7b9b-9b1b-b1c065422ce8", "01a09a35-a0e8-7dd0-84c2-77d13fd6a606"
OLD_TURN, NEW_TURN = "01a094d8-5e38-724f-ab35-eaf051f68d94", "01a09a35-a8b8-7132-b8dc-70a9ec3185dc"


def stamped(second: int, *lines: bytes) -> list[bytes]:
    stamp = f"2026-03-04T05:06:{second:02}.000Z"
    return [json.dumps(json.loads(one) | {"timestamp": stamp}).encode() for one in lines]


@pytest.mark.parametrize("with_turns", [True, False])
@pytest.mark.parametrize("second", [9, 10])
def test_a15_calls_that_a_fork_replays_cost_in_their_own_session(second: int, with_turns: bool) -> None:
    def turn(id: str) -> list[bytes]:
        return [event("task_started", turn_id=id)] if with_turns else []

    meta = line("session_meta", {**META, "id": CHILD, "forked_from_id": PARENT})
    begin = stamped(7, meta, line("session_meta", {**META, "id": PARENT}))
    replay = [item(**said("user", "one")), item(**call("c")), tokens(100), item(**output("c", "x"))]
    replay += [item(**said("assistant", "1")), tokens(200)]
    more = [item(**said("user", "two")), item(**said("assistant", "2")), tokens(300)]
    at = 7 if with_turns else second
    session = read(FORMAT, rollout(*begin, *stamped(7, *turn(OLD_TURN), *replay), *stamped(at, *turn(NEW_TURN), *more)))
    found = [(one.bill, not one.usage.replayed) for one in session.messages if one.usage]
    assert found == [(100, False), (200, False), (300, with_turns or second > 9)]


def test_a15_a_session_that_is_no_fork_replays_nothing() -> None:
    session = read(FORMAT, rollout(*FIRST))
    assert [one.usage.replayed for one in session.messages if one.usage] == [False, False]


def test_a15_calls_before_what_a_file_goes_on_from_cost_there(tmp_path: Path) -> None:
    talk = [item(**said("user", "one")), item(**said("assistant", "1")), tokens(100)]
    base = tmp_path / f"rollout-2026-11-22T13-29-19-{THREADS[0]}.jsonl"
    base.write_bytes(ordered(THREADS[0], talk))
    fork = tmp_path / f"rollout-2026-11-22T13-29-20-{THREADS[2]}.jsonl"
    more = [item(**said("user", "two")), item(**said("assistant", "2")), tokens(200)]
    fork.write_bytes(ordered(THREADS[2], more, (THREADS[0], 4, len(base.read_bytes()))))
    session = read(FORMAT, fork.read_bytes(), fork)
    assert [(one.bill, one.usage.replayed) for one in session.messages if one.usage] == [(100, True), (200, False)]
    assert skim(fork, fork.read_bytes()) is None
