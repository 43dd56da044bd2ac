"""`make run` installs what running needs and says how far it is; the rest comes with `make test`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import set_up
from tests.paths import ROOT

SAID = """\
Looking in links: /wheels
Collecting anthropic>=0.60 (from -r x)
  Downloading anthropic-0.72.0-py3-none-any.whl (357 kB)
Collecting numpy<3,>=1.26
  Downloading numpy-2.1.3-cp311-cp311-manylinux_2_17_x86_64.whl (16.3 MB)
Collecting six
  Using cached six-1.16.0-py2.py3-none-any.whl (11 kB)
"""


def test_what_pip_says_is_counted() -> None:
    heard = set_up.Heard()
    told = []
    for line in SAID.splitlines():
        heard.hear(line)
        told.append(str(heard))
    assert told[0] == "2/3 Fetching: 0 packages, 0 MB"
    assert told[-1] == "2/3 Fetching: 3 packages, 17 MB  six"
    assert heard.coming == 0
    heard.hear("Installing collected packages: six, numpy, anthropic")
    assert heard.coming == 3


def test_a_pipe_gets_only_what_is_done_and_a_terminal_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    progress = set_up.Progress()
    progress.now("2/3 Fetching: 1 packages")
    progress.done("2/3 Fetched 1 packages")
    assert capsys.readouterr().err == "2/3 Fetched 1 packages  0 s\n"
    progress.live = True
    progress.now("2/3 Fetching: 2 packages")
    progress.now("2/3 Fetching: 3 packages")
    assert capsys.readouterr().err == "\r\033[K2/3 Fetching: 2 packages\r\033[K2/3 Fetching: 3 packages"


def test_running_needs_no_tools_of_development(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names = {one.partition(">")[0] for one in set_up.needed("run")}
    assert {"textual", "click", "pydantic"} <= names
    assert not {"pytest", "mypy", "ruff", "hatchling", "-e"} & names
    assert set_up.needed("dev") == ["-e", ".[dev]"]


def planned(folder: Path, target: str) -> list[str]:
    """What `make` would do for a target in a checkout whose .venv is `folder`."""
    run = subprocess.run(
        ["make", "-n", "-f", ROOT / "Makefile", f"PYTHON={sys.executable}", target],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    return [line.strip() for line in run.stdout.splitlines() if "set_up" in line or "-m" in line]


def test_each_target_sets_up_what_it_needs_once(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".venv").mkdir()
    runs, dev = (f"{sys.executable} scripts/set_up.py {kind}" for kind in ("run", "dev"))
    opens, tests = ".venv/bin/python -m workbench open", ".venv/bin/python -m pytest -n 2 --dist worksteal"
    assert planned(tmp_path, "run") == [runs, opens]
    assert planned(tmp_path, "test") == [runs, dev, tests]
    (tmp_path / ".venv" / ".runs").touch()
    assert planned(tmp_path, "run") == [opens]
    assert planned(tmp_path, "test") == [dev, tests]
    (tmp_path / ".venv" / ".installed").touch()
    assert planned(tmp_path, "test") == [tests]
