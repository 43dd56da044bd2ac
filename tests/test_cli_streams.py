"""Commands and the streams around them: input from a pipe, output that has nowhere to go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.paths import ROOT
from workbench.cli import commands

SESSION = json.dumps([{"role": "user", "content": "Héllo."}, {"role": "assistant", "content": "Yes."}])


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
    assert not Path(str(found[1]["path"])).exists(), "what came is kept nowhere"


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
    assert json.loads(done.stdout.decode())["path"] == str(file)


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
