"""Requirements of `cwb check`: at their borders, and broken on purpose in the outcome of every strategy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands import RULE, session_lines, write_lines
from workbench.base.errors import BadInput
from workbench.bench import Bench, open_bench, with_counts
from workbench.bench.assessment import Assessment, compare
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome
from workbench.compaction.preset import default_preset
from workbench.compaction.strategies import strategy_ids
from workbench.formats.files import load
from workbench.runs.requirements import (
    CheckFigures,
    Requirements,
    failures,
    figures,
    read_checks,
    regressions,
    rules_in,
)
from workbench.session import Message, Text
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    file = write_lines(tmp_path_factory.mktemp("check") / "session.jsonl", session_lines())
    counter = Counter(None)
    opened = open_bench(load(file), counter)
    counter.count_all(opened.messages, lambda done, total: None, lambda: False)
    return with_counts(opened, counter)


def assessed(bench: Bench, strategy_id: str) -> Assessment:
    preset = default_preset(strategy_id)
    if strategy_id == "ledger":  # the session is smaller than what it keeps by default
        preset = replace(preset, policy=preset.policy.with_(budget_tokens=3_000))
    (one,) = compare(bench, [preset], extractive)
    return one


@pytest.fixture(scope="module")
def by_window(bench: Bench) -> Assessment:
    return assessed(bench, "message-window")


def broken(one: Assessment, **required: object) -> list[str]:
    """Names of the requirements that fail."""
    return [failure.requirement for failure in failures(one, Requirements.model_validate(required), Path())]


def test_shares_fail_only_below_what_is_required(by_window: Assessment) -> None:
    lossy = without_requests(by_window)
    known = figures(lossy)
    assert known.kept is not None
    assert known.correct is not None
    assert known.rules == 0.0
    assert broken(lossy, kept=known.kept - 0.001, correct=known.correct - 0.001, rules=0.0) == []
    assert broken(lossy, kept=known.kept, correct=known.correct) == []
    assert broken(lossy, kept=known.kept + 0.001, correct=known.correct + 0.001) == ["kept", "correct"]
    assert broken(lossy, rules=0.001) == ["rules"]


def test_tokens_fail_only_above_the_limit(by_window: Assessment) -> None:
    tokens = by_window.after.tokens
    assert broken(by_window, max_tokens=tokens + 1) == []
    assert broken(by_window, max_tokens=tokens) == []
    assert broken(by_window, max_tokens=tokens - 1) == ["max_tokens"]


def test_cost_fails_only_above_the_limit(bench: Bench) -> None:
    one = assessed(bench, "exchange-summary")
    cost = one.summary_cost
    assert cost
    assert broken(one, max_cost=cost + 0.0001) == []
    assert broken(one, max_cost=cost) == []
    assert broken(one, max_cost=cost - 0.0001) == ["max_cost"]


def test_a_sentence_that_was_never_there_is_named_so(by_window: Assessment) -> None:
    required = Requirements(keep=["Deploy on Fridays only."])
    (failure,) = failures(by_window, required, Path())
    assert failure.message == "gone, and not in the context before the compaction: “Deploy on Fridays only.”"


def test_rules_of_a_file_are_required_where_the_context_had_them(by_window: Assessment, tmp_path: Path) -> None:
    (tmp_path / "RULES.md").write_text(f"# Rules\n\n- {RULE}\n- Never deploy on a Friday.\n", "utf-8")
    assert rules_in(tmp_path / "RULES.md") == (RULE, "Never deploy on a Friday.")
    required = Requirements(rule_files=["RULES.md"])
    assert failures(by_window, required, tmp_path) == []
    found = failures(without_rule(by_window), required, tmp_path)
    assert [(one.requirement, one.message) for one in found] == [("rule_files", f"gone: “{RULE}”")]


@pytest.mark.parametrize("id", strategy_ids())
def test_every_strategy_fails_for_what_is_broken_in_it(bench: Bench, id: str) -> None:
    one = assessed(bench, id)
    if one.outcome.status == "unchanged":
        pytest.skip(f"{id} has nothing to do in this session")
    known = figures(one)
    mine = {"kept": known.kept, "correct": known.correct, "max_tokens": known.tokens, "tool_pairs": True}
    assert broken(one, **mine) == []
    forgetful, torn = without_rule(one), without_a_result(one)
    assert "keep" in broken(forgetful, keep=[RULE])
    assert "continuity" in broken(without_requests(one), continuity=True)
    assert broken(torn, tool_pairs=True) == ["tool_pairs"]


def test_a_break_of_the_tasks_continuity_fails_with_its_sentence(bench: Bench) -> None:
    lossy = without_requests(assessed(bench, "message-window"))
    newest = [message.user_text for message in bench.context.messages if message.starts_round][-1]
    found = failures(lossy, Requirements(continuity=True), Path())
    assert found[0].message.startswith("the user's newest request is not in the result: “")
    assert newest[:40] in found[0].message
    assert failures(lossy, Requirements(tool_pairs=True), Path()) == []


def test_each_of_several_compactions_is_judged(bench: Bench) -> None:
    one = assessed(bench, "message-window")
    tokens = one.after.tokens
    found = failures(one, Requirements(max_tokens=tokens - 1, generations=2), Path())
    assert found[0].message == f"{tokens:_} tokens after compaction 1, at most {tokens - 1:_} allowed".replace("_", " ")


def test_a_figure_is_worse_only_beyond_the_baseline() -> None:
    before = CheckFigures(0.8, 0.7, 1.0, 5_000, 0.01)
    assert regressions(before, before) == []
    assert regressions(CheckFigures(0.9, 0.8, 1.0, 4_999, 0.009), before) == []
    worse = regressions(CheckFigures(0.799, 0.699, 0.9, 5_001, 0.011), before)
    assert [one.message for one in worse] == [
        "79.9% of facts kept, 80.0% in the baseline",
        "69.9% of facts kept and correct, 70.0% in the baseline",
        "90.0% of rules kept, 100.0% in the baseline",
        "5 001 tokens, 5 000 in the baseline",
        "$0.0110 for summaries, $0.0100 in the baseline",
    ]
    assert regressions(CheckFigures(None, None, None, 5_000, None), before) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no [[check]]; begin each check"),
        ("[[check]\n", "not valid TOML"),
        ('[[check]]\nname = "a"\nsessions = ["x"]\npresets = ["y"]\n', ":1: check 'a' requires nothing"),
        ('\n[[check]]\nname = "a"\nsessions = []\npresets = ["y"]\nkept = 1.0\n', ":2: check 1: sessions = []"),
        ('[[check]]\nname = "a"\nsessions = ["x"]\npresets = ["y"]\nkept = 1.1\n', "kept = 1.1"),
        ('[[check]]\nname = "a"\nsessions = ["x"]\npresets = ["y"]\nkeeps = ["z"]\n', "'keeps' does not exist"),
        (2 * '[[check]]\nname = "a"\nsessions = ["x"]\npresets = ["y"]\nkept = 1.0\n', ":6: two checks are called 'a'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "cwb-check.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(BadInput) as refused:
        read_checks(file)
    assert told in str(refused.value)


def with_pieces(one: Assessment, *pieces: KeptSpan | NewMessage) -> Assessment:
    kept = {i for piece in pieces if isinstance(piece, KeptSpan) for i in range(piece.start, piece.stop)}
    fates = (FateSpan(i, i + 1, Fate.KEPT if i in kept else Fate.DROPPED) for i in range(len(one.outcome.source)))
    outcome: Outcome = replace(one.outcome, pieces=pieces, fates=tuple(fates), tail=None)
    return Assessment(one.bench, replace(one.run, outcome=outcome), one.preset)


def _kept(one: Assessment) -> list[int]:
    """Indexes of the messages that stay as they are."""
    return [i for piece in one.outcome.pieces if isinstance(piece, KeptSpan) for i in range(piece.start, piece.stop)]


def without_rule(one: Assessment) -> Assessment:
    """The outcome with a summary that says nothing, and without the messages that state the rule."""
    source = one.outcome.source
    stay = [KeptSpan(i, i + 1) for i in _kept(one) if RULE not in source[i].text]
    return with_pieces(one, _silent(one), *stay)


def without_requests(one: Assessment) -> Assessment:
    source = one.outcome.source
    stay = [KeptSpan(i, i + 1) for i in _kept(one) if not source[i].starts_round]
    return with_pieces(one, _silent(one), *stay)


def without_a_result(one: Assessment) -> Assessment:
    """The last call and its answer alone, without the result between them."""
    source = one.outcome.source
    call = max(i for i, message in enumerate(source) if message.calls)
    return with_pieces(one, KeptSpan(call, call + 1), KeptSpan(len(source) - 1, len(source)))


def _silent(one: Assessment) -> NewMessage:
    return NewMessage(Message("silent", "user", (Text("Work went on."),), "summary"))
