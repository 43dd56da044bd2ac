"""Fixtures every test may use."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from tests.paths import SAMPLES, SHARED
from workbench.base import in_use, secrets
from workbench.base.environment import PREFIX
from workbench.cli import session_files
from workbench.compaction import opening
from workbench.compaction.shape import Shape
from workbench.formats import files
from workbench.formats.export_note import sidecar_of
from workbench.formats.format import Progress, no_progress
from workbench.repairs import engine
from workbench.session import Message, Session

# Each process of a run imports five thousand modules, and the tests start the program some hundred times: what is
# compiled is kept, whatever the environment says. Without that, collecting the tests takes three times as long.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same examples of each property in every run: the suite judges the code that lies here, and a stranger's first
# `make test` finds nothing that ours did not. `make test` draws ten, `make test-all` forty;
# `--hypothesis-profile=thorough` draws two hundred new ones, and make fuzz does nothing else. Nowhere is there a
# deadline: how long an example takes says how busy the machine is.
settings.register_profile(
    "same", max_examples=10, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("full", settings.get_profile("same"), max_examples=40)
settings.register_profile("thorough", settings.get_profile("same"), max_examples=200, derandomize=False)
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw more where the full products are run, too; a profile that is named goes before."""
    settings.load_profile("same" if "not full" in config.option.markexpr else "full")


@pytest.fixture
def shared() -> Path:
    """The folder of real sessions and specifications; skips where it is missing."""
    if SHARED is None:
        pytest.skip("the real sessions do not lie beside this checkout")
    return SHARED


MOVES = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR", "AUGMENT_CACHE_DIR"),
    *("CLINE_DIR", "CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR"),
)
"""Variables by which tools are told to keep their sessions elsewhere."""


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of all homes, in an environment that says nothing else of places, keys and settings."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ANTHROPIC_API_KEY", *MOVES, *(name for name in os.environ if name.startswith(PREFIX))):
            patch.delenv(name, raising=False)
        patch.setattr(os, "fsync", lambda file: None)  # no test pulls the plug
        # Of a file that was changed today every process is asked whether it has it open: of a new checkout, of all.
        patch.setattr(in_use, "_DAY_S", float("-inf"))
        # Commands look for circles after each session that they have read: here through all that the tests have left.
        patch.setattr(session_files, "gc", SimpleNamespace(collect=lambda: 0))
        # What could be spread over cores is done here: processes of its own take seconds to start.
        patch.setattr(os, "sched_getaffinity", lambda process: {0}, raising=False)
        yield tmp_path_factory.mktemp("homes")


@pytest.fixture(scope="session")
def latest_home() -> list[Path]:
    """The home of the test before, while nothing lies in it."""
    return []


@pytest.fixture(autouse=True)
def own_home(homes: Path, latest_home: list[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Settings, caches and runs of a test lie in a folder of its own, never in the user's."""
    home = latest_home[0] if latest_home else _folder_in(homes)
    latest_home[:] = [home]
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    yield home
    if not home.is_dir() or any(home.iterdir()):
        latest_home.clear()


LARGE_SAMPLES = {path.name for path in SAMPLES.iterdir() if path.stat().st_size > 50_000}
"""Samples of which a copy elsewhere is not read again, either."""


@pytest.fixture(autouse=True, scope="session")
def samples_are_read_once() -> Iterator[None]:
    """Read and repair each sample once per process, search its contexts for facts once, and each text for secrets.

    More than half of the time of tests that call commands. The results depend on the bytes alone and are immutable.
    Other files are read, repaired and searched each time. Progress of reading is reported only the first time.
    """
    read, repair = files.read_bytes, engine.repair_bytes
    sessions: dict[object, Session] = {}
    ids: set[int] = set()
    shapes: dict[tuple[int, ...], Shape] = {}

    def read_once(path: Path, data: bytes, progress: Progress = no_progress, part: str = "") -> Session:
        known = (path.name, data, part)
        if path.parent != SAMPLES and (path.name not in LARGE_SAMPLES or sidecar_of(path).exists()):
            return read(path, data, progress, part)
        if known not in sessions:
            sessions[known] = read(path, data, progress, part)
            ids.update(map(id, sessions[known].messages))
        return sessions[known] if sessions[known].path == path else replace(sessions[known], path=path)

    def shape_once(messages: Sequence[Message]) -> Shape:
        key = tuple(map(id, messages))
        return shapes.setdefault(key, Shape(messages)) if key and ids.issuperset(key) else Shape(messages)

    repaired = lru_cache(repair)

    def repair_once(path: Path, data: bytes, *, branch: int | None = None) -> engine.Repair:
        return (repaired if path.parent == SAMPLES else repair)(path, data, branch=branch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "read_bytes", read_once)
        patch.setattr(engine, "repair_bytes", repair_once)
        patch.setattr(opening, "Shape", shape_once)
        patch.setattr(secrets, "_mask_secrets", lru_cache(32_768)(secrets._mask_secrets))
        yield


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be spread over cores goes to processes of its own."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)


@pytest.fixture
def tmp_path(homes: Path) -> Path:
    return _folder_in(homes)


def _folder_in(folder: Path) -> Path:
    """A new one. Pytest's own way reads the names of all earlier ones for each."""
    return Path(tempfile.mkdtemp(dir=folder))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden-update", action="store_true", help="accept what is told now: golden, told")


# Eleven thousand tests, and all that they import, stand for the whole run: not looked through for circles while they
# are found, nor each time a test makes some. Screens make and drop thousands of objects, so that is done more rarely,
# too. Together that was a fifth of the suite.
gc.disable()


def pytest_collection_finish() -> None:
    _let_stand()
    gc.set_threshold(200_000, 20, 50)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Pytest looks for circles five times at the end: once finds them."""
    _let_stand()


@pytest.fixture(scope="module")
def lets_stand_what_stands() -> None:
    """For tests that look for circles themselves: not through all that tests before have left."""
    _let_stand()


def _let_stand() -> None:
    gc.collect()
    gc.freeze()
