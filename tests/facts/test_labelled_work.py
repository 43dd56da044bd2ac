"""How well effects on files, ends of errors and decisions are found in an invented session, labelled by hand.

It has what real sessions showed: moves into folders, edits in place, here-documents, loops, refused and failed calls,
checks behind pipes, lines that fail at their end, merges, answers in words and by number. A step is what a user or an
agent says, a command that is run or a file that is edited; `decided`, `effects` and `state` are its labels.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.facts.talk import agent, call, ran, result, user
from workbench.facts.all_facts import find_facts
from workbench.facts.fact import Fact
from workbench.session import Message

STEPS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("labelled_work.json").read_text("utf-8"))["steps"]


def messages_of(step: dict[str, Any]) -> tuple[Message, ...]:
    if "user" in step:
        return (user(step["user"]),)
    if "agent" in step:
        return (agent(step["agent"]),)
    failed = step.get("failed", False)
    if "run" in step:
        return ran(step["run"], step["output"], is_error=failed)
    used = call("Edit", {"file_path": step["edit"], "old_string": "a", "new_string": "b"})
    return agent("", used), result(used, "String to replace not found" if failed else "ok", is_error=failed)


def by_step() -> list[tuple[dict[str, Any], list[Fact]]]:
    """Each step with the facts of its messages."""
    messages = [messages_of(step) for step in STEPS]
    facts = find_facts([message for several in messages for message in several])
    return [
        (step, [fact for fact in facts if fact.message in {message.id for message in several}])
        for step, several in zip(STEPS, messages, strict=True)
    ]


def scores(found: set[Any], labelled: set[Any]) -> tuple[float, float]:
    """Precision and recall."""
    return len(found & labelled) / len(found), len(found & labelled) / len(labelled)


def test_effects_of_command_lines() -> None:
    found, labelled = set(), set()
    for number, (step, facts) in enumerate(by_step()):
        if "run" in step:
            labelled |= {(number, kind, path) for kind, path in step.get("effects", ())}
            paths = (fact for fact in facts if fact.kind == "path" and fact.detail != "mentioned")
            found |= {(number, fact.detail, fact.text) for fact in paths}
    precision, recall = scores(found, labelled)
    assert len(labelled) >= 20
    assert (precision >= 0.95, recall >= 0.95) == (True, True), (found - labelled, labelled - found)


def test_how_errors_end() -> None:
    found, labelled = set(), set()
    for number, (step, facts) in enumerate(by_step()):
        labelled |= {(number, step["state"])} if "state" in step else set()
        found |= {(number, fact.state) for fact in facts if fact.kind == "error"}
    precision, recall = scores(found, labelled)
    assert len(labelled) >= 10
    assert (precision >= 0.9, recall >= 0.9) == (True, True), (found - labelled, labelled - found)
    # What is called open was seen failing to the end.
    assert {one for one in found if one[1] == "open"} == {one for one in labelled if one[1] == "open"}


def test_what_is_decided_and_by_whom() -> None:
    found, labelled = set(), set()
    for number, (step, facts) in enumerate(by_step()):
        labelled |= {(number, text, "user" if "user" in step else "agent") for text in step.get("decided", ())}
        found |= {(number, fact.text, fact.by) for fact in facts if fact.kind == "decision"}
    precision, recall = scores(found, labelled)
    assert len(labelled) >= 12
    assert (precision >= 0.9, recall >= 0.85) == (True, True), (found - labelled, labelled - found)
