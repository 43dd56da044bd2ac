"""`cwb why`, `cwb replay` and `cwb sweep`: text, JSON, and one sentence for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

from tests.commands import cwb, document
from tests.paths import SAMPLES

OVERFLOW = SAMPLES / "claude-code-overflow.jsonl"
CHAT = SAMPLES / "openai-chat-tools.json"
CODEX = SAMPLES / "codex-two-compactions.jsonl"


def test_replay_counts_the_same_in_all_its_figures() -> None:
    found = document("replay", OVERFLOW, "--preset", "claude-code,trim", "--window", "100000")
    assert [one["preset"] for one in found["replays"]] == ["claude-code", "trim"]
    assert len(found["calls"]) == len(found["plain"]) == len(found["replays"][0]["sent"])
    first = found["replays"][0]
    assert first["compactions"][0]["before"] == first["full"][first["compactions"][0]["call"] - 1]
    assert first["compactions"][0]["after"] == first["sent"][first["compactions"][0]["call"] - 1]
    assert first["rebilled"] == sum(one["rebilled"] for one in first["compactions"])


def test_replay_starts_where_it_is_told() -> None:
    whole, later = (document("replay", CODEX, "--strategy", "trim", "--epoch", n) for n in (1, 3))
    assert len(later["calls"]) < len(whole["calls"])


def test_why_and_inspect_count_the_same() -> None:
    found = document("why", OVERFLOW, "--preset", "codex")
    assert found["findings"][-1]["text"].startswith("codex would")
    assert found["growth"][found["crossing"]["call"] - 1]["tokens"] >= found["limit"]["tokens"]
    assert sum(layer["tokens"] for layer in found["layers"]) == found["context"]["tokens"]
    inspected = document("inspect", OVERFLOW)
    assert [(x["name"], x["tokens"]) for x in found["layers"]] == [
        (x["name"], x["tokens"]) for x in inspected["layers"]
    ]
    assert document("why", CODEX)["epoch"] == 2  # the newest that ended in a compaction


def test_sweep_finds_the_best_keeps_it_and_goes_on(tmp_path: Path) -> None:
    journal = tmp_path / "sweep.jsonl"
    (tmp_path / "in").mkdir()
    broken = tmp_path / "in" / "broken.json"
    broken.write_text("{}")
    grid = ("--preset", "trim", "--vary", "target_percent=40", "--window", "5000", "--resume", journal)
    first = document("sweep", CHAT, tmp_path / "in", *grid)
    assert [row["failed"] for row in first["rows"]] == [1]
    assert list(first["failed"]) == [str(broken)]
    assert first["best"]["setting"] == [40.0]
    again = cwb("sweep", CHAT, *grid, "--save-preset", "mine", "--best", "after")
    assert again.exit_code == 0, again.output
    assert "1 cell of the journal need not be done again" in again.output
    assert "--preset mine --window 5000" in again.output
    one = document("replay", CHAT, "--preset", "mine", "--window", "5000")["replays"][0]
    assert (one["mean_after"], one["peak"]) == (first["cells"][0]["after"], first["cells"][0]["peak"])


def test_a_sweep_of_nothing_but_failures_fails(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    run = cwb("sweep", broken, "--preset", "trim", "--vary", "window=1k")
    assert run.exit_code == 2
    assert "broken.json" in run.output
    assert cwb("sweep", tmp_path / "gone", "--preset", "trim", "--vary", "window=1k").exit_code == 2
