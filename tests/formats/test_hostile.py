"""What nobody meant to be read: every reader gives a session or one sentence, in bounded time, and touches nothing.

The samples with bytes and values changed at random, nesting without end, huge lines, NULs, bytes that are no UTF-8,
archives that unpack to gigabytes, links in circles, and paths in a session that lead elsewhere.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.formats.claude_code_build import jsonl, small
from tests.formats.mangling import changed, read_all, survives
from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import registry
from workbench.formats.files import load
from workbench.formats.format import HEAD, no_progress

_LARGEST = 100_000
"""Bytes of a sample that is mutated; larger ones are cut to their first lines or replaced."""

IDS = [known.id for known in registry.FORMATS]


@cache
def seeds(id: str) -> tuple[bytes, ...]:
    """The samples of a format, small enough to be changed many times over."""
    if id == "claude-code":
        web = json.dumps({"loglines": small()}).encode()
        return jsonl(*small()), web
    if id == "augment":
        document = json.loads((SAMPLES / "augment-with-summary.json").read_bytes())
        return (json.dumps(document | {"chatHistory": document["chatHistory"][:12]}).encode(),)
    found = []
    for path in sorted(SAMPLES.iterdir()):
        if path.name == "README.md" or path.stat().st_size > _LARGEST:
            continue
        data = path.read_bytes()
        with contextlib.suppress(BadInput):
            if registry.detect(data[:HEAD])[0].id == id:
                found.append(data)
    return tuple(found) + extra(id)


def extra(id: str) -> tuple[bytes, ...]:
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


@pytest.mark.parametrize("id", IDS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_changed_samples_give_a_session_or_one_sentence_and_are_written_back(id: str, data: st.DataObject) -> None:
    survives(registry.by_id(id), data.draw(changed(*seeds(id))))


def shapes() -> Iterator[tuple[str, bytes]]:
    deep = 60_000
    yield "an array without end", b"[" * deep
    yield "objects without end", b'{"messages":' * deep
    yield "closed, but deep", b"[" * deep + b"]" * deep
    yield "NULs", bytes(200_000)
    yield "one long line", b"x" * 3_000_000
    yield "no UTF-8", bytes(range(128, 256)) * 1000
    yield "quotes", b'"' * 30_000
    yield "backslashes", b'{"messages": "' + b"\\" * 100_001
    yield "commas", b"," * 200_000
    yield "many lines", b"{}\n" * 8_000
    yield "many values on a line", b"{}" * 8_000
    yield "a number without end", b"[" + b"9" * 100_000 + b"]"
    yield "a cut surrogate", b'{"messages":["\\ud83d'
    yield "headings", b"#### \n" * 5_000
    yield "SQLite and nothing", b"SQLite format 3\x00" + b"content_json working_dir part_session_idx" + bytes(4000)
    yield "zip and nothing", b"PK\x03\x04" + b"samples/a_epoch_1.json" * 100
    yield "zstd and nothing", b"\x28\xb5\x2f\xfd" + bytes(100)


SHAPES = dict(shapes())


@pytest.mark.parametrize("name", SHAPES)
def test_no_shape_of_bytes_stops_any_reader(name: str) -> None:
    for format in registry.FORMATS:
        with contextlib.suppress(BadInput):
            format.codec.read(Path("nowhere/session"), SHAPES[name], no_progress)
        format.recognise(SHAPES[name][:HEAD])
        format.codec.validate(SHAPES[name])


@pytest.mark.parametrize("id", IDS)
def test_deep_nesting_huge_texts_and_nulls_inside_a_sample(id: str) -> None:
    format = registry.by_id(id)
    for raw in seeds(id):
        if raw[:4] in (b"SQLi", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"):
            continue
        for old, new in (
            (b'"text"', b'"x":' + b"[" * 5000 + b"]" * 5000 + b',"text"'),
            (b'"content"', b'"y":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b',"content"'),
            (b"the", b"\\u0000\x00" + b"word " * 100_000),
            (b" a ", b" \xff\xfe\xed\xa0\x80 "),
        ):
            read_all(format, raw.replace(old, new, 1))


def test_archives_that_unpack_to_gigabytes_are_refused_early(tmp_path: Path) -> None:
    zeros = zstandard.ZstdCompressor(level=3).compressobj()
    line = (SAMPLES / "codex-two-compactions.jsonl").read_bytes()
    packed = zeros.compress(line) + b"".join(zeros.compress(bytes(1 << 20)) for _ in range(64)) + zeros.flush()
    path = tmp_path / "rollout-x.jsonl.zst"
    path.write_bytes(packed)
    with pytest.raises(BadInput, match="unpacks to more than"):
        load(path)
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/a_epoch_1.json", b'{"messages":[]}' + b" " * (70 << 20))
    path = tmp_path / "log.eval"
    path.write_bytes(into.getvalue())
    with pytest.raises(BadInput, match="unpacks to more than"):
        load(path)


def test_links_in_circles_and_names_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(BadInput, match=r"cannot be read|does not exist"):
        load(circle)
    folder = tmp_path / "task"
    (folder / "events").mkdir(parents=True)
    (folder / "events" / "again").symlink_to(folder)
    (folder / "base_state.json").write_text("{}")
    with pytest.raises(BadInput, match="no events"):
        load(folder)
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    out = f"../../../../../../..{secret}"
    lines = small()
    lines[1]["message"]["content"] = f"@{out} <image>{secret}</image>"
    for line in lines:
        line |= {"cwd": str(tmp_path), "sessionId": out, "agentId": out}
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*lines))
    before = sorted(os.listdir(tmp_path))
    session = load(path)
    written = registry.by_id("claude-code").codec.write(session, session.context())
    assert b"the secret" not in written.data
    assert "/" not in written.name
    assert ".." not in written.home.removeprefix("~/")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("id", IDS)
def test_no_export_has_a_name_that_leads_elsewhere(id: str) -> None:
    """Names and places are made of what a session says: ids, titles, folders."""
    format = registry.by_id(id)
    for raw in seeds(id):
        try:
            session = format.codec.read(Path("a/../../session.json"), raw, no_progress)
        except BadInput:
            continue
        foul = replace(session, id="../../x; rm -rf ~", title="../../../y", cwd="/a/../../../etc\x00/$(rm x)")
        for write in (format.codec.write, *(way.write for way in format.codec.ways)):
            for messages in (session.context(), session.context()[1:]):
                written = write(foul, messages)
                assert Path(written.name).name == written.name, written.name
                assert "\x00" not in written.home
                assert ".." not in Path(written.home).parts, written.home
                assert not set(written.resume) & set("$;`|<>()\x00\n"), written.resume
