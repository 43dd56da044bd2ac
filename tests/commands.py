"""The command line, called in this process and as a program of its own, and a session to call it on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from tests.formats.claude_code_build import assistant, call, result, text, user
from tests.paths import ROOT
from workbench.cli import commands, main

ROUNDS = 12
RULE = "Never touch the generated files."


def cwb(*args: object) -> Result:
    """Run in this process; an exception that is no exit is raised here, as a bug."""
    return CliRunner().invoke(commands, [str(arg) for arg in args], prog_name="cwb", catch_exceptions=False)


def document(*args: object, code: int | None = 0) -> dict[str, Any]:
    """What a command says as JSON; `code` None takes any exit code."""
    run = cwb(*args, "--json")
    assert code is None or run.exit_code == code, run.output
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def program(*args: object, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run as a new process: dear, and only for what this process cannot show."""
    command = [sys.executable, "-m", "workbench", *map(str, args)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, **more)


LOADED = [
    *("tests.commands", "anthropic", "genai_prices.data"),
    *("workbench.cli.compact", "workbench.summarizers.live", "workbench.tui.app", "workbench.tui.screens.run"),
]


def program_on(terminal: int, *args: object) -> ForkServerProcess:
    """Run as a process and session of its own on a terminal, or on a pipe. It is forked from a process that has loaded
    the modules of live calls and of the screen: to load them is most of what a program costs."""
    processes = get_context("forkserver")
    processes.set_forkserver_preload(LOADED)
    begun = processes.Process(target=_on_terminal, args=(DupFd(terminal), [*map(str, args)], dict(os.environ)))
    begun.start()
    return begun


def _on_terminal(terminal: Any, args: list[str], environment: Mapping[str, str]) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    given = terminal.detach()
    for number in range(3):
        os.dup2(given, number)
    os.close(given)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - they are the process's own
    sys.__stdin__ = sys.stdin  # type: ignore[misc] # multiprocessing has closed the first one, which Textual reads
    try:
        main(args)
    except SystemExit as ended:  # multiprocessing would flush to a terminal that may be gone, and end with 1
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 1)


def session_lines(rounds: int = ROUNDS) -> list[dict[str, Any]]:
    """Rounds of a question, a call, its result and an answer of 2 000 characters, billed as they grow."""
    lines: list[dict[str, Any]] = []
    parent: str | None = None
    for n in range(rounds):
        words = RULE if n == 0 else f"Please do step {n}."
        asked, answered = ({"usage": _usage(20_000 + 800 * n + more)} for more in (10, 250))
        lines += [
            user(f"u{n}", parent, words),
            assistant(f"c{n}", f"u{n}", f"msg_c{n}", call(f"toolu_{n}", file_path=f"/src/part{n}.py"), body=asked),
            result(f"r{n}", f"c{n}", f"toolu_{n}", f"{n}\tcontents of part {n}\n" * 20),
            assistant(f"a{n}", f"r{n}", f"msg_a{n}", text(f"Step {n} is done. " + "word " * 400), body=answered),
        ]
        parent = f"a{n}"
    return lines


def _usage(context: int) -> dict[str, int]:
    return {
        "input_tokens": 10,
        "cache_read_input_tokens": context,
        "cache_creation_input_tokens": 0,
        "output_tokens": 5,
    }


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path
