"""`cwb` alone: the sessions on this machine, newest first, with what to do next."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.commands import cwb
from tests.paths import SAMPLES
from workbench.bench import open_bench
from workbench.cli.names import ALONE
from workbench.cli.open import OVERFLOWING, SAMPLE_PRESET, first_shown
from workbench.formats.files import load
from workbench.tokens import Counter
from workbench.tui.middle.parts import TabInput
from workbench.tui.middle.tabs import abridged_parts
from workbench.tui.plan_words import unmovable_words
from workbench.tui.rows import Groups

CHANGED = 1_767_323_045
OVERFLOW, COMPACTED = SAMPLES / OVERFLOWING, SAMPLES / "codex-two-compactions.jsonl"


@pytest.fixture
def sessions(own_home: Path) -> Path:
    """A home with two sessions, the one that was compacted is the newer one."""
    places = (own_home / ".claude/projects/p/a.jsonl", own_home / ".codex/sessions/2026/01/02/rollout-a.jsonl")
    for number, (sample, place) in enumerate(zip((OVERFLOW, COMPACTED), places, strict=True)):
        place.parent.mkdir(parents=True)
        shutil.copyfile(sample, place)
        os.utime(place, (CHANGED + number, CHANGED + number))
    return own_home


def test_without_a_screen_it_is_a_table(sessions: Path) -> None:
    alone = cwb()
    assert alone.exit_code == 0
    heads, *lines = alone.stdout.splitlines()
    assert heads.split() == [
        "changed",
        "agent",
        "title",
        "tokens",
        "full",
        "compactions",
        "lost",
        "rework",
        "cost",
        "next",
        "file",
    ]
    assert [line.split()[2] for line in lines] == ["Codex", "Claude"]
    assert "Rotating sessions for harbour" in lines[1]
    assert "197 368  99 %" in lines[1]
    assert "rescue: 99 % full" in lines[1]
    assert alone.stdout == cwb(*ALONE).stdout


def test_it_is_csv_and_json_too(sessions: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(cwb("--csv").stdout)))
    assert [(one["agent"], one["tokens"], one["next_step"]) for one in rows] == [
        ("Codex", "6679", ""),
        ("Claude Code", "197368", "rescue: 99 % full"),
    ]
    found = json.loads(cwb("--json").stdout)["sessions"]
    assert [(one["agent"], one["tokens"], one["next_step"]) for one in found] == [
        ("Codex", 6679, ""),
        ("Claude Code", 197368, "rescue: 99 % full"),
    ]


def test_only_the_newest_files_are_read(sessions: Path) -> None:
    broken = sessions / ".claude/projects/p/a.jsonl"
    broken.write_text("no session")
    os.utime(broken, (CHANGED, CHANGED))
    assert "could not be read" not in cwb("audit", "--newest", 1).stderr
    assert "could not be read" in cwb("audit").stderr


def test_without_sessions_it_says_where_to_find_some() -> None:
    alone = cwb()
    assert (alone.exit_code, alone.stdout) == (0, "")
    assert "no sessions there; name another folder, or see one with `cwb demo`." in alone.stderr


def test_on_a_screen_it_is_the_list(sessions: Path) -> None:
    assert first_shown(bare=True) == "sessions"
    assert first_shown(bare=False) == OVERFLOW


def test_on_a_screen_without_sessions_it_is_the_sample(own_home: Path) -> None:
    assert first_shown(bare=True) == OVERFLOW


def test_b2_the_sample_opens_under_a_preset_whose_split_can_be_moved(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str | None] = []

    class App:
        return_code = 0

        def __init__(self, shown: object, *, preset: str | None, **rest: object) -> None:
            opened.append(preset)

        def run(self) -> None:
            """No screen is drawn."""

    monkeypatch.setattr("workbench.tui.app.WorkbenchApp", App)
    monkeypatch.setattr("workbench.cli.open.has_a_screen", lambda: True)
    for args in ([], ["--preset", "trim"], [str(COMPACTED)], ["--choose"]):
        result = cwb("open", *args)
        assert result.exit_code == 0, result.output
    assert opened == [SAMPLE_PRESET, "trim", None, None]
    bench = open_bench(load(OVERFLOW), Counter(), preset=SAMPLE_PRESET)
    assert unmovable_words(bench) == ""
    assert "Abridged history" in abridged_parts(TabInput(bench, Groups(bench.layout), 0))[0].text
