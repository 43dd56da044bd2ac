"""Every format there is conforms: on its samples, on the forms of it that no sample is in, and on a document of its own
tests that holds as many of its kinds of records as there are."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
import zstandard

from tests.formats import (
    test_adk,
    test_anthropic_messages,
    test_atif,
    test_augment,
    test_cline_sdk,
    test_codex,
    test_copilot,
    test_crush,
    test_cursor,
    test_gemini,
    test_goose,
    test_inspect,
    test_kimi,
    test_langchain,
    test_openai_chat,
    test_openai_responses,
    test_opencode,
    test_openhands,
    test_pi,
    test_qwen_code,
    test_roo_cline,
    test_trajectories,
)
from tests.formats.claude_code_build import jsonl, small
from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance import formats
from workbench.formats import registry
from workbench.formats.format import Format
from workbench.formats.look import Look

LARGEST = 100_000
"""Bytes of a sample that is changed many times over."""


@cache
def samples(id: str) -> tuple[bytes, ...]:
    if id == "claude-code":
        return jsonl(*small()), json.dumps({"loglines": small()}).encode()
    if id == "augment":
        document = json.loads((SAMPLES / "augment-with-summary.json").read_bytes())
        return json.dumps(document | {"chatHistory": document["chatHistory"][:12]}).encode(), *documents(id)
    return (*kept_samples().get(id, ()), *forms(id), *documents(id))


@cache
def kept_samples() -> dict[str, list[bytes]]:
    """The small ones among the samples of this project by their format, each looked at once."""
    found: dict[str, list[bytes]] = {}
    for path in sorted(SAMPLES.iterdir()):
        if path.name != "README.md" and path.stat().st_size <= LARGEST:
            data = path.read_bytes()
            with contextlib.suppress(BadInput):
                found.setdefault(registry.detect(Look.of(data))[0].id, []).append(data)
    return found


def documents(id: str) -> Sequence[bytes]:
    """What the tests of a format build to hold all of its kinds of records."""
    match id:
        case "adk":
            return [test_adk.body([*test_adk.EVENTS, test_adk.compaction(22, 10, 13, "one")])]
        case "anthropic-messages":
            return [test_anthropic_messages.body()]
        case "atif":
            return [test_atif.body()]
        case "augment":
            return [test_augment.document()]
        case "cline-sdk":
            said = test_cline_sdk.new_item("s", "user", "sum", metadata={"kind": "compaction_summary"})
            return [json.dumps(test_cline_sdk.document(said, *test_cline_sdk.MESSAGES)).encode()]
        case "codex":
            done = test_codex.compaction(test_codex.said("user", "do it"), test_codex.COMPACTION, 7)
            more = [test_codex.item(**test_codex.call("x")), test_codex.tokens(9)]
            back = test_codex.event("thread_rolled_back", num_turns=1)
            return [test_codex.rollout(*test_codex.FIRST, done, *more, back)]
        case "copilot":
            done = test_copilot.event("session.compaction_complete", success=True, summaryContent="S")
            more = [
                test_copilot.response_event(text="on"),
                test_copilot.event("session.snapshot_rewind", upToEventId="id-15"),
            ]
            return [test_copilot.chain(*test_copilot.EVENTS, *test_copilot.COMPACTION, done, *more)]
        case "crush":
            with tempfile.TemporaryDirectory() as folder:
                return [test_crush.database(Path(folder) / "crush.db").read_bytes()]
        case "gemini":
            all, back = test_gemini.MESSAGES, [{"$set": {"messages": test_gemini.COMPRESSED}}, {"$rewindTo": "k"}]
            return [test_gemini.document(*all), test_gemini.lines(test_gemini.HEAD, *all, *back, all[4])]
        case "goose":
            entries = [*test_goose.MESSAGES, test_goose.SUMMARY, test_goose.ANSWER, test_goose.MESSAGES[0]]
            return [test_goose.document(*entries), test_goose.lines(*entries)]
        case "inspect":
            return [test_inspect.log()]
        case "langchain":
            return [json.dumps(document).encode() for document in test_langchain.DOCUMENTS.values()]
        case "openai-chat":
            return [test_openai_chat.body()]
        case "openai-responses":
            return [test_openai_responses.body([*test_openai_responses.ITEMS, test_openai_responses.COMPACTION])]
        case "opencode":
            return [test_opencode.export(*test_opencode.COMPACTED)]
        case "openhands":
            old = [*test_openhands.OLD, test_openhands.old_condensation(14, 3, 9, "s", 2)]
            new = [*test_openhands.EVENTS, test_openhands.condensation("k", ["u1", "m1"], "s", 1)]
            return [json.dumps(old).encode(), json.dumps(new).encode()]
        case "pi":
            done = test_pi.entry("compaction", "k1", "e10", summary="S", firstKeptEntryId="e5")
            more = test_pi.said("e11", "k1", "user", "on")
            return [test_pi.lines(test_pi.HEADER, *test_pi.ENTRIES, done, more)]
        case "roo-cline":
            return [json.dumps([*test_roo_cline.NATIVE, *test_roo_cline.CONDENSED]).encode()]
        case "qwen-code":
            done = test_qwen_code.compressed("k", "r1", [test_qwen_code.SUMMARY, test_qwen_code.ACK])
            return [jsonl(*test_qwen_code.FIRST, done)]
        case "mini-swe-agent":
            return [test_trajectories.mini()]
        case "swe-agent":
            return [test_trajectories.swe()]
    return []


def forms(id: str) -> tuple[bytes, ...]:
    """The forms of a format that no sample is in: compressed, zipped, a database, a bare body."""
    if id == "codex":
        return (zstandard.compress((SAMPLES / "codex-two-compactions.jsonl").read_bytes()),)
    if id == "inspect":
        log = json.loads((SAMPLES / "inspect-two-samples.json").read_bytes())
        into = io.BytesIO()
        with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps({key: log[key] for key in log if key != "samples"}))
            for number, sample in enumerate(log["samples"]):
                archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
        return (into.getvalue(),)
    if id == "openhands":
        events = json.loads((SAMPLES / "openhands-forgotten.json").read_bytes())
        lines = [{"instance_id": f"task-{n}", "metadata": {"agent_class": "A"}, "history": events} for n in range(2)]
        return (b"\n".join(json.dumps(line).encode() for line in lines),)
    if id == "gemini":
        said = [{"id": "1", "timestamp": "2025-10-27T19:55:00Z", "type": "user", "content": [{"text": "hi"}]}]
        answer: dict[str, object] = {
            "id": "2",
            "timestamp": "2025-10-27T19:56:00Z",
            "type": "gemini",
            "content": "so",
            "thoughts": [],
        }
        answer |= {"toolCalls": [{"id": "c", "name": "ls", "args": {}, "result": None}], "tokens": {"input": 1}}
        about = {"sessionId": "s", "projectHash": "p", "startTime": "", "lastUpdated": ""}
        return (json.dumps(about | {"messages": [*said, answer]}).encode(),)
    if id == "goose":
        return (_database("sessions (id, name, working_dir, updated_at)", "messages (id, session_id, role, content_json, timestamp, metadata_json, created_timestamp)", ["('s', 'n', '/', 1)"], ["(1, 's', 'user', '[{\"type\":\"text\",\"text\":\"hi\"}]', 1, '{}', 1)"]),)  # fmt: skip  # noqa: E501
    if id == "cursor":
        return (test_cursor.database(({}, test_cursor.TURNS)),)
    if id == "kimi":
        return (test_kimi.lines([*test_kimi.CONTEXT, *test_kimi.COMPACTED]),)
    if id == "opencode":
        return (_database("session (id, title, time_updated)", "message (id, session_id, time_created, data)", ["('ses_1', 't', 1)"], ["('msg_1', 'ses_1', 1, '{\"role\":\"user\"}')"], "part (id, message_id, session_id, data)", ["('prt_1', 'msg_1', 'ses_1', '{\"type\":\"text\",\"text\":\"hi\"}')"]),)  # fmt: skip  # noqa: E501
    if id == "anthropic-messages":
        body = {"model": "m", "max_tokens": 9, "system": "be kind", "messages": [{"role": "user", "content": "hi"}]}
        tools = [{"name": "read", "input_schema": {"type": "object"}}]
        call = {"type": "tool_use", "id": "t", "name": "read", "input": {"a": 1}}
        said = [{"role": "assistant", "content": [{"type": "text", "text": "so"}, call]}]
        given = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "one"}]}
        body["messages"] = [*body["messages"], *said, {"role": "user", "content": [given]}]  # type: ignore[misc]
        return (json.dumps(body | {"tools": tools}).encode(),)
    return ()


def _database(*spec: str | list[str]) -> bytes:
    base = sqlite3.connect(":memory:")
    tables = [item for item in spec if isinstance(item, str)]
    rows = [item for item in spec if isinstance(item, list)]
    for table, values in zip(tables, [rows[0], *rows[1:]], strict=True):
        base.execute(f"CREATE TABLE {table}")
        for value in values:
            base.execute(f"INSERT INTO {table.split()[0]} VALUES {value}")
    base.commit()
    return base.serialize()


KINDS = {
    *("adk", "aider", "anthropic-messages", "claude-code", "codex"),
    *("gemini", "goose", "inspect", "langsmith", "openhands"),
}
"""A format for each kind of file: a document of events, a text, a request, lines that name their parent, compressed
lines, a document or lines, a database, an archive, traces, a list of events."""

PER_KIND = {
    formats.any_conversation_comes_through,
    formats.a_changed_sample_is_read_or_refused,
    formats.deep_nesting_huge_texts_and_nulls_inside_a_sample_stop_nothing,
}
"""Checks that draw many conversations or damages. Those of other formats are full."""


@pytest.mark.parametrize(
    ("format", "check"),
    [
        pytest.param(
            format,
            check,
            id=f"{format.id}-{check.__name__}",
            marks=pytest.mark.full if check in PER_KIND and format.id not in KINDS else (),
        )
        for format in registry.formats()
        for check in formats.CHECKS
    ],
)
def test_conforms(format: Format, check: Callable[[Format, Sequence[bytes]], None]) -> None:
    check(format, samples(format.id))
