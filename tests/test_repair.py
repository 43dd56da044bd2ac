"""Repair: damage of each kind in small sessions of each format that is repaired record by record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.formats import test_codex
from tests.formats.claude_code_build import assistant, boundary, call, jsonl, result, summary, text, user
from tests.paths import SAMPLES, SHARED
from tests.session.images import png
from workbench.base.errors import BadInput
from workbench.formats.fixes import FIXED, Fault
from workbench.formats.format import Codec, no_progress
from workbench.formats.registry import by_id
from workbench.repairs import engine
from workbench.repairs.engine import Repair, repair, repair_bytes
from workbench.repairs.result import save
from workbench.session import Message, Session

LINES = {
    "claude-code": "",
    "codex": "codex-two-compactions.jsonl",
    "copilot": "copilot-background-compaction.jsonl",
    "pi": "pi-branches.jsonl",
}
PATH = Path("11111111-2222-4333-8444-555555555555.jsonl")

Damage = Callable[[list[bytes]], list[bytes]]


def claude() -> bytes:
    return jsonl(
        user("u1", None, "Why does the ferry wait?"),
        assistant("a1", "u1", "m1", text("I look."), call("c1", path="tide.py")),
        result("r1", "a1", "c1", "the tide is late \u00e9"),
        assistant("a2", "r1", "m2", text("The tide is late.")),
        user("u2", "a2", "And the buoys?"),
        assistant("a3", "u2", "m3", call("c2", path="buoys.py")),
        result("r2", "a3", "c2", "five buoys"),
        assistant("a4", "r2", "m4", text("There are five.")),
    )


def sample(format: str) -> bytes:
    return claude() if format == "claude-code" else (SAMPLES / LINES[format]).read_bytes()


def repaired(data: bytes, path: Path = PATH, branch: int | None = None) -> Repair:
    return repair_bytes(path, data, branch=branch)


def found(made: Repair) -> list[tuple[str, str]]:
    return [(fix.place, fix.fault.value) for fix in made.fixes]


def test_a_sound_session_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, taken = engine._read, []

    def counted(codec: Codec, path: Path, data: bytes) -> Session:
        taken.append(data)
        return read(codec, path, data)

    monkeypatch.setattr(engine, "_read", counted)
    made = repaired(claude())
    assert (made.fixes, made.data, taken) == ((), claude(), [claude()])
    assert made.is_sound


def content(messages: tuple[Message, ...]) -> list[Any]:
    return [(one.role, one.kind, one.blocks) for one in messages]


def context(format: str, data: bytes) -> list[Any]:
    return content(by_id(format).codec.read(PATH, data, no_progress).context())


# -- Bytes


def nul(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], b"\0" * 40, *lines[3:]]


def nul_before(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], b"\0" * 40 + lines[3], *lines[4:]]


def glued(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[2] + lines[3], *lines[4:]]


def cut_before(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], lines[3][: len(lines[3]) // 2] + lines[3], *lines[4:]]


def split_between(lines: list[bytes]) -> list[bytes]:
    at = lines[3].index(b",") + 1
    return [*lines[:3], lines[3][:at], lines[3][at:], *lines[4:]]


def garbage(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], b"Killed: 9", *lines[3:]]


LOSSLESS: dict[str, tuple[Damage, list[tuple[str, str]]]] = {
    "nul": (nul, [("line 4", "nul-padding")]),
    "nul before": (nul_before, [("line 4", "nul-padding")]),
    "glued": (glued, [("line 3", "glued-records")]),
    "cut before": (cut_before, [("line 4", "glued-records"), ("line 4", "cut-record")]),
    "split": (split_between, [("line 4", "split-record")]),
    "garbage": (garbage, [("line 4", "not-a-record")]),
}


@pytest.mark.parametrize("kind", LOSSLESS)
@pytest.mark.parametrize("format", LINES)
def test_damage_that_loses_nothing_is_repaired_to_the_undamaged_context(format: str, kind: str) -> None:
    data = sample(format)
    damage, fixes = LOSSLESS[kind]
    made = repaired(b"\n".join(damage(data.split(b"\n"))))
    assert (found(made), made.left) == (fixes, ())
    assert made.session is not None
    assert content(made.session.context()) == context(format, data)
    validate = by_id(format).codec.validate
    assert validate is not None
    assert validate(made.data) == []
    assert repaired(made.data).fixes == ()


@pytest.mark.parametrize("format", LINES)
def test_nothing_wrong_gives_the_same_bytes(format: str) -> None:
    data = sample(format)
    made = repaired(data)
    assert (made.fixes, made.left, made.data) == ((), (), data)


@pytest.mark.parametrize("format", LINES)
def test_records_that_are_not_damaged_stay_byte_for_byte(format: str) -> None:
    lines = sample(format).split(b"\n")
    made = repaired(b"\n".join(nul(lines)))
    assert made.data.split(b"\n") == lines


def test_a_last_line_that_breaks_off_is_removed() -> None:
    data = claude()
    made = repaired(data[:-30])
    lost = len(data.split(b"\n")[7]) - 29
    assert [(fix.place, fix.fault, fix.subject) for fix in made.fixes] == [("line 8", Fault.CUT_RECORD, str(lost))]
    assert made.data == b"".join(line + b"\n" for line in data.split(b"\n")[:7])


def test_half_a_surrogate_pair_is_replaced_and_its_line_named() -> None:
    data = claude().replace(b"five buoys", b"five \\ud83d buoys \\ud83d\\ude00")
    made = repaired(data)
    assert found(made) == [("line 7", "lone-surrogate")]
    assert made.data == data.replace(b"\\ud83d buoys", b"\\ufffd buoys")


def test_raw_line_separators_are_escaped() -> None:
    data = claude().replace(b"five buoys", "five\u2028buoys\u2029".encode())
    made = repaired(data)
    assert [(fix.place, fix.fault, fix.subject) for fix in made.fixes] == [("line 7", Fault.LINE_SEPARATOR, "2")]
    assert made.data == claude().replace(b"five buoys", b"five\\u2028buoys\\u2029")


def test_a_line_end_in_a_text_is_escaped() -> None:
    made = repaired(claude().replace(b"five buoys", b"five\nred buoys"))
    assert [(fix.place, fix.fault, fix.subject) for fix in made.fixes] == [("line 7", Fault.SPLIT_RECORD, "2")]
    assert made.session is not None
    assert made.session.messages[6].results[0].text == "five\nred buoys"


def test_a_complete_object_inside_a_record_that_breaks_off_is_no_record() -> None:
    lines = claude().split(b"\n")
    inner = lines[5].index(b'{"type":"tool_use"')
    cut = lines[5][: lines[5].index(b"}", lines[5].index(b"input", inner)) + 2]
    made = repaired(b"\n".join([*lines[:5], cut, *lines[6:]]))
    assert found(made) == [("line 6", "cut-record"), ("line 7", "dangling-parent"), ("line 7", "orphan-result")]
    assert made.left == ()


def test_an_argument_with_the_type_of_a_record_and_a_key_that_no_record_has_is_no_record() -> None:
    title = {"type": "summary", "summary": "Tide", "leafUuid": "a4"}
    lines = [jsonl(title).rstrip(b"\n"), *claude().split(b"\n")]
    cut = lines[6].replace(b'{"path":"buoys.py"}', b'{"query":{"type":"user","colour":"red"}')
    made = repaired(b"\n".join([*lines[:6], cut[: cut.index(b'"red"}') + 6], *lines[7:]]))
    assert ("line 7", "cut-record") in found(made)
    assert not [fix for fix in made.fixes if fix.fault is Fault.GLUED_RECORDS]


# -- Links


def test_a_parent_that_dangles_is_linked_to_the_record_before() -> None:
    lines = claude().split(b"\n")
    made = repaired(b"\n".join([*lines[:3], *lines[4:]]))
    assert found(made) == [("line 4", "dangling-parent")]
    assert made.fixes[0].reason == "linked to line 3: its parent is not in the file before it"
    assert made.session is not None
    assert len(made.session.context()) == 7


def test_a_repeated_id_gets_one_of_its_own_and_what_follows_keeps_its_parent() -> None:
    data = claude().replace(b'"uuid":"a3"', b'"uuid":"a1"').replace(b'"parentUuid":"a3"', b'"parentUuid":"a1"')
    made = repaired(data)
    assert found(made) == [("line 6", "repeated-id")]
    assert made.session is not None
    assert content(made.session.context()) == context("claude-code", claude())


def test_a_copy_of_a_record_is_removed() -> None:
    lines = claude().split(b"\n")
    made = repaired(b"\n".join([*lines[:4], lines[3], *lines[4:]]))
    assert found(made) == [("line 5", "repeated-record")]
    assert made.data == claude()


def branched() -> bytes:
    """Two branches behind line 2, the longer one older and not loaded, and damage: line 6 has no parent in the file."""
    return jsonl(
        user("u1", None, "Why does the ferry wait?"),
        assistant("a1", "u1", "m1", text("The tide.")),
        user("u2", "a1", "Which tide?"),
        assistant("a2", "u2", "m2", text("Of noon.")),
        user("u3", "a2", "And then?"),
        assistant("a3", "gone", "m3", text("It goes.")),
        user("u4", "a1", "Leave that."),
    )


def test_the_longest_branch_is_proposed_where_links_were_damaged() -> None:
    made = repaired(branched())
    assert found(made) == [("file", "other-branch"), ("line 6", "dangling-parent")]
    assert [(one.line, one.messages, one.live, one.chosen) for one in made.branches] == [
        (6, 6, False, True),
        (7, 3, True, False),
    ]
    assert made.session is not None
    assert [one.text for one in made.session.context()][-1] == "It goes."


def test_the_user_chooses_the_branch() -> None:
    made = repaired(branched(), branch=7)
    assert found(made) == [("line 6", "dangling-parent")]
    assert made.session is not None
    assert [one.text for one in made.session.context()][-1] == "Leave that."


def test_a_branch_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadInput, match="no branch ends on line 3; branches end on lines 6, 7"):
        repaired(branched(), branch=3)


def test_a_rewound_branch_is_no_damage() -> None:
    data = branched().replace(b'"gone"', b'"u3"')
    assert repaired(data).fixes == ()


def test_a_boundary_is_not_linked_to_what_it_ends() -> None:
    data = jsonl(
        user("u1", None, "Why?"),
        assistant("a1", "u1", "m1", text("The tide.")),
        boundary("b1", "a1"),
        summary("s1", "b1"),
        user("u2", "s1", "And now?"),
        assistant("a2", "gone", "m2", text("It goes.")),
    )
    made = repaired(data)
    assert found(made) == [("line 6", "dangling-parent")]
    assert made.session is not None
    assert len(made.session.context()) == 3


# -- Header lines


@pytest.mark.parametrize(
    ("format", "name"), [("codex", "session_meta"), ("copilot", "session.start"), ("pi", "session")]
)
def test_a_missing_header_is_added(format: str, name: str) -> None:
    lines = sample(format).split(b"\n")
    made = repaired(b"\n".join(lines[1:]))
    assert (made.fixes[0].fault, made.fixes[0].subject) == (Fault.MISSING_HEADER, name)
    assert (made.left, made.format.id) == ((), format)
    assert made.session is not None
    assert content(made.session.context()) == context(format, sample(format))


@pytest.mark.parametrize("format", ["codex", "copilot", "pi"])
def test_a_header_that_stands_further_down_is_moved_to_the_front(format: str) -> None:
    lines = sample(format).split(b"\n")
    made = repaired(b"\n".join([lines[1], lines[0], *lines[2:]]))
    assert (made.fixes[0].fault, made.left) == (Fault.MISSING_HEADER, ())


# -- Pairs


def test_a_result_without_a_call_becomes_text() -> None:
    data = (
        claude()
        .replace(b'"id":"c1"', b'"id":"c9"')
        .replace(b'"name":"Read","input":{"path":"tide.py"}', b'"name":"Read","input":{}')
    )
    made = repaired(data)
    assert found(made) == [("line 2", "missing-result"), ("line 3", "orphan-result")]
    assert made.left == ()
    assert made.session is not None
    texts = [one.text for one in made.session.context()]
    assert "[Result of a tool call that is not part of this session]\nthe tide is late é" in texts


@pytest.mark.parametrize("format", LINES)
def test_a_call_whose_result_is_gone_gets_one_that_says_so(format: str) -> None:
    data = sample(format)
    session = by_id(format).codec.read(PATH, data, no_progress)
    results = [one for one in session.context() if one.results]
    if not results:
        pytest.skip("the sample's context has no call")
    gone = session.records.lines[results[0].source[0]] - 1
    lines = [line for line in data.split(b"\n") if line]
    made = repaired(b"\n".join(lines[:gone] + lines[gone + 1 :]))
    assert made.left == ()
    assert Fault.MISSING_RESULT in {fix.fault for fix in made.fixes}
    assert made.session is not None
    texts = [one.results[0].text for one in made.session.context() if one.results]
    assert "No result was recorded for this call." in texts


def test_a_result_that_comes_before_its_call_is_moved_behind_it() -> None:
    data = jsonl(
        user("u1", None, "Why?"),
        result("r1", "u1", "c1", "late"),
        assistant("a1", "r1", "m1", call("c1")),
        assistant("a2", "a1", "m2", text("The tide.")),
    )
    made = repaired(data)
    assert found(made) == [("line 2", "early-result")]
    assert made.left == ()


def test_a_result_behind_the_next_response_is_moved_to_its_call() -> None:
    data = jsonl(
        user("u1", None, "Why?"),
        assistant("a1", "u1", "m1", call("c1")),
        assistant("a2", "a1", "m2", text("The tide.")),
        result("r1", "a2", "c1", "late"),
        assistant("a3", "r1", "m3", text("Late.")),
    )
    made = repaired(data)
    assert found(made) == [("line 4", "late-result")]
    assert made.left == ()


def test_a_second_result_becomes_text() -> None:
    data = jsonl(
        user("u1", None, "Why?"),
        assistant("a1", "u1", "m1", call("c1")),
        result("r1", "a1", "c1", "late"),
        result("r2", "r1", "c1", "late again"),
        assistant("a2", "r2", "m2", text("The tide.")),
    )
    made = repaired(data)
    assert found(made) == [("line 4", "repeated-result")]
    assert made.left == ()


def test_an_open_call_of_the_newest_response_stays() -> None:
    data = jsonl(user("u1", None, "Why?"), assistant("a1", "u1", "m1", call("c1")))
    assert repaired(data).fixes == ()


PI_HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-09-11T09:00:00.000Z", "cwd": "/x"}


def entry(id: str, parent: str | None, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": id, "parentId": parent, "timestamp": "2026-09-11T09:00:00.000Z", **more}


def said(id: str, parent: str | None, role: str, content: list[Any], **more: Any) -> dict[str, Any]:
    usage = {"usage": {"input": 10, "output": 1, "cacheRead": 0, "cacheWrite": 0}} if role == "assistant" else {}
    return entry(id, parent, "message", message={"role": role, "content": content, **usage, **more})


@pytest.mark.parametrize("id", [{"a": 1}, ["c1"], 5, None])
def test_a_call_whose_id_is_no_text_hides_no_other_of_its_message(id: Any) -> None:
    calls = [{"type": "toolCall", "id": one, "name": "bash", "arguments": {}} for one in (id, "c2")]
    data = jsonl(
        PI_HEADER,
        said("e1", None, "user", [{"type": "text", "text": "Why?"}]),
        said("e2", "e1", "assistant", calls),
        said("e3", "e2", "user", [{"type": "text", "text": "And now?"}]),
    )
    added = [json.loads(line)["message"] for line in repaired(data).data.splitlines() if b"toolResult" in line]
    assert ("c2", "bash") in [(one["toolCallId"], one["toolName"]) for one in added]


def test_an_older_compaction_is_taken_out_of_what_the_newest_keeps() -> None:
    call_ = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}
    data = jsonl(
        PI_HEADER,
        said("e1", None, "user", [{"type": "text", "text": "Why?"}]),
        said("e2", "e1", "assistant", [call_]),
        entry("k1", "e2", "compaction", summary="old", firstKeptEntryId="e2", tokensBefore=10),
        said("e3", "k1", "toolResult", [{"type": "text", "text": "late"}], toolCallId="c1", toolName="bash"),
        said("e4", "e3", "assistant", [{"type": "text", "text": "The tide."}]),
        entry("k2", "e4", "compaction", summary="new", firstKeptEntryId="e2", tokensBefore=10),
        said("e5", "k2", "user", [{"type": "text", "text": "And now?"}]),
    )
    made = repaired(data)
    assert found(made) == [("line 4", "older-compaction")]
    assert made.session is not None
    assert [one.role for one in made.session.context()] == ["user", "assistant", "tool", "assistant", "user"]


# -- Usage and reasoning


def test_negative_counts_become_nothing() -> None:
    data = claude().replace(b'"output_tokens":5', b'"output_tokens":-5', 1)
    made = repaired(data)
    assert [(fix.place, fix.reason) for fix in made.fixes] == [
        ("line 2", "set message.usage.output_tokens to 0: a count cannot be negative")
    ]


def test_usage_from_before_a_compaction_becomes_nothing() -> None:
    """A kept answer behind the boundary still counts what the compaction took away."""
    kept = assistant("a2", "s", "m2", text("Done"), body={"usage": {"input_tokens": 9_000, "output_tokens": 5}})
    kept["timestamp"] = "2026-02-08T10:30:50.234Z"
    made = repaired(jsonl(boundary("b", None), summary("s", "b"), kept))
    assert (found(made), made.left) == ([("line 3", "stale-usage")], ())
    newest = json.loads(made.data.splitlines()[2])["message"]["usage"]
    assert (newest["input_tokens"], newest["output_tokens"]) == (0, 0)
    assert repaired(made.data).fixes == ()


def test_a_token_count_from_before_a_compaction_becomes_nothing() -> None:
    lines = sample("codex").splitlines()
    compacted = max(at for at, raw in enumerate(lines) if b'"compacted"' in raw)
    stays = [raw for at, raw in enumerate(lines) if at <= compacted or b'"token_count"' not in raw]
    counts = [at for at, raw in enumerate(stays) if b'"token_count"' in raw and b'"last_token_usage"' in raw]
    made = repaired(b"\n".join(stays) + b"\n", Path("rollout.jsonl"))
    assert (found(made), made.left) == ([(f"line {counts[-1] + 1}", "stale-usage")], ())
    info = json.loads(made.data.splitlines()[counts[-1]])["payload"]["info"]
    assert set(info["last_token_usage"].values()) == {0}
    assert info["total_token_usage"] == json.loads(stays[counts[-1]])["payload"]["info"]["total_token_usage"]


def usage_of(tokens: int) -> bytes:
    usage = {"input_tokens": tokens, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return jsonl(
        user("u1", None, "Why?"),
        assistant("a1", "u1", "m1", text("The tide."), body={"usage": usage}),
    )


def test_a_usage_above_what_can_be_sent_is_set_to_nothing() -> None:
    most = next(tokens for tokens in range(30_000, 40_000) if repaired(usage_of(tokens)).fixes)
    validate = by_id("claude-code").codec.validate
    assert validate is not None
    assert (validate(usage_of(most - 1)), len(validate(usage_of(most)))) == ([], 1)
    made = repaired(usage_of(most))
    assert (found(made), made.left) == ([("line 2", "stale-usage")], ())


def test_the_usage_of_a_message_that_a_boundary_keeps_is_not_looked_at() -> None:
    """Claude Code itself writes such a file: the kept message stands before the boundary with the usage of its call."""
    usage = {"input_tokens": 90_000, "output_tokens": 0}
    kept = {"allUuids": ["a1"], "uuids": ["a1"], "anchorUuid": "s1"}
    about = {"trigger": "manual", "preTokens": 90_000, "preservedMessages": kept}
    data = jsonl(
        user("u1", None, "Why?"),
        assistant("a1", "u1", "m1", text("The tide."), body={"usage": usage}),
        {**boundary("b1", "a1"), "compactMetadata": about},
        summary("s1", "b1"),
        user("u2", "s1", "And now?"),
    )
    assert repaired(data).fixes == ()


def error(uuid: str, parent: str, words: str) -> dict[str, Any]:
    body = {"model": "<synthetic>", "usage": dict.fromkeys(("input_tokens", "output_tokens"), 0)}
    return assistant(uuid, parent, f"m{uuid}", text(words), body=body, isApiErrorMessage=True)


REFUSED = (
    "API Error: 400 messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message "
    "cannot be modified."
)


def thought(*more: dict[str, Any]) -> bytes:
    block = {"type": "thinking", "thinking": "The tide…", "signature": "Eo"}
    return jsonl(
        user("u1", None, "Why?"),
        assistant("a0", "u1", "m0", block, text("I look.")),
        user("u2", "a0", "Well?"),
        assistant("a1", "u2", "m1", block, text("The tide.")),
        user("u3", "a1", "And?"),
        error("e1", "u3", REFUSED),
        *more,
    )


def test_reasoning_that_the_api_refused_is_removed_from_the_latest_response_alone() -> None:
    made = repaired(thought())
    assert (found(made), made.left) == ([("line 4", "refused-reasoning")], ())


def test_reasoning_stays_where_an_answer_came_since() -> None:
    data = thought(user("u4", "e1", "Again."), assistant("a2", "u4", "m2", text("It goes.")))
    assert repaired(data).fixes == ()


# -- Images


HEADER = 29
"""Bytes of an image without data."""


def pictured(*images: str) -> bytes:
    blocks = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": one}} for one in images]
    return jsonl(
        user("u1", None, [{"type": "text", "text": "Look."}, *blocks]), assistant("a1", "u1", "m1", text("Seen."))
    )


@pytest.mark.parametrize(
    ("sides", "replaced"),
    [
        ([8_000], 0),
        ([8_001], 1),
        ([2_001] * 20, 0),
        ([2_000] * 21, 0),
        ([2_001] + [2_000] * 20, 1),
    ],
)
def test_only_images_above_the_limit_in_pixels_are_replaced(sides: list[int], replaced: int) -> None:
    """A9, cases/27."""
    made = repaired(pictured(*[png(side, 100) for side in sides]))
    assert ([fix.fault for fix in made.fixes], made.left) == ([Fault.IMAGE_PIXELS] * replaced, ())
    blocks = json.loads(made.data.split(b"\n")[0])["message"]["content"]
    assert [block["type"] for block in blocks] == ["text", *["text"] * replaced, *["image"] * (len(sides) - replaced)]


def test_an_image_above_the_limit_in_bytes_is_replaced() -> None:
    most = 5_242_880  # Claude Code's own
    fits, not_ = png(10, 10, most // 4 * 3 - HEADER), png(10, 10, most // 4 * 3 - HEADER + 1)
    assert (len(fits), len(not_)) == (most, most + 4)
    made = repaired(pictured(fits, not_))
    assert [fix.fault for fix in made.fixes] == [Fault.IMAGE_BYTES]
    blocks = json.loads(made.data.split(b"\n")[0])["message"]["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "text"]
    assert made.fixes[0].reason == (
        "replaced an image by a text: image/png, 10 × 10 px, 5 242 884 bytes: more than 5 242 880 bytes of base64"
    )


# -- Documents


DOCUMENTS = {
    "anthropic-messages": "anthropic-compacted.json",
    "gemini": "gemini-rewind-and-compression.jsonl",
    "goose": "goose-hidden.json",
    "openai-chat": "openai-chat-tools.json",
    "openai-responses": "openai-responses-compacted.json",
    "opencode": "opencode-pruned.json",
    "roo-cline": "roo-window.json",
    "mini-swe-agent": "mini-swe-agent-one-grep.traj.json",
}


@pytest.mark.parametrize("format", DOCUMENTS)
def test_nul_behind_a_document_is_removed(format: str) -> None:
    data = (SAMPLES / DOCUMENTS[format]).read_bytes()
    made = repaired(data.rstrip() + b"\0" * 512)
    assert [(fix.fault, fix.subject) for fix in made.fixes] == [(Fault.NUL_PADDING, "512")]
    assert (made.left, made.session is not None) == ((), True)


@pytest.mark.parametrize("format", [one for one in DOCUMENTS if one != "gemini"])
def test_bytes_of_an_older_document_behind_the_new_one_are_removed(format: str) -> None:
    data = (SAMPLES / DOCUMENTS[format]).read_bytes().rstrip()
    made = repaired(data + b'"}]}\n')
    assert [(fix.fault, fix.subject) for fix in made.fixes] == [(Fault.TRAILING_BYTES, "4")]
    assert made.left == ()
    assert made.session is not None
    assert content(made.session.context()) == context(format, data)


@pytest.mark.parametrize("format", ["anthropic-messages", "openai-chat", "roo-cline"])
def test_a_document_that_breaks_off_is_closed_behind_its_last_complete_message(format: str) -> None:
    data = (SAMPLES / DOCUMENTS[format]).read_bytes().rstrip()
    whole = context(format, data)
    end = data.rindex(b'"role"')
    made = repaired(data[: end + 9])
    assert made.fixes[0].fault is Fault.CUT_DOCUMENT
    assert made.session is not None
    kept = content(made.session.context())
    assert kept[: len(kept) - 1] == whole[: len(kept) - 1]


def test_a_roo_summary_that_lost_its_mark_hides_the_messages_before_it_again() -> None:
    """A16, cases/33."""
    history = [
        {"role": "user", "content": [{"type": "text", "text": "Why?"}], "ts": 1, "condenseParent": "s"},
        {"role": "assistant", "content": [{"type": "text", "text": "The tide."}], "ts": 2, "condenseParent": "s"},
        {"role": "user", "content": [{"type": "text", "text": "## Conversation Summary\nTide."}], "ts": 3},
        {"role": "assistant", "content": [{"type": "text", "text": "It goes."}], "ts": 4},
    ]
    made = repaired(json.dumps(history).encode(), Path("api_conversation_history.json"))
    assert ([(fix.place, fix.fault) for fix in made.fixes], made.left) == ([("entry 3", Fault.LOST_SUMMARY)], ())
    assert made.session is not None
    assert len(made.session.context()) == 2


def test_a_goose_call_without_a_result_is_answered_in_a_new_session() -> None:
    """Cases/26: the format has no rules for single records, its writer repairs the pairs."""
    first = {"working_dir": "/x", "description": "Queue", "message_count": 3}
    request = {"status": "success", "value": {"name": "shell", "arguments": {"command": "ls"}}}
    data = jsonl(
        first,
        {"role": "user", "created": 1, "content": [{"type": "text", "text": "Look."}]},
        {"role": "assistant", "created": 2, "content": [{"type": "toolRequest", "id": "c1", "toolCall": request}]},
        {"role": "user", "created": 3, "content": [{"type": "text", "text": "Stop."}]},
        {"role": "assistant", "created": 4, "content": [{"type": "text", "text": "Stopped."}]},
    )
    made = repaired(data, Path("x.jsonl"))
    assert [(fix.place, fix.fault) for fix in made.fixes] == [
        ("file", Fault.REWRITTEN),
        ("line 3", Fault.MISSING_RESULT),
    ]
    assert made.left == ()


# -- The copy


def test_the_damaged_file_is_never_written_over(tmp_path: Path) -> None:
    damaged = tmp_path / PATH
    damaged.write_bytes(claude()[:-30])
    made = repair(damaged)
    with pytest.raises(BadInput, match="is the damaged file itself"):
        save(made, damaged)
    where = save(made)
    assert where == tmp_path / f"{PATH.stem}.repaired.jsonl"
    assert (where.read_bytes(), damaged.read_bytes()) == (made.data, claude()[:-30])
    with pytest.raises(BadInput, match="exists"):
        save(made)


def test_a_format_that_is_only_read_is_refused_with_the_way_on() -> None:
    with pytest.raises(BadInput, match="read-only here; convert it with `cwb compact"):
        repair(SAMPLES / "kimi-buoys.jsonl")


def test_every_fault_has_words() -> None:
    assert set(Fault) - set(FIXED) == {Fault.REFUSED_BY_RULES, Fault.CHANGED_CONTENT}


CASES = {
    "02-dangling-parents.jsonl": {"dangling-parent": 4},
    "03-nul-line.jsonl": {"nul-padding": 1},
    "04-lone-surrogate.jsonl": {"lone-surrogate": 1},
    "05-orphan-result-after-compaction.jsonl": {"orphan-result": 1},
    "08-ends-at-boundary.jsonl": {},
    "09-invented-order.jsonl": {},
    "11-huge-output-too-long.jsonl": {},
    "12-codex-impossible-usage.jsonl": {"impossible-usage": 1},
    "17-copilot-glued.jsonl": {"glued-records": 2, "cut-record": 2},
    "18-copilot-negative-removed.jsonl": {"negative-count": 4},
    "22-pi-stale-compaction-mid-pair.jsonl": {"older-compaction": 1},
    "23-pi-orphan-result.jsonl": {"older-compaction": 1, "orphan-result": 1},
    "24-pi-thinking-400.jsonl": {"refused-reasoning": 1},
    "26-goose-open-call.jsonl": {"missing-result": 1, "rewritten": 1},
    "27-image-2162px.jsonl": {"image-pixels": 1},
    "33-roo-condensation-lost.json": {"lost-summary": 1},
    "36-opencode-compacted-twice.json": {},
    "37-openhands-empty-condensations.json": {},
}


@pytest.mark.skipif(SHARED is None, reason="needs the small damaged sessions, which are not part of the project")
@pytest.mark.parametrize("name", CASES)
def test_the_damaged_cases_are_repaired(name: str) -> None:
    assert SHARED is not None
    made = repair(SHARED / "cases" / name)
    counts: dict[str, int] = {}
    for fix in made.fixes:
        counts[fix.fault.value] = counts.get(fix.fault.value, 0) + 1
    assert (counts, made.left) == (CASES[name], ())
    again = repair_bytes(made.path, made.data)
    assert (again.fixes, again.left) == ((), ())


def test_a_fork_is_repaired_in_its_own_lines(tmp_path: Path) -> None:
    """The session is read together with the file that it was forked from, whose lines stand before its own."""
    said, item, thread = test_codex.said, test_codex.item, test_codex.THREADS
    lines = [item(**said("user", f"{n} of the base")) for n in range(5)]
    base = test_codex.ordered(thread[0], lines)
    (tmp_path / f"rollout-2026-11-22T13-29-19-{thread[0]}.jsonl").write_bytes(base)
    own = [item(**said("user", "half a smile")), item(**said("assistant", "2"))]
    path = tmp_path / f"rollout-2026-11-23T13-29-19-{thread[1]}.jsonl"
    fork = test_codex.ordered(thread[1], own, (thread[0], 6, len(base)))
    path.write_bytes(fork.replace(b"a smile", b"a \\ud83d"))
    made = repair(path)
    assert [(fix.line, fix.fault) for fix in made.fixes] == [(2, Fault.LONE_SURROGATE)]
    assert Fault.CHANGED_CONTENT not in [fix.fault for fix in made.left]
    assert made.data == fork.replace(b"a smile", b"a \\ufffd")
    assert made.session is not None
    assert [one.text for one in made.session.context()][-3:] == ["4 of the base", "half a \ufffd", "2"]


@pytest.mark.parametrize(("depth", "is_kept"), [(199, True), (200, False), (950, False), (2_000, False)])
def test_f10_a_record_that_is_too_deep_to_be_read_is_taken_out(depth: int, is_kept: bool) -> None:
    """Its id stands there twice: were it kept, the repair would write another into it."""
    *_, last = lines = claude().splitlines()
    deep = json.dumps(json.loads(last) | {"deep": [0]}).encode().replace(b"[0]", b"[" * depth + b"]" * depth)
    made = repaired(b"\n".join([*lines, deep, b""]))
    fault = Fault.REPEATED_ID if is_kept else Fault.CUT_RECORD
    assert found(made) == [("line 9", fault.value)]
    assert made.is_sound
    assert made.data.splitlines()[:8] == lines
    assert (b"[" * depth in made.data) == is_kept


def test_f10_a_document_that_is_too_deep_is_refused() -> None:
    item = {"role": "user", "content": [{"type": "text", "text": "go", "deep": [0]}]}
    data = json.dumps({"model": "claude-x", "max_tokens": 9, "messages": [item]}).encode()
    for depth, words in ((950, "nested more than 200 deep"), (2_000, "JSON that is damaged or cut off")):
        with pytest.raises(BadInput, match=words):
            repaired(data.replace(b"[0]", b"[" * depth + b"]" * depth), Path("s.json"))


@pytest.mark.parametrize("content", [{}, [], ""])
def test_a_context_may_begin_with_a_message_that_is_left_out(content: object) -> None:
    """A line of a message in two: changed for its parent is not in the file, then left out for nothing is in it."""
    first, *rest = jsonl(
        assistant("a1", "gone", "m1", text("x")), assistant("a2", "a1", "m1", text("so")), user("u2", "a2", "go on")
    ).splitlines()
    value = json.loads(first)
    value["message"]["content"] = content
    made = repaired(b"\n".join([json.dumps(value).encode(), *rest, b""]))
    assert Fault.NO_FIRST_MESSAGE in [fix.fault for fix in made.fixes]
    assert b'"a1"' not in made.data
    assert made.session is not None
    assert [one.text for one in made.session.context()][-2:] == ["so", "go on"]
