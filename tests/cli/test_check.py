"""`cwb check`: its lines, exit codes, reports and baseline."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.commands import RULE, cwb, document, session_lines, write_lines
from tests.paths import SAMPLES

CHECKS = f"""
[[check]]
name = "rules survive"
sessions = ["*.jsonl"]
presets = ["trim"]
keep = ["{RULE}"]

[[check]]
name = "small enough"
sessions = ["session.jsonl"]
presets = ["trim", "recorded"]
max_tokens = 1
"""


@pytest.fixture
def checks(tmp_path: Path) -> Path:
    write_lines(tmp_path / "session.jsonl", session_lines())
    file = tmp_path / "checks.toml"
    file.write_text(CHECKS, "utf-8")
    return file


def test_a_failure_is_one_line_and_the_exit_code_is_3(checks: Path) -> None:
    run = cwb("check", checks)
    assert run.exit_code == 3
    tokens = document("check", checks, code=3)["cases"][1]["figures"]["tokens"]
    spaced = f"{tokens:_}".replace("_", " ")
    lines = [line.split("  kept")[0] for line in run.output.splitlines()]
    assert lines == [
        "✓ rules survive · session.jsonl · trim",
        "✗ small enough · session.jsonl · trim",
        f"  max_tokens: {spaced} tokens, at most 1 allowed",
        "✗ small enough · session.jsonl · recorded",
        "  session: the session records no compaction at the end of this epoch",
        "3 cases, 2 failed",
    ]


def test_one_check_alone(checks: Path) -> None:
    run = cwb("check", checks, "--only", "rules survive")
    assert (run.exit_code, run.output.splitlines()[-1]) == (0, "1 case, 0 failed")
    refused = cwb("check", checks, "--only", "rules")
    assert refused.exit_code == 2
    assert "has no check 'rules'; it has 'rules survive', 'small enough'" in " ".join(refused.output.split())


def test_github_annotations_name_the_check_and_its_line(checks: Path) -> None:
    first = cwb("check", checks, "--github").output.splitlines()[0]
    assert first.startswith(f"::error file={checks},line=8,title=max_tokens%3A small enough · session.jsonl · trim::")


def test_junit_has_a_test_case_for_each_session_and_preset(checks: Path) -> None:
    report = checks.with_name("report.xml")
    assert cwb("check", checks, "--junit", report).exit_code == 3
    assert cwb("check", checks, "--junit", report).exit_code == 3  # the report of an earlier run is replaced
    suites = ET.parse(report).getroot().findall("testsuite")
    assert [(one.get("name"), one.get("tests"), one.get("failures")) for one in suites] == [
        ("rules survive", "1", "0"),
        ("small enough", "2", "2"),
    ]
    assert [one.get("type") for one in suites[1].iter("failure")] == ["max_tokens", "session"]


def test_a_report_replaces_no_other_file(checks: Path) -> None:
    session = checks.with_name("session.jsonl")
    before = session.read_bytes()
    assert cwb("check", checks, "--junit", session).exit_code == 2
    assert session.read_bytes() == before


def test_a_worse_figure_than_the_baseline_fails(checks: Path) -> None:
    known = document("check", checks, "--only", "rules survive")
    baseline = checks.with_name("main.json")
    baseline.write_text(json.dumps(known), "utf-8")
    assert cwb("check", checks, "--only", "rules survive", "--baseline", baseline).exit_code == 0
    known["cases"][0]["figures"]["tokens"] -= 1
    baseline.write_text(json.dumps(known), "utf-8")
    run = cwb("check", checks, "--only", "rules survive", "--baseline", baseline)
    assert run.exit_code == 3
    assert "  baseline: " in run.output
    baseline.write_text("[]", "utf-8")
    assert cwb("check", checks, "--baseline", baseline).exit_code == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("*.jsonl", "*.none"), "no file matches '*.none'"),
        (('"trim"]', '"tirm"]'), "Preset 'tirm' does not exist"),
        (('"trim"]', '"mine.toml"]'), "mine.toml: not valid TOML"),
    ],
)
def test_what_a_check_names_and_is_not_there_is_refused(checks: Path, change: tuple[str, str], told: str) -> None:
    checks.write_text(CHECKS.replace(*change, 1), "utf-8")
    run = cwb("check", checks)
    assert run.exit_code == 2
    assert told in " ".join(run.output.split())


def test_a_pipe_is_no_file_of_checks(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = cwb("check", pipe)
    assert run.exit_code == 2
    assert f"{pipe} cannot be read: it is a pipe" in " ".join(run.output.split())


def test_a_session_that_cannot_be_read_is_a_failed_case(checks: Path) -> None:
    (checks.parent / "broken.jsonl").write_text("no session\n", "utf-8")
    run = cwb("check", checks, "--only", "rules survive")
    assert run.exit_code == 3
    assert run.output.splitlines()[0] == "✗ rules survive · broken.jsonl · trim"
    assert run.output.splitlines()[1].startswith("  session: ")


def test_text_of_a_session_is_no_markup_in_any_report(checks: Path) -> None:
    name = 'a%0A::error::b<c>&"d'.replace("/", "")
    checks.write_text(CHECKS.replace("small enough", name.replace('"', '\\"')), "utf-8")
    line = next(one for one in cwb("check", checks, "--github").output.splitlines() if "max_tokens" in one)
    assert line.count("::") == 3 or "%3A%3Aerror" in line
    report = checks.with_name("report.xml")
    cwb("check", checks, "--junit", report)
    assert ET.parse(report).getroot().findall("testsuite")[1].get("name") == name


RENAME = "Don't rename anything, the URLs are printed on the paper catalogue."


def test_fail_on_names_each_lost_rule_and_nothing_is_written(tmp_path: Path) -> None:
    file, out = SAMPLES / "claude-code-overflow.jsonl", tmp_path / "out.jsonl"
    assert cwb("retention", file, "--preset", "claude-code", "--fail-on", "lost").exit_code == 0
    for command in ("compact", "retention"):
        failed = cwb(command, file, "--preset", "context-reset", "--fail-on", "lost")
        assert failed.exit_code == 3
        assert f"lost: instruction: “{RENAME}”" in failed.stderr.splitlines()
    assert cwb("compact", file, "--preset", "context-reset", "--fail-on", "lost", "-o", out).exit_code == 3
    assert not out.exists()
    assert cwb("compact", file, "--preset", "context-reset", "--fail-on", "wrong", "-o", out).exit_code == 0


def test_fail_on_needs_a_summary_that_can_be_read() -> None:
    refused = cwb("compact", SAMPLES / "claude-code-overflow.jsonl", "--summarizer", "estimate", "--fail-on", "lost")
    assert refused.exit_code == 2
    assert "--fail-on needs a summary" in " ".join(refused.stderr.split())


def test_fail_on_judges_watched_sentences_that_were_there() -> None:
    base = ("retention", SAMPLES / "claude-code-overflow.jsonl", "--preset", "context-reset", "--fail-on", "lost")
    with_it = cwb(*base, "--watch", "Good catch.").stderr.splitlines()
    without = cwb(*base, "--watch", "Deploy on Fridays only.").stderr.splitlines()
    assert [line for line in with_it if line not in without] == ["lost: watched: “Good catch.”"]
