"""Whatever the program writes: whole, private, and never over a device, pipe or socket that has the name."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands import cwb, session_lines, write_lines
from tests.paths import ROOT
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.files import same_file, write_atomically
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
    "compare": ("o.journal", SWEEP),
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


def test_a_name_that_no_file_can_have_leads_to_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert same_file(tmp_path / "a", f"{tmp_path}/./a")
    assert not any(same_file(tmp_path / "a", name) for name in ("x" * 5_000, "a\0b", tmp_path / "b", tmp_path))


def test_a_damaged_session_is_repaired_whose_id_no_file_can_have(tmp_path: Path) -> None:
    written = write_lines(tmp_path / "s.jsonl", [{**one, "sessionId": "x" * 5_000} for one in session_lines()])
    written.write_bytes(written.read_bytes() + b'{"type": "user", "mess')
    assert cwb("repair", written).exit_code == 0


def test_a_new_file_is_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_atomically(path, b"one")
    assert path.read_bytes() == b"one"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_replaced_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(BadInput, match="exists; choose another name or allow replacing it"):
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


WRITING = """
import sys
from pathlib import Path
from workbench.base.files import write_atomically, write_folder

def stop(given):
    if kind == "a file":
        given.write(b"half")
        given.flush()
    print("half", flush=True)
    sys.stdin.read()

kind, path = sys.argv[1], Path(sys.argv[2])
if kind == "a file":
    write_atomically(path, stop)
elif kind == "a file that is judged":
    write_atomically(path, b"whole", verify=stop)
else:
    write_folder(path, {"a/b": b"x"}, stop)
"""
"""A program that writes a file or folder, says when half of it is done, and goes on when its input ends."""


@contextmanager
def half_way(kind: str, path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", WRITING, kind, str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"half\n"
        yield writer


UNFINISHED = pytest.mark.parametrize("kind", ["a file", "a file that is judged", "a folder"])


@UNFINISHED
@pytest.mark.parametrize("name", ["out", "another"])
def test_f15_what_a_killed_writer_left_goes_at_the_next_write_there(kind: str, name: str, tmp_path: Path) -> None:
    with half_way(kind, tmp_path / "out") as writer:
        writer.kill()
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.cwb-")
    write_atomically(tmp_path / name, b"new")
    assert [one.name for one in tmp_path.iterdir()] == [name]


@UNFINISHED
def test_f15_what_is_still_being_written_is_left_to_its_writer(kind: str, tmp_path: Path) -> None:
    with half_way(kind, tmp_path / "out") as writer:
        (left,) = tmp_path.iterdir()
        write_atomically(tmp_path / "another", b"new")
        assert left.exists()
        writer.communicate()
    assert writer.returncode == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["another", "out"]


@pytest.mark.parametrize(
    ("name", "goes"),
    [
        (".out.jsonl.cwb-abcdefgh", True),
        (".a\nb.cwb-a_345678", True),
        (".out.jsonl.cwb-abcdefg", False),
        (".out.jsonl.cwb-abcdefghi", False),
        (".out.jsonl.cwb-abcdefgh.jsonl", False),
        (".out.jsonl.cwb-ABCDEFGH", False),
        (".out.jsonl.abcdefgh", False),
        (".out.jsonl.original", False),
        ("out.jsonl.cwb-abcdefgh", False),
        (".cwb-abcdefgh", False),
    ],
)
def test_f15_only_what_is_called_as_we_call_it_goes(name: str, goes: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"x")
    write_atomically(tmp_path / "out.jsonl", b"new")
    assert (tmp_path / name).exists() != goes


@KINDS
def test_f15_what_is_no_file_or_folder_stays_whatever_it_is_called(kind: str, tmp_path: Path) -> None:
    special(tmp_path / ".out.jsonl.cwb-abcdefgh", kind)
    before = names(tmp_path)
    write_atomically(tmp_path / "out.jsonl", b"new")
    assert names(tmp_path) == {**before, "out.jsonl": stat.S_IFREG}


def test_f15_a_file_that_was_taken_for_abandoned_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, mkstemp = list[str](), tempfile.mkstemp

    def taken_once(**where: Any) -> tuple[int, str]:
        handle, name = mkstemp(**where)
        made.append(name)
        if len(made) == 1:
            os.unlink(name)
        return handle, name

    monkeypatch.setattr(tempfile, "mkstemp", taken_once)
    write_atomically(tmp_path / "out", b"new")
    assert len(made) == 2
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["字" * 85, "字" * 33 + "n" * 156, "n" * 255])
def test_f15_a_name_of_as_many_bytes_as_a_name_can_have_is_written(name: str, tmp_path: Path) -> None:
    write_atomically(tmp_path / name, b"x")
    assert [one.name for one in tmp_path.iterdir()] == [name]


_WRITES = re.compile(r"""\.write_(?:text|bytes)\(|shutil\.copy|O_CREAT|open\((?:\w+, )?["'][wax][+bt]*["']""")
OWN_WAY = {
    "base/files.py": "the one way",
    "cli/selection.py": "what comes through a pipe, in a folder of its own that is gone afterwards",
    "formats/kit/database.py": "a copy of a database, in a folder of its own that is gone afterwards",
    "tui/terminal.py": "what the editor opens, in a folder of its own that is gone afterwards",
    "analysis/sweep/cells.py": "a line is added at a time; asks `refuse_special` first",
    "hook/store.py": "a line of the log is added at a time, in a folder of its own",
    "summarizers/run_history.py": "SQLite writes it; made beforehand so that it is the owner's alone",
}


def test_nothing_is_written_by_other_means() -> None:
    found = {
        str(path.relative_to(ROOT / "workbench"))
        for path in ROOT.glob("workbench/**/*.py")
        if _WRITES.search(path.read_text("utf-8"))
    }
    assert found == set(OWN_WAY)
