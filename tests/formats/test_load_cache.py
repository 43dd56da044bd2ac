"""The cache of loaded sessions: equal when opened again, and invalid after any change."""

import io
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.formats.claude_code_build import jsonl, small
from workbench.base import disk_cache
from workbench.base.resources import SAMPLES
from workbench.formats import load_cache
from workbench.formats.export_note import sidecar_of
from workbench.formats.files import load
from workbench.session import Message, Opaque, Session, ToolUse
from workbench.session.session import digest_of


def kept(path: Path) -> Session:
    """Load a session, release its bytes like those of a large one, and store it."""
    session = load(path)
    session.records.let_go(path, session.records.size, digest_of(session.records.data))
    load_cache.store(session)
    return session


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(*small()))
    return path


@pytest.mark.parametrize(
    "name", sorted(one.name for kind in ("claude-code*", "codex-t*") for one in SAMPLES.glob(kind))
)
def test_it_is_opened_again_as_it_was_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes((SAMPLES / name).read_bytes())
    session, steps = kept(path), list[tuple[int, int]]()
    again = load(path, lambda done, total: steps.append((done, total)))
    assert again.records.digest, "not read anew: a small file's bytes are at hand then"
    assert list(again.records) == list(session.records)
    assert list(again.records.lines) == list(session.records.lines)
    for field in Session.__dataclass_fields__.keys() - {"records"}:
        assert getattr(again, field) == getattr(session, field), field
    assert steps == [(path.stat().st_size,) * 2]


def test_more_messages_than_are_written_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_cache, "_GROUP_SIZE", 3)
    (path := tmp_path / "s.jsonl").write_bytes((SAMPLES / "claude-code-overflow.jsonl").read_bytes())
    session = kept(path)
    assert len(session.messages) > 6
    assert load(path).messages == session.messages


@pytest.mark.parametrize(("keys", "is_kept"), [(98, True), (99, False), (1000, False)])
@pytest.mark.parametrize("block", [lambda value: ToolUse("1", "put", value), lambda value: Opaque("new", value)])
def test_f11_more_values_than_a_pickle_should_note_are_not_kept(
    keys: int, is_kept: bool, block: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The input itself is a value, and so is the list in it."""
    monkeypatch.setattr(load_cache, "_MAX_VALUES", 100)
    session = load(file)
    session.records.let_go(file, session.records.size, digest_of(session.records.data))
    huge = Message("huge", "assistant", (block({"rows": [*range(keys)]}),))
    load_cache.store(replace(session, messages=(huge, *session.messages[:1])))
    assert disk_cache.cache_file(file, "session").exists() is is_kept


def test_another_file_is_read_anew(file: Path) -> None:
    kept(file)
    file.write_bytes(file.read_bytes().replace(b"a", b"b", 1))
    assert load_cache.recall(file) is None
    kept(file)
    with file.open("ab") as more:
        more.write(b"\n")
    assert load_cache.recall(file) is None


def test_a_touched_file_is_the_same(file: Path) -> None:
    kept(file)
    os.utime(file, (1, 1))
    assert load_cache.recall(file) is not None


def test_a_note_beside_the_file_has_it_read_anew(file: Path) -> None:
    kept(file)
    sidecar_of(file).write_bytes(b"{}")
    assert load_cache.recall(file) is None


def test_another_part_is_read_anew(file: Path) -> None:
    kept(file)
    assert load_cache.recall(file, "agent") is None


class Foreign:
    """What no session holds."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("made",)


def test_nothing_else_than_a_session_is_made(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept(file)
    place = disk_cache.cache_file(file, "session")
    about, _, rest = place.read_bytes().partition(b"\n")
    for made in (pickle.dumps(Foreign()), pickle.dumps(3), rest[: len(rest) // 2], b""):
        place.write_bytes(about + b"\n" + made)
        assert load_cache.recall(file) is None
    assert not Path("made").exists()
    place.write_bytes(about + b"\n" + rest)
    assert load_cache.recall(file) is not None


@pytest.mark.parametrize("name", ["Path", "disk_cache.Path", "pickle.Unpickler"])
def test_what_a_module_of_sessions_knows_is_no_part_of_one(name: str) -> None:
    packed = (f"\x8c{chr(len(word))}{word}".encode("latin-1") for word in ("workbench.formats.load_cache", name))
    with pytest.raises(pickle.UnpicklingError, match="no part of a session"):
        load_cache._SessionUnpickler(io.BytesIO(b"\x80\x05" + b"".join(packed) + b"\x93.")).load()


def test_of_a_rollout_that_goes_on_from_another_nothing_is_kept(tmp_path: Path) -> None:
    name = min(one.name for one in SAMPLES.glob("codex-t*"))
    data = (SAMPLES / name).read_bytes().replace(b'"payload":{', b'"payload":{"history_base":{},', 1)
    (path := tmp_path / name).write_bytes(data)
    kept(path)
    assert not disk_cache.cache_file(path, "session").exists()


@pytest.mark.parametrize("name", ["openai-chat-tools.json"])
def test_of_a_format_that_does_not_say_so_nothing_is_kept(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes((SAMPLES / name).read_bytes())
    kept(path)
    assert not disk_cache.cache_file(path, "session").exists()


def test_a_small_session_is_not_kept(file: Path) -> None:
    load_cache.store(load(file))
    assert not disk_cache.cache_file(file, "session").exists()


def test_a_session_whose_file_became_a_pipe_is_not_read_for_its_digest(file: Path) -> None:
    kept(file)
    file.unlink()
    os.mkfifo(file)
    assert load_cache.recall(file) is None
