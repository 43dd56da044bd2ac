"""A text in the person's own editor."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from workbench.base.errors import BadInput
from workbench.tui.terminal import editor_command, run_editor


def editor(folder: Path, script: str) -> str:
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"'{path}' -w"


def test_the_editors_text_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor(tmp_path, 'printf "more" >> "$2"'))
    assert run_editor("漢字\n") == "漢字\nmore"


@pytest.mark.parametrize(
    ("script", "reason"),
    [("exit 3", "ended with code 3"), ('rm "$2"', "cannot be read"), ('printf "\\377" > "$2"', "UTF-8")],
)
def test_an_editor_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, script))
    with pytest.raises(BadInput, match=reason):
        run_editor("text")


@pytest.mark.parametrize(("command", "reason"), [("", "No editor is known"), ("'vi", "no command line")])
def test_no_editor_is_explained(monkeypatch: pytest.MonkeyPatch, command: str, reason: str) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", command)
    with pytest.raises(BadInput, match=reason):
        editor_command()


def test_an_editor_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/no/such/editor")
    with pytest.raises(BadInput, match="/no/such/editor cannot be run"):
        run_editor("text")


def test_where_there_is_no_room_for_the_text_the_editor_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, "true"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(BadInput, match=r"cannot be written to a file for .*my editor: No such file"):
        run_editor("text")
