"""Commands and the streams around them: input from a pipe, output that has nowhere to go."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.commands import program_on, session_lines, write_lines
from tests.paths import ROOT, SAMPLES
from tests.products import mostly_full
from workbench.cli import commands
from workbench.cli.output import has_a_screen

SESSION = json.dumps([{"role": "user", "content": "Héllo."}, {"role": "assistant", "content": "Yes."}])


SESSION_FILE = str(SAMPLES / "claude-code-overflow.jsonl")
SHORT_FILE = str(SAMPLES / "codex-two-compactions.jsonl")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(*args: str, stdin: str | None = None) -> dict[str, object]:
    done = CliRunner().invoke(commands, [*args, "--json"], input=stdin)
    assert done.exit_code == 0, done.output
    document: dict[str, object] = json.loads(done.stdout)
    return document


def test_a_session_comes_through_standard_input_or_a_pipe(tmp_path: Path) -> None:
    file, pipe = tmp_path / "session.json", tmp_path / "pipe"
    file.write_text(SESSION, "utf-8")
    os.mkfifo(pipe)
    writing = threading.Thread(target=lambda: pipe.write_text(SESSION, "utf-8"), daemon=True)  # nobody may read it
    writing.start()
    found = [run("inspect", str(file)), run("inspect", "-", stdin=SESSION), run("inspect", str(pipe))]
    writing.join()
    assert [(one["format"], one["epochs"]) for one in found] == [(found[0]["format"], found[0]["epochs"])] * 3
    assert not Path(str(found[1]["file"])).exists(), "what came is kept nowhere"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without /dev/full")
def test_output_that_has_nowhere_to_go_is_one_sentence() -> None:
    script = '"$0" -m workbench --version >/dev/full; echo $?; "$0" -m workbench --version >&-; echo $?'
    done = subprocess.run(["sh", "-c", script, sys.executable], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["74", "0"]
    assert done.stderr == "Error: the output cannot be used: No space left on device.\n"


def test_json_is_utf_8_whatever_the_environment_says(tmp_path: Path) -> None:
    file = tmp_path / "grün \U0001f600.json"
    file.write_text(SESSION, "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    words = [sys.executable, "-m", "workbench", "inspect", str(file), "--json"]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True)
    assert json.loads(done.stdout.decode())["file"] == str(file)


def test_what_a_session_names_writes_no_escapes_on_a_terminal(tmp_path: Path) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "Bash\x1b]0;T\x07", "arguments": "{}"}}
    talk = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "x" * 60_000},
    ]
    file = tmp_path / "session.json"
    file.write_text(json.dumps(talk))
    done = CliRunner().invoke(commands, ["why", str(file)])
    assert "Bash" in done.output
    assert not {"\x1b", "\x07"} & set(done.output)


def _with_escapes(value: Any, key: str = "") -> Any:
    match value:
        case dict():
            return {name: _with_escapes(inner, name) for name, inner in value.items()}
        case list():
            return [_with_escapes(inner, key) for inner in value]
        case str() if key not in ("type", "role", "timestamp"):
            return f"{value}\x1b]0;T\x07"
    return value


@pytest.mark.parametrize(
    "line",
    ["inspect", "inspect --health", "inspect --notes", "why --window 25000", "rules", "retention", "compare"],
)
def test_whatever_text_of_a_session_is_shown_writes_no_escapes_on_a_terminal(line: str, tmp_path: Path) -> None:
    """Ids, versions and folders as well as what was said."""
    file = write_lines(tmp_path / "session.jsonl", _with_escapes(session_lines()))
    done = CliRunner().invoke(commands, [*line.split(), str(file)])
    assert done.exit_code == 0, done.output
    assert not {"\x1b", "\x07"} & set(done.output)


STYLED: tuple[tuple[str, ...], ...] = (
    ("why", SHORT_FILE),
    ("inspect", SHORT_FILE),
    ("inspect", SHORT_FILE, "--verbosity", "default"),
    ("inspect", SHORT_FILE, "--layers"),
    ("inspect", "--health", SHORT_FILE),
    ("compare", SHORT_FILE, "--presets", "codex,trim"),
    ("list", "strategies"),
    ("list", "strategies", "trim"),
)
WITHOUT = {"NO_COLOR": {"NO_COLOR": "1", "TERM": "xterm"}, "dumb": {"TERM": "dumb"}, "unknown": {"TERM": "unknown"}}
WITH = {
    "none said": {"TERM": "xterm"},
    "NO_COLOR is empty": {"NO_COLOR": "", "TERM": "xterm"},
    "no TERM": {"TERM": None},
}


@pytest.mark.parametrize("words", STYLED, ids=lambda words: " ".join(word for word in words if word != SHORT_FILE))
def test_f13_where_no_escape_code_is_wanted_a_terminal_gets_none(words: tuple[str, ...]) -> None:
    """Every environment for a quick command, one with and one without colour for the others."""
    every = words[0] == "list"
    environments = {**WITHOUT, **WITH} if every else {"dumb": WITHOUT["dumb"], "none said": WITH["none said"]}
    printed = {}
    for name, environment in environments.items():
        done = CliRunner(env={"NO_COLOR": None} | environment).invoke(commands, words, color=True)
        assert done.exit_code == 0, done.output
        printed[name] = done.output
    assert [name for name, output in printed.items() if "\x1b" in output] == [
        name for name in environments if name in WITH
    ]
    plain = {re.sub(r"\x1b\[[0-9;]*m", "", output) for output in printed.values()}
    assert len(plain) == 1, "the words are the same"


@pytest.mark.parametrize("name", mostly_full([*WITHOUT, *WITH], ["dumb", "none said"]))
def test_f13_nor_does_the_line_that_says_how_far_the_work_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in ({"NO_COLOR": None} | {**WITHOUT, **WITH}[name]).items():
        if value is None:
            monkeypatch.delenv(variable, raising=False)
        else:
            monkeypatch.setenv(variable, value)
    monkeypatch.setenv("COLUMNS", "80")  # the width is the terminal's, whatever the environment says
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    child = program_on(inner, "inspect", SESSION_FILE)
    os.close(inner)
    seen = b""
    with suppress(OSError):  # what Linux says once the other side is closed
        while more := os.read(terminal, 65_536):
            seen += more
    os.close(terminal)
    child.join()
    assert child.exitcode == 0
    assert b"Reading, 100 %" in seen
    assert (b"\x1b" in seen) == (name in WITH)
    assert (b"\r" + b" " * 29 + b"\r" in seen) == (name in WITHOUT)


@pytest.mark.parametrize(
    ("name", "shown"), [("dumb", False), ("unknown", False), ("none said", True), ("NO_COLOR", True)]
)
def test_f13_no_screen_is_drawn_on_a_terminal_that_takes_no_escape_codes(
    name: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in {**WITHOUT, **WITH}[name].items():
        monkeypatch.setenv(variable, value or "")
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert has_a_screen() == shown


def test_f17_main_runs_twice_in_one_process() -> None:
    """Once a command is imported the package has its module under its name: `open` is no built-in there any more."""
    twice = """
from workbench.cli import main
for words in (["open", "--help"], ["--version"]):
    try:
        main(words)
    except SystemExit as left:
        print("left with", left.code)
"""
    done = subprocess.run([sys.executable, "-c", twice], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    assert [line for line in done.stdout.splitlines() if "left" in line] == ["left with 0"] * 2
