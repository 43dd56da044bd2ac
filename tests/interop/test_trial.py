"""A trial of a made-up tool, which keeps its conversation as a body of Anthropic's Messages API: a tool that does as it
says is equal in every column, and one that does not is found out."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interop import server
from interop.homes import PROJECT, Home, Package
from interop.server.script import Call
from interop.tool import Plan, Tool
from interop.trial import Trial, try_out

Messages = list[dict[str, Any]]
Habit = Callable[[Messages], Messages]


EMPTY = '{"model": "m", "max_tokens": 9, "messages": []}'


def honest(messages: Messages) -> Messages:
    return messages


def made_up(habit: Habit) -> Tool:
    """What it sends is `habit` of what its file holds."""

    def go_on(home: Home, path: Path, prompt: str) -> None:
        body = json.loads(path.read_text()) if path.is_file() else json.loads(EMPTY)
        kept: Messages = body["messages"]
        kept.append({"role": "user", "content": prompt})
        while True:
            sent = {
                **body,
                "messages": [*habit(kept[:-1]), kept[-1]],
                "tools": [{"name": "read", "input_schema": {"type": "object"}}],
            }
            asked = urllib.request.Request(f"{home.server.url}/v1/messages", json.dumps(sent).encode())
            with urllib.request.urlopen(asked) as response:
                content = json.load(response)["content"]
            kept.append({"role": "assistant", "content": content})
            calls = [block for block in content if block["type"] == "tool_use"]
            if not calls:
                break
            results = [
                {"type": "tool_result", "tool_use_id": call["id"], "content": PROJECT[call["input"]["path"]]}
                for call in calls
            ]
            kept.append({"role": "user", "content": results})
        path.write_text(json.dumps(body))

    def make(home: Home, prompts: Sequence[str]) -> Path:
        path = home.home / "session.json"
        for prompt in prompts:
            go_on(home, path, prompt)
        return path

    def resume(home: Home, path: Path, steps: tuple[str, ...], prompts: Sequence[str]) -> None:
        for prompt in prompts:
            go_on(home, path, prompt)

    return Tool(
        id="made-up",
        title="Made up",
        package=Package("PyPI", "made-up", "1"),
        format="anthropic-messages",
        read=lambda path: Call("read", {"path": path}),
        make=make,
        again=go_on,
        env=lambda home: {},
        resume=resume,
        plans=(Plan("exchange-summary", pin=True), Plan("clear-tool-results")),
    )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    for name in ("home", "project", "exports"):
        (tmp_path / name).mkdir()
    with server.running() as one:
        yield Home(tmp_path, one)


def differing(trial: Trial) -> list[str]:
    return [verdict.of for verdict in trial.failed]


def test_a_tool_that_does_as_it_says_is_equal_in_every_column(home: Home) -> None:
    trial = try_out(made_up(honest), home)
    assert [verdict.of for column in trial.columns for verdict in column.verdicts] == [
        "a session it made",
        "exchange-summary, pinned",
        "clear-tool-results",
        "claude-code",
        "codex",
    ]
    assert [verdict.difference for verdict in trial.failed] == []
    assert trial.own.not_tried


@pytest.fixture
def own_session_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No compaction and no session of another agent is tried."""
    monkeypatch.setattr("interop.trial._ours", lambda *given: iter(()))
    monkeypatch.setattr("interop.trial.FOREIGN", ())


def cleared(but: int) -> Habit:
    """A tool that sends all of its results but the newest few without their contents, and keeps them in its file."""

    def habit(messages: Messages) -> Messages:
        changed = json.loads(json.dumps(messages))
        blocks = [block for message in changed for block in message["content"] if isinstance(block, dict)]
        results = [block for block in blocks if block["type"] == "tool_result"]
        for block in results[:-but]:
            block["content"] = "[Old tool result content cleared]"
        return list(changed)

    return habit


@pytest.mark.usefixtures("own_session_only")
@pytest.mark.parametrize(("kept", "differing_ones"), [(1, 1), (2, 0), (3, 1)])
def test_what_no_file_has_is_held_against_what_is_foretold(kept: int, differing_ones: int, home: Home) -> None:
    honestly, lean = made_up(honest), made_up(cleared(kept))
    tool = replace(
        honestly,
        compactions={"lean": lambda home, path: path},
        foretold=Plan("clear-tool-results", {"keep_tool_uses": 2}),
        again=lambda *given: (lean if "lean" in given[-1] else honestly).again(*given),
    )
    trial = try_out(tool, home)
    assert [verdict.of for verdict in trial.own.verdicts] == ["lean, as the preset clear-tool-results predicts it"]
    assert len(trial.failed) == differing_ones


def without_first(messages: Messages) -> Messages:
    return messages[2:]


def twice(messages: Messages) -> Messages:
    return [*messages[:2], *messages]


def turned(messages: Messages) -> Messages:
    """Each result as that of the other call of its turn."""
    changed = json.loads(json.dumps(messages))
    for message in changed:
        results = message["content"] if isinstance(message["content"], list) else []
        ids = [block["tool_use_id"] for block in results if block["type"] == "tool_result"]
        for block, id in zip(results, reversed(ids), strict=False):
            block["tool_use_id"] = id
    return list(changed)


@pytest.mark.usefixtures("own_session_only")
@pytest.mark.parametrize("habit", [without_first, twice, turned])
def test_one_that_forgets_doubles_or_mixes_up_is_found_out(habit: Habit, home: Home) -> None:
    assert "a session it made" in differing(try_out(made_up(habit), home))


def test_one_that_forgets_only_when_it_goes_on_again_is_found_out(home: Home) -> None:
    def later(messages: Messages) -> Messages:
        again = any("for the first time" in str(message["content"]) for message in messages)
        return messages[2:] if again else messages

    assert differing(try_out(made_up(later), home)) == [
        "exchange-summary, pinned",
        "clear-tool-results",
        "claude-code",
        "codex",
    ]
