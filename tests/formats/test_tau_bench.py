"""tau-bench results: many sessions in one file, ids that repeat, entries written back."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.conformance.formats import assert_exact, compacted, read
from workbench.formats import openai_chat
from workbench.formats.format import no_progress
from workbench.formats.look import Look
from workbench.formats.tau_bench import FORMAT
from workbench.formats.tau_bench.read import Reader
from workbench.session import pairs_of


def test_a_real_trajectory_as_a_result(shared: Path) -> None:
    traj = json.loads((shared / "sessions/openai-chat/taubench-airline-entry3-messages.json").read_bytes())
    entries = [{"task_id": n, "reward": 1.0, "info": {}, "traj": traj[: 62 - n], "trial": 0} for n in (0, 1)]
    data = json.dumps(entries, indent=2).encode()
    assert FORMAT.recognise(Look.of(data))
    assert not openai_chat.FORMAT.recognise(Look.of(data))
    assert [part.messages for part in Reader.sessions_in(Path("x"), data)] == [62, 61]
    session = Reader.read_part(Path("x"), data, "1", no_progress)
    assert all(pair.call is not None and pair.result is not None for pair in pairs_of(session.messages))
    assert json.loads(FORMAT.codec.write(session, session.context()).data) == entries[:1]


def test_the_sample_is_two_sessions() -> None:
    data = (SAMPLES / "tau-bench-two-sessions.json").read_bytes()
    assert [(part.id, part.title) for part in Reader.sessions_in(Path("x"), data)] == [
        ("1", "task 7, trial 0, reward 1.0"),
        ("2", "task 7, trial 1, reward 0.0"),
    ]
    session = read(FORMAT, data)
    assert "2 sessions" in str(session.warnings[0])
    assert session.id == "7-0"
    assert len(session.messages) == 9
    for part in ("1", "2"):
        for outcome in compacted(Reader.read_part(Path("x"), data, part, no_progress)):
            assert_exact(
                FORMAT, session if part == "1" else Reader.read_part(Path("x"), data, part, no_progress), outcome
            )
    with pytest.raises(BadInput, match="1 to 2"):
        Reader.read_part(Path("x"), data, "0", no_progress)


@pytest.mark.parametrize(
    ("entries", "faults"),
    [
        ([], ["There are no results."]),
        ([{"traj": []}], ["Entry 1 has no task_id."]),
        ([{"task_id": 1, "traj": []}], ["Entry 1 has no reward.", "There are no messages in entry 1."]),
        (
            [{"task_id": 1, "reward": 1, "traj": [{"role": "tool", "tool_call_id": "x", "content": ""}]}],
            ["Message 1 in entry 1 answers the call x, which is not open."],
        ),
    ],
)
def test_the_validator_finds(entries: Any, faults: list[str]) -> None:
    assert FORMAT.codec.validate(json.dumps(entries).encode()) == faults
