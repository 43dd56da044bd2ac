"""Damaged sessions through every reader, validator, writer and the library: whatever stands in a file, it is read or
refused in a sentence, within seconds and in bounded memory.

    python -m scripts.fuzz [READER ...] [--minutes 10] [--seed 1] [--exports 2]
                           [--inputs 2000] [--first 0] [--each 2]

Mutates the small sessions that the formats' tests are made of: values, keys and places of their JSON, cells of their
databases, files in their archives, bytes of anything. Readers take turns; of what could be read some (`--exports`
percent) is compacted, exported to whatever was least exported to, and read back. Any error but BadInput, more than
SECONDS of the processor's time and more than MEMORY are findings: the smallest input of each kind is written to
`build/fuzz`, from where it goes to `tests/formats/crashes` together with its mend. Exit code 1 where there is one.

Then sessions, databases, archives and folders that are changed in their structure go through the command line, `--each`
of the six commands that take any file on each of `--inputs`; `scripts/fuzz/commands.py` says what counts as a failure.
An input is made from the seed and its number alone: `--first NUMBER --inputs 1` makes it again.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time

from scripts.fuzz.doors import LIBRARY, ask_library, export_to, opened, presets, read, readers, targets
from scripts.fuzz.folders import IN_MEMORY, KINDS
from scripts.fuzz.inputs import drawn, made
from scripts.fuzz.watch import Tally, failure, start
from scripts.fuzz.workers import run_commands
from workbench.compaction.preset import load_preset, preset_names
from workbench.session import Session

TOGETHER = 40
"""Inputs of a reader before it is the next one's turn."""


def one(reader: str, dice: random.Random, tally: Tally, percent: float) -> None:
    try:
        data = made(reader, dice)
    except RecursionError:  # in JSON within JSON that was nested before
        return
    tally.inputs[reader] += 1
    began = time.process_time()
    if reader == LIBRARY:
        which, taken = dice.randrange(6), [False]
        if error := failure(lambda: taken.append(ask_library(data, which))):
            tally.note(reader, data, error, lambda smaller: ask_library(smaller, which))
        tally.taken[reader] += taken[-1]
    else:
        sessions: list[Session | None] = [None]
        wholly = dice.random() < 0.3
        through = opened if reader not in KINDS and dice.random() < 0.1 else lambda data: read(reader, data, wholly)
        if error := failure(lambda: sessions.append(through(data))):
            tally.note(reader, data, error, through)
        session = sessions[-1]
        tally.taken[reader] += session is not None
        if session is not None and dice.random() * 100 < percent:
            _exports(reader, session, data, dice, tally)
    tally.slowest = max(tally.slowest, time.process_time() - began)


def _exports(reader: str, session: Session, data: bytes, dice: random.Random, tally: Tally) -> None:
    """To the format itself and to what was exported to least."""
    preset = dice.choice(presets()) if dice.random() < 0.5 else ""
    own = [target for target in targets() if target.partition(":")[0] == session.format]
    for target in {*own, *sorted(targets(), key=lambda one: tally.exports[one])[:3]}:
        tally.exports[target] += 1
        if error := failure(lambda target=target: export_to(session, target, preset)):  # type: ignore[misc]

            def fails(smaller: bytes, target: str = target) -> None:
                again = read(reader, smaller)
                if again is not None:
                    export_to(again, target, preset)

            tally.note(f"{reader}", data, error, fails)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("readers", nargs="*", help="ids of formats, kinds of folders, or library; all without")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--exports", type=float, default=2, metavar="PERCENT")
    parser.add_argument("--inputs", type=int, default=2_000, help="how many go through the command line")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="the number of the first of them")
    parser.add_argument("--each", type=int, default=2, choices=range(1, 7), help="commands that each goes through")
    wanted = parser.parse_args()
    print(f"seed {wanted.seed}", flush=True)
    ran = run_commands(wanted.seed, wanted.first, wanted.inputs, wanted.each) if wanted.inputs else None
    if ran:
        print(ran.words(), flush=True)
    found = try_readers(wanted) if wanted.minutes else {}
    return 1 if found or (ran and ran.found) else 0


def try_readers(wanted: argparse.Namespace) -> dict[str, int]:
    """Damaged inputs through every door for the wanted minutes. Returns the failures by their kinds."""
    chosen = wanted.readers or readers()
    tempfile.tempdir = IN_MEMORY  # databases are read from there
    for preset in preset_names():
        load_preset(preset)
    dice, tally = random.Random(wanted.seed), Tally()
    for reader in chosen:
        drawn(reader, dice)
    start()
    until = time.monotonic() + wanted.minutes * 60
    told = time.monotonic()
    while time.monotonic() < until:
        for reader in chosen:
            for _ in range(TOGETHER):
                one(reader, dice, tally, wanted.exports)
            if time.monotonic() > until:
                break
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(tally.told(), flush=True)
    print(tally.told())
    return tally.found


if __name__ == "__main__":
    sys.exit(main())
