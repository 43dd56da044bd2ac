"""Opening and writing files: one sentence for what cannot be done, and never half a file."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.formats.claude_code_build import jsonl, small
from workbench.base.errors import BadInput
from workbench.formats import registry
from workbench.formats.files import load
from workbench.formats.look import Look


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert message.endswith(".")
    return message


def test_a_session_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    path.write_bytes(jsonl(*small()))
    steps: list[tuple[int, int]] = []
    session = load(path, lambda done, total: steps.append((done, total)))
    assert (session.format, session.path) == ("claude-code", path)
    assert steps[-1][0] == steps[-1][1] == path.stat().st_size
    assert gc.isenabled()


def test_a_cancelled_load_leaves_the_collector_on(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*small()))

    def cancel(done: int, total: int) -> None:
        assert not gc.isenabled()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(path, cancel)
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b" \n\n\x00", "is empty"),
        (b"SQLite format 3\0" + bytes(100), "SQLite"),
        (b"PK\x03\x04abc", "zip"),
        ('{"a":1}'.encode("utf-16"), "UTF-16"),
        (bytes(range(256)) * 40, "binary"),
        (b"Dear diary,\nnothing happened.\n", "text; the only text format is aider's"),
        (b'{"hello": "world"}', "the key hello"),
    ],
)
def test_what_is_no_session_is_refused_in_one_sentence(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert why in refusal(path)


def test_a_folder_a_missing_file_and_a_pipe_are_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)
    assert "does not exist" in refusal(tmp_path / "none.jsonl")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "not a regular file" in refusal(pipe)
    with pytest.raises(BadInput):
        load(Path("nul\0byte"))


def test_one_huge_message_opens(tmp_path: Path) -> None:
    lines = small()
    lines[1]["message"]["content"] = "word " * 180_000
    path = tmp_path / "x.jsonl"
    path.write_bytes(jsonl(*lines[1:]))
    assert len(load(path).context(1)[0].text) == 900_000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_file_gives_anything_but_a_session_or_bad_input(tmp_path: Path, data: st.DataObject) -> None:
    start = data.draw(st.sampled_from([jsonl(*small()), b'{"messages":[{"role":"user","content":"hi"}]}', b""]))
    raw = bytearray(start)
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=6))
    path = tmp_path / "x"
    path.write_bytes(bytes(raw))
    try:
        assert load(path).epochs
    except BadInput as error:
        said = str(error)
    else:
        said = str(path)
    assert str(path) in said
    assert path.read_bytes() == bytes(raw)


def test_formats_are_found_by_id() -> None:
    assert registry.by_id("claude-code").title == "Claude Code"
    with pytest.raises(BadInput, match=r"claude-code, .*openai-chat"):
        registry.by_id("nobody")
    found, reason = registry.detect(Look.of(jsonl(*small())))
    assert found.id == "claude-code"
    assert "line" in reason
