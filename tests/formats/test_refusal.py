"""A file that no format takes is refused by what it looks like, with the nearest format and what to do."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import registry
from workbench.formats.files import INSIDE, load, parts_of
from workbench.formats.look import Look
from workbench.formats.refusal import LONGEST, NAMES, explain_refusal

GIVE = "open the session file that the agent wrote, or a JSON list of messages with role and content."
NAME = "open the session file that the agent wrote."
REQUEST = "open its request, or the session that has both."
UNPACK = "unpack it and open a session file in it."
WHOLE = "restore a whole copy and open that."


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def archive(*names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as into:
        for name in names:
            into.writestr(name, "x")
    return made.getvalue()


def database(script: str) -> bytes:
    base = sqlite3.connect(":memory:")
    base.executescript(script)
    return base.serialize()


TOLD: dict[bytes, str] = {
    encoded({"hello": 1}): f"a JSON object with the key hello; {GIVE}",
    encoded({f"k{n}": n for n in range(NAMES)}): f"a JSON object with the keys k0, k1, k2, k3, k4, k5; {GIVE}",
    encoded(
        {f"k{n}": n for n in range(NAMES + 2)}
    ): f"a JSON object with the keys k0, k1, k2, k3, k4, k5 and 2 more; {GIVE}",
    encoded({"a\n‮b": 1, "c" * (LONGEST + 1): 2}): f"a JSON object with the keys a b, {'c' * (LONGEST - 1)}…; {GIVE}",
    b"{}": f"a JSON object with no keys; {GIVE}",
    b"[]": f"an empty JSON list; {GIVE}",
    b"[1, 2]": f"a JSON list without an object in it; {GIVE}",
    encoded([{"a": 1}, {"b": 1, "a": 2}]): f"a JSON list of objects with the keys a, b; {GIVE}",
    b'{"a": 1}\n{"b": 1, "a": 2}\n': f"JSON lines with the keys a, b; {GIVE}",
    b'{"a": 1, "b": ]': f"JSON that is damaged or cut off, with the keys a, b; {WHOLE}",
    b"{{{{": f"JSON that is damaged or cut off; {WHOLE}",
    encoded({"parentUuid": None, "isSidechain": False, "x": 1}): (
        f"a JSON object with the keys parentUuid, isSidechain, x, closest to Claude Code, which also has isSidechain, "
        f"parentUuid; {GIVE}"
    ),
    encoded({"type": "message", "role": "assistant", "content": []}): (
        f"one response of the Messages API without its request; {REQUEST}"
    ),
    encoded({"object": "chat.completion", "choices": []}): (
        f"one response of Chat Completions without its request; {REQUEST}"
    ),
    encoded({"candidates": [], "usageMetadata": {}}): f"one response of Gemini without its request; {REQUEST}",
    b"event: ping\ndata: {}\n\n": f"a stream of server-sent events, one API response; {REQUEST}",
    b"name,age\nAda,36\nAlan,41\n": f"a table with the columns name, age; {GIVE}",
    b"name\tage\nAda\t36\n": f"a table with the columns name, age; {GIVE}",
    b"Dear all,\nnothing is here.\n": f"text; the only text format is aider's chat history; {NAME}",
    b"# Notes\n\nsome text\n": f"Markdown; the only Markdown format is aider's chat history; {NAME}",
    b"<!DOCTYPE html><p>x": f"XML or HTML; {NAME}",
    bytes(range(256)) * 40: f"a binary file; {NAME}",
    b"\x89PNG\r\n\x1a\n": f"an image; {NAME}",
    "{}".encode("utf-16"): "UTF-16 text; save it as UTF-8 and open that.",
    gzip.compress(b"{}"): f"gzip-compressed; {UNPACK}",
    archive("a.json", "b/c.json"): f"a zip archive holding a.json, b/c.json; {UNPACK}",
    b"PK\x03\x04" + bytes(40): f"a zip archive that is damaged or empty; {WHOLE}",
    zstandard.compress(b'{"a": 1}'): f"zstd-compressed, and inside a JSON object with the key a; {GIVE}",
    b"\x28\xb5\x2f\xfd" + bytes(50): f"damaged zstd data; {WHOLE}",
    database("CREATE TABLE a (x); CREATE TABLE b (y);"): f"an SQLite database with the tables a, b; {NAME}",
    b"SQLite format 3\x00" + bytes(4000): f"an SQLite database that is damaged or empty; {WHOLE}",
}


@pytest.mark.parametrize("data", TOLD, ids=range(len(TOLD)))
def test_a_file_is_refused_by_what_it_looks_like(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    for opened in (load, parts_of):
        with pytest.raises(BadInput) as caught:
            opened(path)
        said = str(caught.value)
        assert said == f"{path}: Not a known session format: {TOLD[data]}"
        assert "\n" not in said


LINKED = {"sessionId": "s", "isSidechain": False, "userType": "external", "timestamp": "2026-01-21T05:56:34.812Z"}


@pytest.mark.parametrize("known_by", ["the id of an answer", "a result"])
def test_a18_a_session_of_iflow_is_no_session_of_claude_code(known_by: str, tmp_path: Path) -> None:
    asked = {**LINKED, "uuid": "1", "parentUuid": None, "type": "user", "message": {"role": "user", "content": "Hi"}}
    id = "response-1768975012469-tool-call_e55a" if known_by == "the id of an answer" else "msg_1"
    body = {"id": id, "role": "assistant", "content": [{"type": "text", "text": "Yes"}]}
    answer = {**LINKED, "uuid": "2", "parentUuid": "1", "type": "assistant", "message": body}
    parts = {"callId": "c", "responseParts": {"functionResponse": {"id": "c", "response": {"output": "x"}}}}
    content: object = parts if known_by == "a result" else "x"
    given = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]}
    result = {**LINKED, "uuid": "3", "parentUuid": "2", "type": "user", "message": given}
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(encoded(one) + b"\n" for one in (asked, answer, result)))
    with pytest.raises(BadInput) as caught:
        load(path)
    told = "a session of iFlow CLI, which is not supported; a JSON list of messages"
    assert told in str(caught.value)


def test_a18_of_the_case(shared: Path) -> None:
    with pytest.raises(BadInput, match="a session of iFlow CLI, which is not supported"):
        load(shared / "cases" / "agentsview-iflow.jsonl")
    assert [str(one) for one in load(shared / "cases" / "agentsview-traex.jsonl").warnings] == [
        "line 1: written by Trae CLI in Codex's format; read as Codex"
    ]


def test_of_keys_that_many_have_nothing_is_told() -> None:
    """`id` and `type` are in every second format; a key that one format alone has is enough with another."""
    assert "closest" not in explain_refusal(Look.of(encoded({"id": 1, "type": 2})), registry.formats())
    assert "closest to Codex rollout, which also has payload, type" in explain_refusal(
        Look.of(encoded({"payload": 1, "type": 2})), registry.formats()
    )
    assert "closest" not in explain_refusal(Look.of(encoded({"payload": 1})), registry.formats())


@pytest.mark.parametrize(("having", "near"), [(4, True), (5, False)])
def test_what_so_many_formats_have_tells_nothing(having: int, near: bool) -> None:
    """Two keys that four formats have tell 1/4 each."""
    keys = frozenset(["x", "y"])
    formats = [replace(registry.by_id("claude-code"), title=f"F{number}", keys=keys) for number in range(having)]
    assert (
        "closest to F0, which also has x, y" in explain_refusal(Look.of(encoded({"x": 1, "y": 1})), formats)
    ) is near


@pytest.mark.parametrize(
    "name",
    [
        "adk-hidden-hour.json",
        "amp-bells.json",
        "augment-with-summary.json",
        "capture-ferry.jsonl",
        "claude-code-overflow.jsonl",
        "codex-two-compactions.jsonl",
        "inspect-two-samples.json",
        "openai-responses-compacted.json",
        "swe-agent-demo.traj",
        "tau-bench-two-sessions.json",
    ],
)
def test_a_format_that_would_not_take_its_own_sample_is_the_nearest(name: str) -> None:
    look = Look.of((SAMPLES / name).read_bytes())
    assert f"closest to {registry.detect(look)[0].title}," in explain_refusal(look, registry.formats())


def test_a_folder_is_refused_by_what_it_holds(tmp_path: Path) -> None:
    other = "open a session file, or a folder that an agent keeps as a session."
    assert refusal(tmp_path) == f"{tmp_path} is a folder that is empty, not a known session format; {other}"
    (tmp_path / "b.txt").write_text("x")
    (tmp_path / "a").mkdir()
    holding = f"{tmp_path} is a folder holding a/, b.txt, not a known session format; "
    assert refusal(tmp_path) == holding + other
    (tmp_path / "c.json").write_bytes((SAMPLES / "openai-chat-tools.json").read_bytes())
    holding = holding.replace("b.txt", "b.txt, c.json")
    assert refusal(tmp_path) == f"{holding}open {tmp_path / 'c.json'}."
    (tmp_path / "a" / "session").mkdir()
    for name in ("message", "part"):
        (tmp_path / "a" / name).mkdir()
    assert refusal(tmp_path) == f"{holding}open {tmp_path / 'a'}."


@pytest.mark.parametrize(("before", "found"), [(INSIDE - 1, True), (INSIDE, False)])
def test_so_many_files_of_a_folder_are_looked_at(tmp_path: Path, before: int, found: bool) -> None:
    for number in range(before):
        (tmp_path / f"{number:03}").touch()
    (tmp_path / "z.json").write_bytes((SAMPLES / "openai-chat-tools.json").read_bytes())
    assert (f"open {tmp_path}" in refusal(tmp_path)) == found


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        load(path)
    return str(caught.value)


def test_a_tar_archive_is_no_text(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as into:
        into.add(SAMPLES / "openai-chat-tools.json", "b.json")
    assert "a binary file" in refusal(tmp_path / "a.tar")
