"""What a room's own tests notice: mutmut changes one thing at a time, on a seeded sample and for a bounded time.

    python scripts/mutants.py ROOM [--minutes 10] [--seed 1] [--files 'workbench/ROOM/*']

Prints the score and every survivor with file, line and change. mutmut works on a copy in `build/mutants/ROOM`. It
leaves alone what stands outside functions, and functions with a decorator (properties). A room's tests are those of its
folder, of the borders and of the documents. Property tests are left out, which would take most of the time, and tests
that start processes. A test that never ends has noticed the change, what
no test of the room calls survives; changes that change nothing are not taken out: 100 % is no aim.

Every change is tried in a process that has not imported the workbench yet: a policy's fields are made while modules are
imported, and what is remembered for the whole process would be remembered from the tests as they are. Which tests call
a function is asked with nothing remembered between them; one that imports call is tried on those that hold all fields.
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
KILLED = ("killed", "timeout", "segfault", "caught by type check")
BUT = "not all_cores and not dask"
"""Tests that start processes, which would not have the change."""

FIRST = 30
"""Changes in the first run: how long they take says how many fit into the rest of the time."""

GROWS = 6
"""So many times as many are in the next run at most: a few changes may have been quick ones."""

CONFIGURATION = """
[tool.mutmut]
source_paths = ["workbench"]
only_mutate = ["{files}"]
pytest_add_cli_args_test_selection = ["{imports}", "tests/{room}", "tests/borders", "tests/documents", "{golden}"]
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

FIRST_TEST = """
import functools, gc, importlib, pkgutil
import pytest
import workbench.{room}

for module in pkgutil.walk_packages(workbench.{room}.__path__, "workbench.{room}."):
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
"""The tests that hold what imports make: the fields of policies, each whole."""


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("room", choices=("compaction", "analysis", "tokens", "facts"))
    given.add_argument("--minutes", type=float, default=10)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--files", default="", help="a pattern; every file of the room by default")
    asked = given.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    folder = copied(asked.room, asked.files or f"workbench/{asked.room}/*")
    said = mutmut(folder, "run", "nothing*")  # there is no command that only makes the changes; what matches none does
    names = sorted(statuses(folder))
    known = folder / "mutants" / "mutmut-stats.json"
    if not names or not known.exists():
        sys.exit(stopped(folder, said))
    tests_of_imports(known)
    random.Random(asked.seed).shuffle(names)
    done = in_time(folder, names, until)
    if not done:
        sys.exit(1)
    told(folder, done, len(names), asked.seed)


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
        file.write(CONFIGURATION.format(room=room, files=files, but=BUT, imports=IMPORTS, golden=GOLDEN))
    (folder / IMPORTS).write_text(FIRST_TEST.format(room=room))
    (folder / "preloaded").write_text("\n".join(PRELOADED))
    return folder


def tests_of_imports(file: Path) -> None:
    """Writes into what mutmut knows of the tests that those of `HOLD_FIELDS` call, too, whatever imports call."""
    known = json.loads(file.read_text(encoding="utf-8"))
    held = [test for test in known["duration_by_test"] if test.startswith(HOLD_FIELDS)]
    for tests in known["tests_by_mangled_function_name"].values():
        if any(test.startswith(IMPORTS) for test in tests):
            tests[:] = {*tests, *held}
    file.write_text(json.dumps(known), encoding="utf-8")


def mutmut(folder: Path, *words: str) -> str:
    """What a command of mutmut prints. One process, and the same examples in every run."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"CI": "1"}
    return subprocess.run(
        [MUTMUT, *words], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ).stdout


def statuses(folder: Path) -> dict[str, str]:
    """Every change by name, and what became of it: killed, survived, not checked…"""
    lines = (line.strip().partition(": ") for line in mutmut(folder, "results", "--all", "true").splitlines())
    return {name: status for name, _, status in lines if status}


def in_time(folder: Path, names: list[str], until: float) -> list[str]:
    """The first of `names` for which there was time. Each run begins with the tests as they are, so there are few."""
    count, batch = 0, FIRST
    while count < len(names) and batch > 0:
        began = time.monotonic()
        said = mutmut(folder, "run", "--max-children", "1", *names[count : count + batch])
        now = time.monotonic()
        rate = float(found[1]) if (found := re.search(r"([\d.]+) mutations/second", said)) else 0.0
        if not rate:
            print(stopped(folder, said), file=sys.stderr)
            break
        count = min(count + batch, len(names))
        print(f"{count} of {len(names)} changes, {now - began:.0f} s", file=sys.stderr, flush=True)
        batch = min(GROWS * batch, int((until - now - (now - began - batch / rate)) * rate * 0.9))
    return names[:count]


def stopped(folder: Path, said: str) -> str:
    lines = [line for line in said.replace("\r", "\n").splitlines() if not re.match("[⠀-⣿] ", line)]
    return "\n".join([f"mutmut stopped; run it by hand in {folder}:", *lines[-40:]])


def told(folder: Path, done: list[str], made: int, seed: int) -> None:
    found = statuses(folder)
    survived = sorted(name for name in done if found[name] not in KILLED)
    for name in survived:
        print(f"{found[name]:9} {change(folder, name)}")
    for file, count in sorted(Counter(name.partition(".x")[0] for name in survived).items()):
        print(f"{count:4} of {sum(name.startswith(file + '.x') for name in done):4}  {file}")
    killed = len(done) - len(survived)
    print(f"{killed} of {len(done)} killed: {100 * killed / len(done):.1f} % (sample of {made} changes, seed {seed})")


def change(folder: Path, name: str) -> str:
    """A change with the place in the file, and its line before and after."""
    lines = mutmut(folder, "show", name).splitlines()
    file = next((line[4:] for line in lines if line.startswith("--- ")), "")
    before = next((line[1:].strip() for line in lines if re.match(r"-(?!-- )", line)), "")
    after = next((line[1:].strip() for line in lines if re.match(r"\+(?!\+\+ )", line)), "")
    return f"{file}:{line_of(folder / file, name, before)}  {before}  →  {after}  ({name.rpartition('.')[2]})"


def line_of(file: Path, name: str, text: str) -> int:
    """The line of a file that has this text, in the function that the name of a change tells."""
    owner, _, function = re.sub(r"__mutmut_\d+$", "", name.rpartition(".")[2]).removeprefix("xǁ").rpartition("ǁ")
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
