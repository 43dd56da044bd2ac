"""Presets over several sessions: the means are those of the single sessions, and a file that fails is a row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.commands import cwb, document
from tests.paths import SAMPLES
from workbench.cli.compare_many import ComparedSession, OfflineFigures, VariantMean, means_of

FIRST, SECOND = SAMPLES / "claude-code-overflow.jsonl", SAMPLES / "codex-two-compactions.jsonl"
PRESETS = "codex,trim"


def figures(preset: str, fit: str = "fits", kept: float | None = 0.5, dollars: float | None = 1.0) -> OfflineFigures:
    return OfflineFigures(preset, fit, 100, 0.25, kept, kept, dollars)  # type: ignore[arg-type]


def test_means_are_over_the_sessions_that_have_a_variant_and_over_what_is_known() -> None:
    sessions = (
        ComparedSession(Path("a"), 1, 400, (figures("one"), figures("two", "too large", 1.0, None))),
        ComparedSession(Path("b"), 1, 400, (figures("one", "too large", None, 2.0), figures("recorded", kept=None))),
        ComparedSession(Path("c"), 1, 400, (figures("one", kept=0.7, dollars=0.25), figures("two", "fits", 0.0, 1.0))),
    )
    assert means_of(sessions) == (
        VariantMean("recorded", 1, 1, 0.25, None, None, 1.0),
        VariantMean("one", 3, 2, 0.25, pytest.approx(0.6), pytest.approx(0.6), 3.25),
        VariantMean("two", 2, 1, 0.25, 0.5, 0.5, None),
    )


def test_what_fits_most_is_first_then_what_keeps_most_then_what_costs_least() -> None:
    several = (
        figures("dear", dollars=2.0),
        figures("cheap"),
        figures("more", kept=0.6),
        figures("large", "too large", 1),
    )
    assert [one.preset for one in means_of([ComparedSession(Path("a"), 1, 400, several)])] == [
        "more",
        "cheap",
        "dear",
        "large",
    ]


def test_a_variant_of_unknown_cost_stands_behind_one_of_any_cost() -> None:
    several = (figures("unknown", dollars=None), figures("dear", dollars=900.0), figures("free", dollars=0.0))
    assert [one.preset for one in means_of([ComparedSession(Path("a"), 1, 400, several)])] == [
        "free",
        "dear",
        "unknown",
    ]


def test_several_sessions_have_the_figures_of_each_alone() -> None:
    """At the agent's version or not, a preset goes by one name."""
    both = document("compare", FIRST, SECOND, "--preset", PRESETS)
    alone = [document("compare", file, "--preset", PRESETS) for file in (FIRST, SECOND)]
    assert [one["file"] for one in both["sessions"]] == [str(FIRST), str(SECOND)]
    for session, single in zip(both["sessions"], alone, strict=True):
        ours = [one for one in session["variants"] if one["preset"] != "recorded"]
        assert [(one["tokens_after"], one["kept_share"], one["fit"]) for one in ours] == [
            (one["after"]["tokens"], one["retention"]["all_facts"]["kept_share"], one["fit"])
            for one in single["variants"]
        ]
        assert session["tokens_before"] == single["before"]["tokens"]
    (trim,) = (one for one in both["variants"] if one["preset"] == "trim")
    each = [one for session in both["sessions"] for one in session["variants"] if one["preset"] == "trim"]
    assert trim["sessions"] == 2
    assert trim["kept_share"] == pytest.approx(sum(one["kept_share"] for one in each) / 2)
    named = document("compare", FIRST, SECOND, "--preset", "claude-code")["variants"]
    assert [one["preset"] for one in named if one["sessions"] == 2] == ["claude-code"]


def test_a_folder_is_its_sessions_and_a_file_that_fails_is_a_row(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_bytes(SECOND.read_bytes())
    inside = cwb("compare", tmp_path, "--preset", PRESETS, "--csv", "variants")
    assert [row["sessions"] for row in csv.DictReader(io.StringIO(inside.stdout))] == ["1", "1", "1"]
    (tmp_path / "none.txt").write_text("nothing\n", "utf-8")
    run = cwb("compare", SECOND, tmp_path / "none.txt", "--preset", PRESETS, "--csv", "sessions")
    good, bad = csv.DictReader(io.StringIO(run.stdout))
    assert (run.exit_code, good["file"], good["error"]) == (0, SECOND.name, "")
    assert bad["file"] == "none.txt"
    assert "Not a known session format" in bad["error"]
    assert "none.txt" in run.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--diff",), "--diff needs one session"),
        (("--part", "x"), "--part needs one session"),
        (("--watch", "Never log"), "--watch needs one session"),
        (("--summarizer", "rehearse:truncated"), "--summarizer extractive or estimate"),
    ],
)
def test_what_needs_one_session_is_refused(options: tuple[str, ...], said: str) -> None:
    run = cwb("compare", FIRST, SECOND, *options)
    assert run.exit_code == 2
    assert said in " ".join(run.stderr.split())


def test_where_no_session_can_be_read_that_is_the_answer(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("nothing\n", "utf-8")
    run = cwb("compare", tmp_path / "a.txt", tmp_path / "b.txt")
    assert run.exit_code == 2
    assert "No session could be compared" in run.stderr
