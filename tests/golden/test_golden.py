"""What every command prints, to the letter: each file here holds command lines and what they said.

A file is `$ cwb …` with stdout under it, stderr in lines that begin with `! `, and `[exit N]` where it is not 0. To add
one, write its command lines and run `pytest tests/golden --golden-update`; so, too, to accept a change: read the diff.
The samples lie in the folder that the commands of a file run in, one after the other; RUN1 is the first kept run.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from itertools import count
from pathlib import Path

import pytest

from tests.commands import cwb
from tests.paths import ROOT, SAMPLES
from workbench.formats.kit import folder

FOLDER = Path(__file__).parent
CHANGED = 1_767_323_045
"""When the samples were changed: `cwb audit --quick` tells."""

_RUN = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b")
_STAMP = r"\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d(?:[:-]\d\d)?"
_UNSTEADY = (
    (r'(?m)^(\s*"(?:seconds|began|ended|age_seconds)": )[^\n]*?(,?)$', r"\1…\2"),
    (rf"(?m)^(began +|RUN\d_* +|rollout-){_STAMP}", r"\1WHEN"),
    (rf"\brollout-{_STAMP}", "rollout-WHEN"),
    (r"(?<=sessions/)\d{4}/\d\d/\d\d", "DAY"),
    (r"(?m)^(RUN\d_* .*?  )\d+\.\d(?=  )", r"\1…"),
    (r"\b\d+\.\d s\b", "… s"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
    (r"(?m)\b[0-9a-f]{32}\b|(?<=\()[0-9a-f]{12}(?=\)$)", "FINGERPRINT"),
)
"""What differs from run to run, and what stands here in its place."""


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    for sample in SAMPLES.iterdir():
        copy = folder / sample.name
        copy.write_bytes(sample.read_bytes())
        os.utime(copy, (CHANGED, CHANGED))
    return folder


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_what_commands_say(
    path: Path,
    samples: Path,
    tmp_path: Path,
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    for sample in samples.iterdir():
        (tmp_path / sample.name).hardlink_to(sample)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(folder, "current_folder", lambda: "/here")  # its length counts in what is written
    # A second later at each look: what is written now has the same length, and runs are in order.
    monkeypatch.setattr(time, "time", count(CHANGED + 100_000.25).__next__)
    runs: list[str] = []
    said = "".join(_said(line, runs) for line in path.read_text("utf-8").splitlines() if line.startswith("$ cwb"))
    for place, name in ((own_home, "HOME"), (tmp_path, "HERE"), (ROOT, "ROOT")):
        said = said.replace(str(place), name)
    if request.config.getoption("golden_update"):
        path.write_text(said, "utf-8")
    assert said == path.read_text("utf-8")


def _said(line: str, runs: list[str]) -> str:
    """One command line and what it said; `runs` are the ids of the kept runs that were seen."""
    words = shlex.split(line)[2:]
    done = cwb(*(runs[int(word[3:]) - 1] if word.startswith("RUN") else word for word in words))
    said = done.stdout + "".join(f"! {error}\n" for error in done.stderr.splitlines())
    runs += [id for id in dict.fromkeys(_RUN.findall(said)) if id not in runs]
    for number, id in enumerate(runs, 1):
        said = said.replace(id, f"RUN{number}".ljust(len(id), "_"))
    for pattern, steady in _UNSTEADY:
        said = re.sub(pattern, steady, said)
    return f"{line}\n{said}" + (f"[exit {done.exit_code}]\n" if done.exit_code else "")
