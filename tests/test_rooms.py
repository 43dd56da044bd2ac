"""Every room but the screen and the command line works without the screen and without a network client."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.paths import ROOT

ROOMS = ("session", "formats", "tokens", "facts", "compaction", "summarizers", "analysis", "bench")
HEAVY = ("textual", "anthropic", "tiktoken")

_PROBE = """
import importlib, pkgutil, sys
room = importlib.import_module("workbench." + sys.argv[1])
for module in pkgutil.walk_packages(getattr(room, "__path__", ()), room.__name__ + "."):
    importlib.import_module(module.name)
print(" ".join(name for name in sys.argv[2:] if name in sys.modules))
"""


def _loaded(room: str) -> str:
    """Which of the heavy modules are there after every module of a room is imported in a new interpreter."""
    run = subprocess.run(
        [sys.executable, "-c", _PROBE, room, *HEAVY], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture(scope="module")
def loaded() -> dict[str, str]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(ROOMS, pool.map(_loaded, ROOMS), strict=True))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_without_screen_and_client(room: str, loaded: dict[str, str]) -> None:
    assert loaded[room] == ""


def test_help_imports_no_room() -> None:
    code = """
import sys
from workbench.cli import commands
commands.main(["--help"], prog_name="cwb", standalone_mode=False)
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("workbench.")}
heavy = {"textual", "anthropic", "tiktoken", "pydantic", "orjson"} & set(sys.modules)
print(sorted(rooms - {"cli", "errors"}), sorted(heavy))
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.splitlines()[-1] == "[] []"
