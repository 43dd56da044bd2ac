"""Whatever the program writes: a device, pipe or socket that has the name is left alone, whole folder included."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import cwb, session_lines, write_lines
from workbench.compaction.preset import load_preset, preset_path, save_preset
from workbench.compaction.prompts import own_folder, write_own
from workbench.errors import BadInput
from workbench.formats.files import write_atomically

MARKS = {"pipe": stat.S_IFIFO, "socket": stat.S_IFSOCK}
"""What is no file and can be made without leave. Never a device: with the rights to make one, a test could lose one."""


def special(path: Path, kind: str) -> None:
    """A pipe or socket at `path`, or a link there to one that lies beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mark, _, link = kind.partition(" behind ")
    real = path.with_name("real") if link else path
    os.mknod(real, MARKS[mark] | 0o600)
    if link:
        path.symlink_to(real)


def names(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IFMT(path.lstat().st_mode) for path in folder.iterdir()}


KINDS = pytest.mark.parametrize("kind", ["pipe", "socket", "pipe behind a link", "socket behind a link"])
SWEEP = ("--preset", "trim", "--vary", "window=3k", "--resume")
COMMANDS = {
    "compact": ("o.jsonl", ("--preset", "trim", "--set", "trigger_messages=3", "--force", "-o")),
    "compact to another format": ("o.jsonl", ("--preset", "trim", "--to", "pi", "--force", "-o")),
    "report": ("o.html", ("--compare", "", "--overwrite", "-o")),
    "sweep": ("o.journal", SWEEP),
}


@KINDS
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_what_is_no_file(command: str, kind: str, tmp_path: Path) -> None:
    session = write_lines(tmp_path / "session.jsonl", session_lines())
    name, args = COMMANDS[command]
    out = tmp_path / "out" / name
    special(out, kind)
    before = names(out.parent)
    run = cwb(command.partition(" ")[0], session, *args, out)
    assert (run.exit_code, run.stdout) == (2, "")
    assert "is a device, pipe or socket" in run.stderr
    assert names(out.parent) == before


WRITERS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], object]]] = {
    "a file": (lambda tmp: tmp / "out" / "o", lambda path: write_atomically(path, b"x", overwrite=True)),
    "a new file": (lambda tmp: tmp / "out" / "o", lambda path: write_atomically(path, b"x")),
    "a preset": (lambda tmp: preset_path("trim"), lambda path: save_preset(load_preset("trim"))),
    "a prompt": (lambda tmp: own_folder() / "p.md", lambda path: write_own("p.md", "---\nid: p\n---\ntext")),
}


@KINDS
@pytest.mark.parametrize("writer", WRITERS)
def test_a_writer_refuses_what_is_no_file(writer: str, kind: str, tmp_path: Path, own_home: Path) -> None:
    where, write = WRITERS[writer]
    path = where(tmp_path)
    special(path, kind)
    before = names(path.parent)
    with pytest.raises(BadInput, match="is a device, pipe or socket"):
        write(path)
    assert names(path.parent) == before


@pytest.mark.parametrize("name", ["nul\0byte", "surrogate\ud800", "n" * 300])
def test_a_name_that_no_file_can_have_is_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be written"):
        write_atomically(tmp_path / name, b"x", overwrite=True)
    assert names(tmp_path) == {}
