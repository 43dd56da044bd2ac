"""Times that no calendar has: every format reads them as no time, and every format is written without a traceback."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from tests.commands import cwb
from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.conformance.building import agent, call, result, session_of, user
from workbench.formats import registry
from workbench.formats.export import export
from workbench.formats.files import load
from workbench.session import Message, Session

ODD = ("1e20", "NaN", "1e400", "-1e20", "null", "1" + "0" * 400, "-1", '"9999-12-31T23:59:59-14:00"', '"yesterday"')
_TIME = re.compile(
    r'("(?:ts|time|timestamp|end_time|start_time|startTimeUnixNano'
    r'|(?:start|end|sent|finished|created|updated|completed|compacted|startTime|lastUpdated|generated)(?:_?[aA]t)?)"\s*:\s*)'
    r'("[\dTZ:.+ -]+"|[\d.]+)'
)


def untimely(sample: str, folder: Path) -> Path:
    """The sample, of lines the first hundred, with each of its times replaced by one that is none, all in turn."""
    odd = cycle(ODD)
    whole = (SAMPLES / sample).read_text("utf-8")
    text = "".join(whole.splitlines(keepends=True)[:100]) if sample.endswith(".jsonl") else whole
    text = _TIME.sub(lambda found: found[1] + next(odd), text)
    path = folder / sample
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir() if path.suffix.startswith(".json")))
def test_a_reader_takes_no_time_outside_the_calendar(sample: str, tmp_path: Path) -> None:
    path = untimely(sample, tmp_path)
    session = load(path)
    assert session.format == load(SAMPLES / sample).format
    assert [message.time for message in session.messages if message.time is not None] == []
    for options in ((), ("--health",)):
        assert cwb("inspect", path, *options).exit_code == 0
    choice = ("--preset", "trim", "--set", "trigger_messages=2", "--to", "openai-chat")
    run = cwb("compact", path, *choice, "-o", tmp_path / "out", "--force")
    assert run.exit_code in (0, 1), run.output


SOURCES = ("augment-with-summary.json", "roo-window.json")
TARGETS = [target.id for target in registry.targets()]
PAIRS = [(target, source) for target in TARGETS for source in SOURCES]


@pytest.mark.parametrize("pair", mostly_full(PAIRS, [*zip(TARGETS, cycle(SOURCES))]), ids="-".join)
def test_every_writer_writes_times_outside_the_calendar(pair: tuple[str, str], tmp_path: Path) -> None:
    target, source = pair
    path, out = untimely(source, tmp_path), tmp_path / "out"
    choice = ("--preset", "trim", "--set", "trigger_messages=2", "--set", "target_percent=5")
    run = cwb("compact", path, *choice, "--to", target, "-o", out, "--force")
    assert run.exit_code == 0, run.output
    load(out)


# --- times of tool results --------------------------------------------------------------------------------------------

START = 1_600_000_000.0
OWN_TIME = ("claude-code", "codex", "pi", "copilot", "goose", "cline-sdk", "openhands", "roo-cline", "adk")
"""Formats that record a time of its own for a tool result."""
WITH_CALL = ("gemini", "opencode", "atif")
"""Formats whose reader gives a tool result the time of the record that it shares with its call."""


def timed(*messages: tuple[float, Message]) -> Session:
    return session_of([replace(message, time=START + seconds) for seconds, message in messages])


READS = agent("a", "I look.", call("c", "Read", path="a"), call("d", "Read", path="b"))
LOOKED = timed(
    (0, user("u", "Read both")),
    (10, READS),
    (20, result("r", ("c", "import os"))),
    (25, result("s", ("d", "import re"))),
    (40, agent("b", "Done.")),
    (50, agent("e", "", call("x", "Read", path="c"))),
    (60, user("v", "Go on")),
    (70, agent("f", "Done.")),
)


def written(session: Session, target: str) -> Session:
    found = export(session, session.context(), target).found
    assert isinstance(found, Session), found
    return found


@pytest.mark.parametrize("target", [target.id for target in registry.targets()])
def test_a23_a_tool_result_is_exported_with_the_time_of_the_answer(target: str) -> None:
    """The time of the newest of several results; the time of the call where no result was recorded."""
    found = [(m.role, m.time and m.time - START) for m in written(LOOKED, target).context()]
    name = target.partition(":")[0]
    answered = {25, 50} if name in OWN_TIME else {10, 40, 50} if name in WITH_CALL else {None}
    assert {time for role, time in found if role == "tool"} <= answered
    assert [time for _, time in found if time is not None and not 0 <= time <= 70] == []


@pytest.mark.parametrize("target", [target.id for target in registry.targets()])
def test_a23_what_is_put_between_the_messages_is_not_from_the_present(target: str) -> None:
    session = timed(
        (-5, Message("s", "system", READS.blocks[:1])),
        (0, agent("h", "Hello.")),
        (5, user("u", "Read both")),
        (10, READS),
        (20, result("r", ("c", "import os"))),
        (30, result("o", ("unknown", "orphan"))),
        (40, user("w", "And?")),
        (50, result("s", ("d", "import re"))),
        (60, agent("f", "Done.")),
    )
    times = [message.time for message in written(session, target).context()]
    assert [time - START for time in times if time is not None and not -5 <= time - START <= 60] == []


def test_a23_a_session_without_times_has_the_time_of_the_call_or_none() -> None:
    """A result without a time has the time of its call; other formats' readers see no time that was not there."""
    session = session_of(
        [user("u", "Read"), replace(READS, time=START), result("r", ("c", "1"), ("d", "2")), agent("b", "Done.")]
    )
    found = [message.time for message in written(session, "pi").context() if message.role == "tool"]
    assert found == [START, START]


def test_a23_gemini_and_opencode_record_when_the_result_came() -> None:
    """Each keeps call and result in one record, with a time for both."""
    gemini = [json.loads(line) for line in export(LOOKED, LOOKED.context(), "gemini").written.data.splitlines()]
    stamps = [call["timestamp"] for record in gemini for call in record.get("toolCalls", ())]
    assert [stamp[14:19] for stamp in stamps] == ["27:05", "27:05", "27:30"]  # 12:26:40 and 25, 25 and 50 seconds
    opencode = json.loads(export(LOOKED, LOOKED.context(), "opencode").written.data)
    parts = [part["state"]["time"] for item in opencode["messages"] for part in item["parts"] if part["type"] == "tool"]
    milliseconds = [{key: at - START * 1000 for key, at in time.items()} for time in parts]
    assert milliseconds == [
        {"start": 10_000, "end": 25_000},
        {"start": 10_000, "end": 25_000},
        {"start": 50_000, "end": 50_000},
    ]
