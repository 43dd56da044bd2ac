"""Whatever the program writes: whole, private, and never over a device, pipe or socket that has the name."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import cwb, session_lines, write_lines
from tests.paths import ROOT
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import write_atomically
from workbench.compaction.preset import load_preset, preset_path, save_preset
from workbench.compaction.prompts import write_own

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
    "a prompt": (lambda tmp: paths.prompts() / "p.md", lambda path: write_own("p.md", "---\nid: p\n---\ntext")),
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


def test_of_a_name_that_is_too_long_it_says_so(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("n" * 255), b"x")
    with pytest.raises(BadInput, match="File name too long; choose a shorter name"):
        write_atomically(tmp_path / ("n" * 256), b"x")


def test_a_new_file_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_atomically(path, b"one")
    assert path.read_bytes() == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_replaced_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(BadInput, match="exists already"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    write_atomically(path, b"new", overwrite=True)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a folder"):
        write_atomically(tmp_path, b"x", overwrite=True)
    with pytest.raises(BadInput, match="cannot be written"):
        write_atomically(tmp_path / "none" / "x", b"x")
    assert list(tmp_path.iterdir()) == []


_WRITES = re.compile(r"""\.write_(?:text|bytes)\(|shutil\.copy|O_CREAT|open\((?:\w+, )?["'][wax][+bt]*["']""")
OWN_WAY = {
    "base/files.py": "the one way",
    "cli/selection.py": "what comes through a pipe, in a folder of its own that is gone afterwards",
    "formats/kit/database.py": "a copy of a database, in a folder of its own that is gone afterwards",
    "tui/external_editor.py": "what the editor opens, in a folder of its own that is gone afterwards",
    "analysis/sweep/journal.py": "a line is added at a time; asks `refuse_special` first",
    "summarizers/journal.py": "SQLite writes it; made beforehand so that it is the owner's alone",
}


def test_nothing_is_written_by_other_means() -> None:
    found = {
        str(path.relative_to(ROOT / "workbench"))
        for path in ROOT.glob("workbench/**/*.py")
        if _WRITES.search(path.read_text("utf-8"))
    }
    assert found == set(OWN_WAY)
