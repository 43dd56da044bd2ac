"""The watch over commands that run on changed inputs: each failure is seen and kept with its input, and the next input
has its turn."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from scripts.fuzz import archives, commands, stores, workers
from scripts.fuzz.commands import KINDS, Outcome, lay_out, outcome_of
from scripts.fuzz.inputs import seed_of
from workbench.cli import commands as cwb

SESSION = b'[{"role": "user", "content": "go"}, {"role": "assistant", "content": "so"}]'


@pytest.fixture(autouse=True)
def little_to_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "sessions", lambda: (seed_of(SESSION),))
    monkeypatch.setattr(workers, "sessions", lambda: ())
    monkeypatch.setattr(archives, "bombs", lambda: (b"PK",))
    monkeypatch.setattr(stores, "stores", lambda: (stores.zed(),))
    monkeypatch.setattr(workers, "SAVED", tmp_path / "found")


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_an_input_is_made_from_seed_and_number_alone(tmp_path: Path, number: int) -> None:
    made = []
    for name in ("one", "two"):
        (into := tmp_path / name).mkdir()
        kind, path = lay_out(7, number, into)
        files = {str(one.relative_to(into)): one.read_bytes() for one in into.rglob("*") if one.is_file()}
        made.append((kind, path.relative_to(into), files))
    assert made[0] == made[1]
    assert made[0][0] == KINDS[number]


def test_a_failure_is_kept_with_its_input_and_the_others_have_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def outcome(args: list[str], into: Path) -> Outcome:
        number = int(next(into.iterdir()).name)
        if number == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(0, "it failed" if number == 3 else "")

    def laid_out(seed: int, number: int, into: Path) -> tuple[str, Path]:
        (path := into / str(number)).write_bytes(SESSION)
        return "types", path

    monkeypatch.setattr(workers, "outcome_of", outcome)
    monkeypatch.setattr(workers, "lay_out", laid_out)
    tally = workers.run_commands(seed=5, first=0, count=5, each=1)
    assert (tally.inputs, tally.codes.total()) == ({"types": 5}, 5)
    assert tally.found == {"ended by SIGKILL: inspect": 1, "it failed": 1}
    kept = [one.name for one in (tmp_path / "found").glob("*/*")]
    assert sorted(kept) == ["1", "3"]
    told = [one.read_text() for one in (tmp_path / "found").glob("*.txt")]
    assert any("--seed 5 --first 3 --inputs 1" in text and "cwb inspect" in text for text in told)


class Bad:
    """What a command does instead of what it should."""

    def __init__(self, write: str = "", code: int = 0, error: BaseException | None = None) -> None:
        self.write, self.code, self.error = write, code, error

    def main(self, *args: Any, **more: Any) -> int:
        if self.error:
            raise self.error
        print(self.write)
        return self.code


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (Bad(error=IndexError("x")), "IndexError"),
        (Bad(error=OSError("x")), "OSError"),
        (Bad(code=74), "exit code 74 of why"),
        (Bad("\x9b2J"), "control character from why"),
        (Bad('{"a": NaN}'), "JSON of why: ValueError"),
        (Bad("{"), "JSON of why: JSONDecodeError"),
        (Bad(code=2), "refusal of why of 0 characters"),
        (Bad("{}"), ""),
        (Bad("{}", code=3), ""),
    ],
)
def test_what_counts_as_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: Bad, fault: str) -> None:
    monkeypatch.setattr(commands, "commands", bad)
    found = outcome_of(["why", "s.json", "--json"], tmp_path)
    assert found.fault.startswith(fault) if fault else not found.fault


def test_an_input_that_a_command_changes_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "s.json").write_bytes(SESSION)
    assert outcome_of(["inspect", str(path)], tmp_path) == Outcome(0)
    monkeypatch.setattr(cwb, "main", lambda *args, **more: path.write_bytes(b"") and 0)
    assert outcome_of(["inspect", str(path)], tmp_path).fault == "the input was changed"
