"""Inputs for the command line, each made from a seed and a number alone, and what one command makes of one.

A command passes where it ends by itself with a sentence or a result, in SECONDS and in the memory that its process has.
Its JSON must be JSON, no control character of the session may reach the output, and the input must be left as it was.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click

from scripts.fuzz import archives, folders, stores, structure
from scripts.fuzz.inputs import Seed, bytes_changed, excerpts, seed_of, seeds, thinned, ways_in
from scripts.fuzz.inputs import told as plain_bytes
from scripts.fuzz.watch import kind_of, watched
from tests.paths import SAMPLES, SHARED
from workbench.cli import commands
from workbench.compaction.preset import preset_names
from workbench.formats import registry

KINDS = (*structure.KINDS, "database", "archive", "folder")
"""Kinds of inputs. Inputs take turns."""

COMMANDS = ("inspect", "why", "compact", "report", "repair", "inspect --health")

SECONDS = 10.0
"""Seconds of the processor's time that a command may take."""

PART = 2_000_000
"""Bytes of a real session that are looked at, from its beginning."""

CUTS = 6
"""Small sessions that are made from each real one."""

LARGEST_SEED = 12_000
"""Bytes up to which such a one is used."""

WORDS = 3_000
"""Characters of a refusal that anyone reads."""

Run = tuple[str, ...]
"""A command and its options, without the file."""


@dataclass(frozen=True)
class Outcome:
    """What a command made of an input. `fault`: how it failed, "" where it did not; `trace`: where."""

    code: int
    fault: str = ""
    trace: str = ""


# --- inputs ---------------------------------------------------------------------------------------------------------


@cache
def sessions() -> tuple[Seed, ...]:
    """What is changed: the tests' small sessions of every format, the samples, and real sessions where they lie beside
    the checkout, each with its texts cut short."""
    found = [seed for known in registry.formats() for seed in (*seeds(known.id), *excerpts(known.id)[:4]) if seed.ways]
    return (*found, *(seed for path in _real() for seed in _cut(path)))


def _real() -> list[Path]:
    paths = [path for path in SAMPLES.iterdir() if path.name != "README.md"]
    for folder in ("sessions", "sessions-more", "sessions-new", "cases") if SHARED else ():
        assert SHARED is not None
        paths += [path for path in (SHARED / folder).rglob("*") if path.is_file() and path.name != "MANIFEST.tsv"]
    return sorted(paths)


def _cut(path: Path) -> Iterator[Seed]:
    """A few cuts of a real session: of each list its first value and some neighbours."""
    data = path.read_bytes()[: 4 * PART]
    if b"\n{" in data and len(data) > PART:
        data = data[:PART].rpartition(b"\n")[0]
    with suppress(RecursionError):
        whole, dice = seed_of(data), random.Random(len(data))
        for _ in range(CUTS if whole.ways else 0):
            value = thinned(whole.value, dice)
            if len(small := plain_bytes(value, whole.lines)) <= LARGEST_SEED:
                yield Seed(small, value, whole.lines, tuple(ways_in(value)))


def lay_out(seed: int, number: int, into: Path) -> tuple[str, Path]:
    """Make the input of a number in an empty folder: its kind, and the path that a command is given."""
    dice = random.Random(f"{seed}:{number}")
    kind = KINDS[number % len(KINDS)]
    path = into / dice.choice(("session.jsonl", "session.json", "input", "s.db", "a.eval", "x.md"))
    match kind:
        case "folder":
            path = _folder(dice, into)
        case "archive":
            path.write_bytes(archives.made(dice))
        case "database":
            path.write_bytes(stores.made(dice))
            if dice.random() < 0.1:
                Path(f"{path}-wal").write_bytes(dice.choice((b"", dice.randbytes(5_000), path.read_bytes()[:4_096])))
        case _:
            data = structure.changed(dice.choice(sessions()), kind, dice)
            path.write_bytes(bytes_changed(data, dice) if dice.random() < 0.05 else data)
    for one in (*into.rglob("*"), into):  # what was written today is looked for among all open files
        if not one.is_symlink():
            os.utime(one, (1e9, 1e9))
    return kind, path


def _folder(dice: random.Random, into: Path) -> Path:
    """A session that lies in several files, some of them changed, gone, or links: to another, to a folder above, to
    themselves, to nothing."""
    kind = dice.choice(list(folders.KINDS))
    opened, files = folders.built(kind)
    for name, data in folders.changed(files, dice, lambda data: _file_changed(data, dice)).items():
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if dice.random() < 0.04:
            path.symlink_to(dice.choice((name, "..", "/etc/passwd", "nowhere", str(into), "/dev/null", "/dev/zero")))
        else:
            path.write_bytes(data)
    return into / opened


def _file_changed(data: bytes, dice: random.Random) -> bytes:
    seed = seed_of(data)
    return structure.changed(seed, dice.choice(structure.KINDS), dice) if seed.ways else bytes_changed(data, dice)


# --- runs -----------------------------------------------------------------------------------------------------------


def runs(seed: int, number: int, each: int) -> Iterator[Run]:
    """The runs of an input: of each command one, or of some commands (`each`: how many)."""
    dice = random.Random(f"{seed}:{number}:runs")
    first = number // len(KINDS)
    for place in range(each):
        command = COMMANDS[(first + place) % len(COMMANDS)]
        yield (*command.split(), *dice.choice(_OPTIONS[command]), *(_policy(dice) if command == "compact" else ()))


def _policy(dice: random.Random) -> Run:
    if dice.random() < 0.15:
        return ()
    target = dice.choice(_targets())
    return ("--preset", dice.choice(preset_names()), *(("--to", target, "-o", "{out}") if dice.random() < 0.4 else ()))


@cache
def _targets() -> tuple[str, ...]:
    return tuple(one.id for one in registry.targets())


_OPTIONS: dict[str, tuple[Run, ...]] = {
    command: tuple(tuple(one.split()) for one in options)
    for command, options in {
        "inspect": (
            *("", "", "--json --full", "--json --layers --notes", "--react", "--layers", "--notes"),
            *("--compact", "--quiet --json", "--epoch 1"),
        ),
        "why": ("", "--json", "--epoch 1", "--window 2000 --json", "--watch never"),
        "compact": (
            *("", "--json --full", "--if-triggered", "--pin 1 --force", "--window 2000 --json --force"),
            *("--watch never --mask", "--force", "--force --split-at 2"),
        ),
        "report": ("-o {out}.html", "-o {out}.md", "-o {out}.md --compare=", "-o {out}.html --window 2000"),
        "repair": ("", "--json", "--dry-run --json", "--dry-run", "-o {out}"),
        "inspect --health": ("", "--json", "--all", "--all --json"),
    }.items()
}


def line(run: Run, path: Path, out: Path) -> list[str]:
    """The command line of a run, behind the program's name."""
    return [run[0], str(path), *(one.replace("{out}", str(out)) for one in run[1:])]


def outcome_of(args: Sequence[str], into: Path) -> Outcome:
    """Run a command line in this process. `into` holds the input."""
    before = _states(into)
    stdout, stderr = _Caught(), _Caught()
    try:
        with watched(SECONDS), _streams(stdout, stderr):
            code = _exit_code(args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Outcome(-1, kind_of(error), trace_of(error))
    return Outcome(code, _fault(args, code, stdout.text, stderr.text) or _touched(before, into), stderr.text[-3_000:])


def _exit_code(args: Sequence[str]) -> int:
    try:
        code = commands.main(list(args), prog_name="cwb", standalone_mode=False)
    except click.ClickException as refused:
        refused.show()
        return refused.exit_code
    return code if isinstance(code, int) else 0


class _Caught(io.TextIOWrapper):
    """A stream as the program makes its own: UTF-8, with escapes for what is none."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)

    @property
    def text(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8", "replace")


@contextmanager
def _streams(stdout: Any, stderr: Any) -> Iterator[None]:
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = stdout, stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept


def trace_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-6_000:]


def _fault(args: Sequence[str], code: int, stdout: str, stderr: str) -> str:
    """What is wrong with what a command wrote, "" where nothing is."""
    command = args[0]
    if code not in (0, 1, 2, 3, 4):
        return f"exit code {code} of {command}"
    if code == 2 and (not stderr.startswith(("Error: ", "Usage: ")) or len(stderr) > WORDS):
        return f"refusal of {command} of {len(stderr)} characters"
    if code == 2 and stdout.strip():
        return f"{command} refuses and writes a result"
    if any(sign in stdout or sign in stderr for sign in ("\x1b", "\x9b", "\x07", "\x00")):
        return f"control character from {command}"
    if "--json" in args and code != 2:
        try:
            json.loads(stdout, parse_constant=_refused)
        except (ValueError, RecursionError) as error:
            return f"JSON of {command}: {type(error).__name__}"
    return ""


def _refused(word: str) -> None:
    raise ValueError(word)


def _states(into: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in into.rglob("*") if one.is_file() and not one.is_symlink()}


def _touched(before: dict[str, bytes], into: Path) -> str:
    after = _states(into)
    if any(after.get(name) != data for name, data in before.items()):
        return "the input was changed"
    left = sorted(name.rpartition("/")[2] for name in after.keys() - before.keys() if ".repaired" not in name)
    return f"left beside the input: {left[0]}" if left else ""


def emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
