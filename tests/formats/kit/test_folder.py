"""Folders and files that writers ask this machine for."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.formats.kit.folder import (
    agent_home,
    current_folder,
    expand_home,
    folder_of,
    read_agent_file,
    recorded_file_name,
    written_at,
)
from workbench.session import Records, Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session whose file was changed at second 1 000."""
    path = tmp_path / "rollout-abc.jsonl"
    path.write_bytes(b"")
    os.utime(path, (5, 1_000))
    return Session("kit", path, (), Records(b""), id="abc")


def test_a_session_without_a_folder_has_the_current_one(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    assert session.path is not None
    monkeypatch.chdir(session.path.parent)
    assert folder_of(session) == current_folder() == str(session.path.parent)
    assert folder_of(replace(session, cwd="/x")) == "/x"


def test_a_deleted_folder_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", gone)
    monkeypatch.setenv("HOME", "/home/u")
    assert current_folder() == "/home/u"


@pytest.mark.parametrize(
    ("value", "home"),
    [
        ("/x/y", "/x/y"),
        (" /x/y// ", "/x/y"),
        ("~/y/", "~/y"),
        ("y", "/own"),
        ("~y", "/own"),
        ("", "/own"),
        (None, "/own"),
    ],
)
def test_an_agents_folder_is_named_by_its_variable(
    value: str | None, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KIT_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("KIT_HOME", value)
    assert agent_home("KIT_HOME", "/own") == home


def test_a_session_was_written_when_its_file_was(session: Session) -> None:
    assert written_at(session, "abc") == datetime.fromtimestamp(1_000, UTC)
    now = datetime.now(UTC)
    others = (session, "x"), (replace(session, path=Path("/gone")), "abc"), (replace(session, path=None), "abc")
    for other, id in others:
        assert abs((written_at(other, id) - now).total_seconds()) < 60


@pytest.mark.parametrize(
    ("own", "id", "name"),
    [
        ("abc", "abc", "rollout-abc.jsonl"),
        ("bc", "bc", "rollout-abc.jsonl"),
        ("abc", "x", ""),
        ("", "", ""),
        ("ab", "ab", ""),
    ],
)
def test_a_file_name_is_kept_where_it_ends_with_the_id(session: Session, own: str, id: str, name: str) -> None:
    assert recorded_file_name(replace(session, id=own), id) == name
    assert recorded_file_name(replace(session, id=own, path=None), id) == ""


def test_an_agents_file_is_read_below_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.md").write_bytes(b"Be kind.")
    assert expand_home("~/a.md") == str(tmp_path / "a.md")
    assert (read_agent_file("~/a.md"), read_agent_file("~/b.md"), read_agent_file("a\0b")) == (b"Be kind.", b"", b"")
