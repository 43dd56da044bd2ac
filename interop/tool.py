"""What interop knows of a tool: how it is installed and run, what its requests are, and what is known of its habits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import workbench
from interop.compare import Allowance
from interop.homes import Failed, Home, Package
from interop.server import Request
from interop.server.script import Call
from workbench.base.values import words_in
from workbench.bench import open_bench, with_watched_rules
from workbench.tokens import Counter


def every_request(request: Request) -> bool:
    return True


def with_tools(request: Request) -> bool:
    """Titles, summaries and the like are asked for without tools."""
    return bool(request.body.get("tools"))


def nothing(home: Home) -> None:
    """For a tool that needs no settings."""


def compact_with_instruction(home: Home, path: Path, again: Callable[[Home, Path, str], None]) -> Path:
    """Enter the workbench's line for the tool's own compaction as a prompt; its rule is watched, because an earlier
    compaction may have lost it. Raises Failed if no request to a model has the text verbatim."""
    bench = open_bench(workbench.load(path), Counter(), epoch="last")
    found = with_watched_rules(bench, ("Never touch weir.cfg, whatever happens.",)).instruction
    with home.server.mark() as requests:
        again(home, path, found.line)
    if not any(found.text in text for one in requests for text in words_in(dict(one.body))):
        raise Failed(f"no request has the text of “{found.line[:80]}…”")
    return path


def keep(home: Home, path: Path) -> None:
    """For a tool whose session is its file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One of the workbench's own compactions: a preset's or a strategy's id, changed fields, and whether the second of
    the person's messages is pinned."""

    by: str
    fields: Mapping[str, int | float | str] = field(default_factory=dict)
    pin: bool = False

    def __str__(self) -> str:
        return f"{self.by}, pinned" if self.pin else self.by


PLANS = (
    Plan("exchange-summary"),
    Plan("exchange-summary", pin=True),
    Plan("ledger", {"budget_tokens": 2000}),
    Plan("clear-tool-results"),
)
"""What every tool's session is compacted by; the preset of the tool's own format comes to it by itself."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, as plain functions on its home. None of them reads what the workbench reads of it.

    id, title: as `make interop TOOL=id` and the table name it.
    package: what is installed, at which version.
    format: the format of its sessions, or a way of it, as `--to` takes it.
    read(path): the call that reads a file of the project folder, by its relative path.
    env(home): what is set in its environment beside HOME and PATH; the server's base URL, dummy keys, updates off.
    configure(home): writes its settings into the home, before each trial.
    make(home, prompts): makes a session of these prompts, one after the other; returns its file.
    again(home, path, prompt): one more prompt in the session that lies where the tool itself put it.
    compactions: by name, what has the tool itself compact that session: (home, path) gives the file that it goes on
        in. They are tried one after the other on the same session.
    foretold: for a tool that compacts what it sends and never its file: the plan by which the workbench tells what that
        will be, with the server's summary.
    launcher: the body of a shell script, under `command`'s name first on PATH while the printed steps run, that goes on
        with the prompt in $PROMPT where the tool would open its screen; $TOOL is the tool itself, "$@" what it got.
    resume(home, file, steps, prompts): for a package without a command, in place of running the steps by `sh`: goes on
        in the exported file with each prompt in turn, by a process of its own.
    each(home, files, prompt): for a package whose script does this quickly: goes on with the prompt in each file, the
        model of number N, from 0, asked at the server's URL/N; returns the error of each, "" where there was none.
    turn(request): whether a request is a turn of the conversation, and not a title, a summary, a warm-up.
    allowances: what is known to differ between what it keeps and what it sends, and harmless.
    plans: what its session is compacted by.
    beside: where the file lies that is read with a session's.
    forget(home, path): takes a session out of the tool's own store, so that its repaired copy comes in its place.
    words: texts of which its fixtures keep every line, and every part of one: what it puts around what it kept, when it
        sends it, or what it makes of the project's files.
    """

    id: str
    title: str
    package: Package
    format: str
    read: Callable[[str], Call]
    make: Callable[[Home, Sequence[str]], Path]
    again: Callable[[Home, Path, str], None]
    env: Callable[[Home], Mapping[str, str]]
    configure: Callable[[Home], None] = nothing
    compactions: Mapping[str, Callable[[Home, Path], Path]] = field(default_factory=dict)
    foretold: Plan | None = None
    command: str = ""
    launcher: str = 'exec "$TOOL" -p "$PROMPT" "$@"'
    resume: Callable[[Home, Path, tuple[str, ...], Sequence[str]], None] | None = None
    each: Callable[[Home, Sequence[Path], str], Mapping[Path, str]] | None = None
    turn: Callable[[Request], bool] = every_request
    allowances: tuple[Allowance, ...] = ()
    plans: tuple[Plan, ...] = PLANS
    beside: Callable[[Path], Path] | None = None
    words: tuple[str, ...] = ()
    forget: Callable[[Home, Path], None] = keep
