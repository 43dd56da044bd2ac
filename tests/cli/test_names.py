"""The names of the commands: the page that lists them, former names, and the options of each job."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.commands import cwb, session_lines, write_lines
from workbench.cli.names import COMMANDS, FORMER

CHANGED = 1_767_323_045
"""When the session was changed: some commands tell."""


def test_every_command_has_a_line_of_its_own_on_one_page() -> None:
    page = cwb("--help").output.splitlines()
    for name, line in COMMANDS.items():
        assert len(line) < 60
        assert [one for one in page if re.fullmatch(rf"  {name} +{re.escape(line)}", one)]
    assert max(map(len, page)) < 80
    assert len(page) <= 32


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = write_lines(tmp_path / "session.jsonl", session_lines())
    os.utime(path, (CHANGED, CHANGED))
    return path


SAME = [
    ("doctor {file}", "inspect {file} --health"),
    ("doctor {file} --json", "inspect {file} --json --health"),
    ("rework {file}", "why {file} --rework"),
    ("rework {file} --json", "why {file} --rework --json"),
    ("replay {file} --preset trim,codex", "compare {file} --over-session --presets trim,codex"),
    ("replay {file} --strategy trim --json", "compare {file} --over-session --strategy trim --json"),
    ("replay {file} --strategy trim --epoch 1 --no-plot", "compare {file} --no-plot --strategy trim --over-session"),
    ("sweep {file} --preset trim --vary window=3k", "compare {file} --preset trim --vary window=3k"),
    ("sweep {folder} --preset trim --vary window=3k --json", "compare {folder} --preset trim --vary window=3k --json"),
    (
        "ab {file} --prompt user-messages.en --prompt user-messages.zh",
        "compare {file} --prompt user-messages.en --prompt user-messages.zh",
    ),
    (
        "ab {folder} --summarizer extractive --summarizer estimate",
        "compare {folder} --summarizer extractive --summarizer estimate",
    ),
    ("probe {file} --preset trim", "retention {file} --ask --preset trim"),
    ("probe {folder} --preset trim --max 3", "retention {folder} --preset trim --max 3 --ask"),
    ("pins {file}", "rules {file} --marked"),
    ("pins {file} --suggest", "rules {file}"),
    ("pins {file} --suggest --json", "rules {file} --json"),
    ("play {file} --preset trim --text", "demo {file} --preset trim --text"),
    ("play {file} --preset trim --json", "demo {file} --preset trim --json"),
    ("sessions --root {folder}", "audit {folder} --quick"),
    ("sessions --root {folder} --json --tool claude", "audit {folder} --quick --tool claude --json"),
    ("sessions {file}", "audit {file} --quick"),
    ("strategies", "list strategies"),
    ("strategies trim --sources", "list presets trim"),
    ("strategies --properties --json", "list presets --properties --json"),
    ("models --json", "list models --json"),
    ("runs --json", "list runs --json"),
    ("runs spent --by model", "list runs spent --by model"),
]
"""Command lines with a former name, and what they are now."""


@pytest.mark.parametrize(("former", "now"), SAME)
def test_a_former_name_does_the_same_and_says_the_new_one(former: str, now: str, session: Path) -> None:
    then, today = (cwb(*line.format(file=session, folder=session.parent).split()) for line in (former, now))
    name = former.split()[0]
    assert _steady(then.stdout) == _steady(today.stdout)
    assert then.stderr == f"`cwb {name}` is now `{FORMER[name]}`.\n{today.stderr}"
    assert then.exit_code == today.exit_code


def _steady(said: str) -> str:
    """Output without seconds that a run took."""
    return re.sub(r"\b\d+\.\d s\b", "… s", said)


def test_every_former_name_is_tried() -> None:
    assert {line.split()[0] for line, _ in SAME} == set(FORMER)


REFUSED = [
    ("inspect {file} --health --notes", "--notes cannot be combined with --health; leave one out."),
    ("audit {folder} --skipped", "--skipped needs --quick; add that, or leave --skipped out."),
    ("audit {folder} --quick --by tool", "--by cannot be combined with --quick; leave one out."),
    ("demo --preset trim", "--preset needs FILE; add that, or leave --preset out."),
    ("list presets trim --properties", "--properties shows every preset; leave NAME out."),
    ("why {file} --rework --window 9", "--window cannot be combined with --rework; leave one out."),
    ("compare {file} --over-session --diff", "--diff cannot be combined with --over-session; leave one out."),
    (
        "compare {file} --vary window=3k --plot",
        "--plot needs --over-session and cannot be combined with --vary; leave one out.",
    ),
    ("compare {file} --vary window=3k --prompt a", "--prompt cannot be combined with --vary; leave one out."),
    ("compare {file} --batch", "--batch needs --prompt or --model; add that, or leave --batch out."),
    ("compare {file} {file} --diff", "--diff needs one session; name one FILE."),
    ("compare {file} {file} --over-session", "This command takes one session; 2 FILEs are named."),
    ("compare {file} --model a", "Give at least two prompts, or two summarizers."),
    ("retention {file} --write", "--write needs --ask; add that, or leave --write out."),
    ("retention {file} --ask --generations 2", "--generations cannot be combined with --ask; leave one out."),
    ("inspect {file} --all", "--all needs --health; add that, or leave --all out."),
]


@pytest.mark.parametrize(("line", "sentence"), REFUSED)
def test_an_option_of_another_job_is_refused(line: str, sentence: str, session: Path) -> None:
    done = cwb(*line.format(file=session, folder=session.parent).split())
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == f"Error: {sentence}"


@pytest.mark.parametrize(("typed", "meant"), [("inspct", "inspect"), ("docto", "inspect --health")])
def test_a_mistyped_name_is_told_what_may_be_meant(typed: str, meant: str) -> None:
    assert f"did you mean '{meant}'?" in cwb(typed).stderr
