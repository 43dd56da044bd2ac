"""What is no file, or has no end, is refused with a sentence before it is opened: by every command, and in folders."""

from __future__ import annotations

import builtins
import io
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import cwb, session_lines, write_lines
from tests.paths import ROOT
from workbench.base.errors import BadInput
from workbench.base.reading import open_file, read_file, read_text, special_file_kind
from workbench.cli import COMMANDS
from workbench.finding.discover import discover
from workbench.formats.files import load, parts_of

KINDS = {"a pipe": stat.S_IFIFO, "a socket": stat.S_IFSOCK}
"""What can be made without leave."""
SYSTEM = [Path(name) for name in ("/proc/uptime", "/proc/kmsg", "/proc/self/pagemap") if Path(name).is_file()]
DEVICES = [Path(name) for name in ("/dev/zero", "/dev/null") if Path(name).is_char_device()]

Unopened = Callable[[Path], Path]


@pytest.fixture
def unopened(monkeypatch: pytest.MonkeyPatch) -> Unopened:
    """Have each attempt to open this path, or a link to it, fail the test instead of waiting for ever."""
    guarded: list[Path] = []

    def guard(opening: Callable[..., Any]) -> Callable[..., Any]:
        def checked(path: Any, *args: Any, **named: Any) -> Any:
            if isinstance(path, str | os.PathLike) and Path(path).resolve() in guarded:
                pytest.fail(f"{path} was opened")
            return opening(path, *args, **named)

        return checked

    for module, name in ((builtins, "open"), (io, "open"), (os, "open")):
        monkeypatch.setattr(module, name, guard(getattr(module, name)))

    def watched(path: Path) -> Path:
        guarded.append(path.resolve())
        return path

    return watched


def made(kind: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mknod(path, KINDS[kind] | 0o600)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_f16_a_pipe_or_socket_is_not_opened(kind: str, tmp_path: Path, unopened: Unopened) -> None:
    real = unopened(made(kind, tmp_path / "real.jsonl"))
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    for path in (real, link):
        with pytest.raises(BadInput, match=f"{re.escape(str(path))} is {kind}, not a regular file; copy its content"):
            load(path)
        for read in (open_file, read_file, read_text):
            with pytest.raises(OSError, match=f"it is {kind}"):
                read(path)


NO_FILES = [*((one, "a file that the system") for one in SYSTEM), *((one, "a device") for one in DEVICES)]


@pytest.mark.parametrize(("path", "what"), NO_FILES)
def test_f16_a_device_and_a_file_of_the_system_are_not_opened(path: Path, what: str, unopened: Unopened) -> None:
    with pytest.raises(BadInput, match=f"{path} is {what}.* copy its content to a file and open that"):
        load(unopened(path))
    with pytest.raises(OSError, match=f"it is {what}"):
        open_file(path)


def test_f16_a_file_and_a_folder_are_none_of_these(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.touch()
    assert (special_file_kind(file.stat()), special_file_kind(tmp_path.stat())) == ("", "")
    assert read_file(file) == b""
    assert parts_of(file) == ()
    file.write_bytes(b"a\r\nb\rc\n")
    assert (read_file(file), read_text(file)) == (b"a\r\nb\rc\n", "a\nb\nc\n")
    with pytest.raises(IsADirectoryError):
        open_file(tmp_path)


GIVEN = {
    "inspect": (),
    "compact": ("--preset", "trim"),
    "repair": (),
    "resume": (),
    "why": (),
    "compare": (),
    "report": (),
    "retention": (),
    "rules": (),
    "demo": ("--text",),
    "rescue": (),
}
"""Commands that take a FILE, with what else they have to be given."""
WITHOUT_FILE = {"open", "list", "prompts", "audit", "check", "hook"}


def test_f16_every_command_is_tried_or_takes_no_file() -> None:
    """`open` needs a terminal, `audit` takes folders, `check` a file of its own, and `hook` an event."""
    assert set(GIVEN) | WITHOUT_FILE == set(COMMANDS)


@pytest.mark.parametrize("kind", [*KINDS, "the system's"])
@pytest.mark.parametrize("command", GIVEN)
def test_f16_a_command_says_so_in_a_sentence(command: str, kind: str, tmp_path: Path, unopened: Unopened) -> None:
    if kind == "the system's" and not SYSTEM:
        pytest.skip("a system without /proc")
    path = SYSTEM[0] if kind not in KINDS else made(kind, tmp_path / "real.jsonl")
    if kind != "a pipe":  # opened without waiting, to see whether somebody writes to it
        unopened(path)
    done = cwb(command, path, *GIVEN[command])
    assert done.exit_code == 2
    assert re.search(f"{path} is (?:.*, not a regular file; copy|a pipe without a writer; start)", done.output)


OTHER_FILES = {
    "params": ("compact", "--params"),
    "probes": ("retention", "--ask", "--probes"),
    "typed summary": ("compact", "--strategy", "exchange-summary", "--summarizer", "typed:"),
    "prompt of a product": ("prompts", "adopt", "claude-code"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OTHER_FILES)
def test_f16_so_does_an_option_that_names_a_file(name: str, kind: str, tmp_path: Path, unopened: Unopened) -> None:
    session = write_lines(tmp_path / "session.jsonl", session_lines())
    path = unopened(made(kind, tmp_path / "real"))
    command, *options = OTHER_FILES[name]
    if command == "prompts":
        done = cwb(command, *options, path)
    elif options[-1].endswith(":"):
        done = cwb(command, session, *options[:-1], f"{options[-1]}{path}")
    else:
        done = cwb(command, session, *options, path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.search(f"{path}.* is {kind}", done.stderr)


NAMES = ("a.jsonl", "a.json", "a.db", "a.jsonl.zst", "a.md", "ses_1.json", "s/base_state.json", "t/ui_messages.json")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_f16_a_listing_passes_over_it(name: str, kind: str, tmp_path: Path, unopened: Unopened) -> None:
    write_lines(tmp_path / "session.jsonl", session_lines())
    unopened(made(kind, tmp_path / name))
    done = cwb("audit", "--quick", tmp_path, "--json")
    assert done.exit_code == 0
    assert [Path(one["file"]).name for one in json.loads(done.stdout)["sessions"]] == ["session.jsonl"]
    assert len([*discover(root=tmp_path)]) in (1, 2)
    audited = cwb("audit", tmp_path, "--json")
    assert audited.exit_code == 0


BESIDE = ("session.jsonl.cwb.json", "session/subagents/agent-a1.jsonl", "session.jsonl-wal")


@pytest.mark.parametrize("name", BESIDE)
def test_f16_what_lies_next_to_a_session_is_not_opened_either(name: str, tmp_path: Path, unopened: Unopened) -> None:
    session = write_lines(tmp_path / "session.jsonl", session_lines())
    unopened(made("a pipe", tmp_path / name))
    assert cwb("inspect", session).exit_code == 0
    assert cwb("audit", "--quick", session).exit_code in (0, 2)


def test_f16_a_pipe_that_somebody_has_opened_to_write_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, set_blocking = tmp_path / "pipe", os.set_blocking
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)

    def written_now(reader: int, blocking: bool) -> None:
        os.write(writer, json.dumps([{"role": "user", "content": "Hello."}]).encode())
        os.close(writer)
        set_blocking(reader, blocking)

    monkeypatch.setattr(os, "set_blocking", written_now)
    assert cwb("inspect", pipe).exit_code == 0


def test_f16_a_shell_may_give_a_pipe_for_any_file(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"text\r\n")
    os.close(writer)
    assert read_text(f"/dev/fd/{reader}") == "text\n"
    os.close(reader)


_OPENS = re.compile(r"\.read_(?:bytes|text)\(\)|\.open\(\"rb\"\)|(?<![.\w])open\([^)]*\"rb\"")


def test_f16_sessions_are_opened_by_no_other_means() -> None:
    rooms = (ROOT / "workbench" / name for name in ("formats", "finding", "session"))
    found = [path.name for room in rooms for path in room.rglob("*.py") if _OPENS.search(path.read_text("utf-8"))]
    assert found == []


class _Swapped(os.PathLike[str]):
    """A path whose file becomes a pipe after it was looked at, before it is opened."""

    def __init__(self, path: Path) -> None:
        self.path, self.asked = path, 0

    def __fspath__(self) -> str:
        self.asked += 1
        if self.asked == 2:
            self.path.unlink()
            os.mkfifo(self.path)
        return str(self.path)


def test_a_file_that_becomes_a_pipe_while_it_is_opened_is_refused(tmp_path: Path) -> None:
    (path := tmp_path / "s.jsonl").write_text("{}\n")
    with pytest.raises(OSError, match="it is a pipe"):
        open_file(_Swapped(path))  # type: ignore[arg-type]
