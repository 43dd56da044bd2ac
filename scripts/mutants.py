"""What a room's own tests notice: one change at a time by mutmut, on a seeded sample and for a bounded time.

    python scripts/mutants.py ROOM [--minutes 10] [--seed 1] [--files 'workbench/ROOM/*']

Prints the score and every survivor with file, line and change. The changes are made in a copy, `build/mutants/ROOM`.
mutmut leaves alone what stands outside functions, and functions with a decorator (properties). A room's tests are those
of its folder, of the borders and of the documents; `TESTS` lists those of formats/kit. Property tests are left out,
which would take most of the time, and tests that start processes. A test that never ends has noticed the change, what
no test of the room calls survives; changes that change nothing are not taken out: 100 % is no aim.

Every change is tried in a new process, on the tests that call its function, the quickest first: a policy's fields are
made while modules are imported, and what is remembered for the whole process would be remembered from the tests as they
are. Which tests call a function is asked with nothing remembered between them; one that imports call is tried on those
that hold all that imports make.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MUTMUT = Path(sys.executable).with_name("mutmut")
COPIED = ("workbench", "tests", "prompts", "sample_sessions", "scripts", "docs", "pyproject.toml")
BUT = "not all_cores and not dask and not any_conversation and not changed_sample and not no_bytes"
"""Tests that start processes, which would not have the change, and property tests that have no mark."""

ROOMS = ("compaction", "analysis", "tokens", "facts", "formats/kit")
TESTS = {"formats/kit": ("tests/formats", "tests/finding", "tests/test_repair.py", "tests/test_repair_damage.py")}
"""The tests of rooms that have no folder of tests for all of them."""

SHARED = ("tests/borders", "tests/documents")
"""The tests that every room shares."""

SLOW, LEAST = 20, 300
"""A change is noticed if the tests take so many times as long as before, and at least so many seconds."""

CONFIGURATION = """
[tool.mutmut]
source_paths = ["workbench"]
only_mutate = ["{files}"]
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args = [
  "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=0", "-m", "not hypothesis and not full", "-k", "{but}",
]
also_copy = ["prompts", "sample_sessions", "scripts", "docs"]
process_isolation = "forkserver"
forkserver_warmup = "import"
preload_modules_file = "preloaded"
"""

PRELOADED = ("hypothesis", "jinja2", "pydantic", "pytest_asyncio", "rich.console", "syrupy", "textual.app")
"""What the tests import and no change is made in: imported once for all processes."""

IMPORTS = "tests/test_imports.py"
"""The first test. What imports call counts as called by it, and it forgets before each test what is remembered."""

TRIAL = """
import sys
import pytest
from mutmut.mutation.trampoline import set_mutant_under_test

set_mutant_under_test(sys.argv[1])
sys.exit(pytest.main(sys.argv[2:]))
"""

FIRST_TEST = """
import functools, gc, importlib, pkgutil
import pytest
import {package}

for module in pkgutil.walk_packages({package}.__path__, "{package}."):
    importlib.import_module(module.name)

class Forgetful:
    def pytest_runtest_setup(self):
        for memo in memos:
            memo.cache_clear()

memos = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
memos = [memo for memo in memos if memo.__module__.startswith("workbench.")]

@pytest.fixture(scope="module", autouse=True)
def forgetful(pytestconfig):
    pytestconfig.pluginmanager.register(Forgetful())

def test_imports():
    pass
"""

GOLDEN = "tests/golden/test_golden.py::test_what_commands_say[strategies-json]"
HOLD_FIELDS = ("tests/compaction/test_settings.py", GOLDEN)
"""The tests that hold the fields of policies, each whole."""

HOLDING = {"compaction": HOLD_FIELDS, "formats/kit": ("tests/formats/",)}
"""The tests that hold what imports make; of the other rooms all of their own."""


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("room", choices=ROOMS)
    given.add_argument("--minutes", type=float, default=10)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--files", default="", help="a pattern; every file of the room by default")
    asked = given.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    folder = copied(asked.room, asked.files or f"workbench/{asked.room}/*")
    said = mutmut(folder, "run", "nothing*")  # there is no command that only makes the changes; what matches none does
    names = changes(folder)
    known = folder / "mutants" / "mutmut-stats.json"
    if not names or not known.exists():
        sys.exit(stopped(folder, said))
    random.Random(asked.seed).shuffle(names)
    found = tried(folder, names, until, HOLDING.get(asked.room, (f"tests/{asked.room}/",)))
    told(folder, found, len(names), asked.seed)


def copied(room: str, files: str) -> Path:
    """A copy of what the tests need, with mutmut's configuration; what an earlier run made is gone."""
    folder = ROOT / "build" / "mutants" / room
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    with (folder / "pyproject.toml").open("a") as file:
        tests = [IMPORTS, *TESTS.get(room, (f"tests/{room}",)), *SHARED, GOLDEN]
        file.write(CONFIGURATION.format(tests=json.dumps(tests), files=files, but=BUT))
    (folder / IMPORTS).write_text(FIRST_TEST.format(package=f"workbench.{room}".replace("/", ".")))
    (folder / "preloaded").write_text("\n".join(PRELOADED))
    return folder


def mutmut(folder: Path, *words: str) -> str:
    """What a command of mutmut prints. The same examples in every run."""
    return subprocess.run(
        [MUTMUT, *words], cwd=folder, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"CI": "1"}


def changes(folder: Path) -> list[str]:
    """Every change by name."""
    lines = (line.strip().partition(": ") for line in mutmut(folder, "results", "--all", "true").splitlines())
    return sorted({name for name, _, status in lines if status})


def tried(folder: Path, names: list[str], until: float, holding: tuple[str, ...]) -> dict[str, str]:
    """What became of the first of `names` for which there was time, at least of one: "killed", "survived", …"""
    known = json.loads((folder / "mutants" / "mutmut-stats.json").read_text(encoding="utf-8"))
    seconds = known["duration_by_test"]
    held = [test for test in seconds if test.startswith(holding)]
    found: dict[str, str] = {}
    for name in names:
        tests = set(known["tests_by_mangled_function_name"].get(function_of(name), ()))
        if any(test.startswith(IMPORTS) for test in tests):
            tests.update(held)
        found[name] = trial(folder, name, sorted(tests, key=lambda test: seconds.get(test, 0)), seconds)
        print(f"{len(found)} of {len(names)}: {found[name]:12} {name}", file=sys.stderr, flush=True)
        if time.monotonic() > until:
            break
    return found


def trial(folder: Path, name: str, tests: list[str], seconds: dict[str, float]) -> str:
    """What became of a change on some tests."""
    if not tests:
        return "no tests"
    (folder / "tests_of_trial").write_text("\n".join(tests), encoding="utf-8")
    command = [sys.executable, "-c", TRIAL, name, "-x", "-q", "--rootdir=.", "-p", "no:cacheprovider", "-p", "no:xdist"]
    try:
        code = subprocess.run(
            [*command, "--timeout=0", "@../tests_of_trial"],
            cwd=folder / "mutants",
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=max(LEAST, SLOW * sum(seconds.get(test, 0) for test in tests)),
        ).returncode
    except subprocess.TimeoutExpired:
        return "timeout"
    return {0: "survived", 4: "no such test", 5: "no tests"}.get(code, "killed")


def stopped(folder: Path, said: str) -> str:
    lines = [line for line in said.replace("\r", "\n").splitlines() if not re.match("[⠀-⣿] ", line)]
    return "\n".join([f"mutmut stopped; run it by hand in {folder}:", *lines[-40:]])


def told(folder: Path, found: dict[str, str], made: int, seed: int) -> None:
    survived = sorted(name for name, became in found.items() if became not in ("killed", "timeout"))
    for name in survived:
        print(f"{found[name]:12} {change(folder, name)}")
    for file, count in sorted(Counter(name.partition(".x")[0] for name in survived).items()):
        print(f"{count:4} of {sum(name.startswith(file + '.x') for name in found):4}  {file}")
    killed = len(found) - len(survived)
    print(f"{killed} of {len(found)} killed: {100 * killed / len(found):.1f} % (sample of {made} changes, seed {seed})")


def change(folder: Path, name: str) -> str:
    """A change with the place in the file, and its line before and after."""
    lines = mutmut(folder, "show", name).splitlines()
    file = next((line[4:] for line in lines if line.startswith("--- ")), "")
    before = next((line[1:].strip() for line in lines if re.match(r"-(?!-- )", line)), "")
    after = next((line[1:].strip() for line in lines if re.match(r"\+(?!\+\+ )", line)), "")
    return f"{file}:{line_of(folder / file, name, before)}  {before}  →  {after}  ({name.rpartition('.')[2]})"


def function_of(name: str) -> str:
    """The changed function, as mutmut spells it."""
    return re.sub(r"__mutmut_\d+$", "", name)


def line_of(file: Path, name: str, text: str) -> int:
    """The line of a file that has this text, in the function that the name of a change tells."""
    owner, _, function = function_of(name).rpartition(".")[2].removeprefix("xǁ").rpartition("ǁ")
    source = file.read_text(encoding="utf-8")
    tree: ast.AST = ast.parse(source)
    if owner:
        tree = next(one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == owner)
    wanted = function if owner else function.removeprefix("x_")
    defined = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
    start = next((one.lineno for one in defined if one.name == wanted), 1)
    lines = source.splitlines()
    return next((at for at in range(start, len(lines) + 1) if lines[at - 1].strip() == text), start)


if __name__ == "__main__":
    main()
