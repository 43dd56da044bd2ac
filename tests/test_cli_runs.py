"""The run journal on the command line: list, show, diff, delete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import cwb, document, session_lines, write_lines
from workbench.base import paths
from workbench.summarizers import journal


@pytest.fixture
def two(tmp_path: Path) -> tuple[str, str]:
    """The ids of a run that failed and of one that answered garbage with another policy."""
    session = write_lines(tmp_path / "session.jsonl", session_lines())
    args = ("compact", session, "--strategy", "exchange-summary", "--json", "--summarizer")
    failed = json.loads(cwb(*args, "rehearse:truncated").stdout)["run"]
    other = cwb(*args, "rehearse:garbage", "--set", "history_tail_size_chars_to_exclude=4000")
    return failed, json.loads(other.stdout)["run"]


def test_an_empty_journal_is_said_to_be(tmp_path: Path) -> None:
    run = cwb("runs")
    assert (run.exit_code, run.stdout) == (0, "")
    assert "no runs are kept" in run.stderr
    assert document("runs")["runs"] == []


def test_the_list_has_the_newest_first(two: tuple[str, str]) -> None:
    entries = document("runs")["runs"]
    assert {entry["id"] for entry in entries} == set(two)
    assert [entry["began"] for entry in entries] == sorted((entry["began"] for entry in entries), reverse=True)
    assert len(document("runs", "--limit", 1)["runs"]) == 1
    table = cwb("runs").stdout
    assert "rehearse:truncated" in table
    assert "session.jsonl" in table


def test_a_run_is_shown(two: tuple[str, str]) -> None:
    found = document("runs", "show", two[0])
    (call,) = found["calls"]
    assert (found["end"], call["failure"], call["text"]) == ("failed", "truncated", "The user asked for")
    assert found["policy"]["history_tail_size_chars_to_exclude"] == 5_000
    assert call["prompt"]
    assert call["request"].startswith(call["prompt"])
    assert found["session"]
    shown = cwb("runs", "show", two[0]).stdout
    assert "more characters; --request shows them" in shown
    assert "Please do step 3." in cwb("runs", "show", two[0], "--request").stdout


def test_the_difference_of_two(two: tuple[str, str]) -> None:
    fields = {row["field"]: (row["a"], row["b"]) for row in document("runs", "diff", *two)["fields"]}
    assert fields["policy.history_tail_size_chars_to_exclude"] == (5_000, 4_000)
    assert fields["end"] == ("failed", "finished")
    assert "strategy" not in fields
    text = cwb("runs", "diff", *two).stdout
    assert "-[truncated" in text
    assert "+Sure!" in text
    assert cwb("runs", "diff", two[0], two[0]).stdout == "The runs are alike.\n"


def test_runs_are_deleted(two: tuple[str, str]) -> None:
    refused = cwb("runs", "delete", two[0], "nope")
    assert refused.exit_code == 2
    assert len(journal.kept()) == 2
    assert document("runs", "delete", two[0])["deleted"] == [two[0]]
    assert [entry.id for entry in journal.kept()] == [two[1]]
    assert cwb("runs", "show", two[0]).exit_code == 2


@pytest.mark.parametrize("command", [("runs",), ("runs", "show", "x"), ("runs", "delete", "x")])
def test_a_damaged_journal_is_one_sentence(command: tuple[str, ...]) -> None:
    paths.runs().parent.mkdir(parents=True)
    paths.runs().write_bytes(b"not a database, " * 500)
    run = cwb(*command)
    assert run.exit_code == 2
    assert "move it away" in run.stderr
    assert len(run.stderr.splitlines()) == 1
