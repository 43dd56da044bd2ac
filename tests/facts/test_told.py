"""Every fact of the samples, what of it is used again, and what was changed, to the letter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import SAMPLES
from tests.told import assert_told
from workbench.facts.all_facts import find_facts
from workbench.facts.calls import calls_in
from workbench.facts.diffstat import diffstat, diffstat_text, file_changes
from workbench.facts.distinct import FactUses, distinct_facts
from workbench.facts.fact import Fact
from workbench.facts.standing import standing_rules
from workbench.facts.tasks import tasks_of
from workbench.formats.files import load
from workbench.session import Message

NAMES = ("augment-with-summary.json", "claude-code-overflow.jsonl", "codex-two-compactions.jsonl")


def told(messages: tuple[Message, ...]) -> Iterator[str]:
    facts = find_facts(messages)
    uses = FactUses(messages, facts, distinct_facts(facts))
    for one in distinct_facts(facts):
        yield f"{one.kind} in {_places(uses.of(one))}: {_short(one.text)}"
        yield from dict.fromkeys(f"  {mark} {_short(fact.detail)}" for fact in one.mentions if (mark := _mark(fact)))
    calls = calls_in(messages)
    yield from (
        f"stands: {_short(one.fact.text)} ({one.reason}; {one.superseded_by})" for one in standing_rules(messages)
    )
    yield from (f"task: {task.text}, {task.status}, since {task.index}" for task in tasks_of(calls))
    stat = diffstat(change for _, change in file_changes(calls))
    yield from map(str, stat)
    yield diffstat_text(stat)


def _mark(fact: Fact) -> str:
    if fact.state or fact.by:
        return f"{': '.join(filter(None, (fact.state, fact.by)))};"
    return {True: "+", False: "-", None: "?"}[fact.ok] if fact.detail or fact.ok is not None else ""


def _places(indexes: list[int]) -> str:
    return " ".join(map(str, indexes[:12])) + (f" and {len(indexes) - 12} more" if len(indexes) > 12 else "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:100]} … {len(text)} characters"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_found_in_a_sample(name: str, request: pytest.FixtureRequest) -> None:
    text = "\n".join(told(load(SAMPLES / name).messages))
    assert_told(Path(__file__).parent / "told" / f"{Path(name).stem}.txt", f"{text}\n", request)
