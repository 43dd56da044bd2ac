"""Two outcomes, two runs, a replay and a session at a glance, in words and tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.analysis.grounding import run_grounding
from workbench.analysis.outcome_comparison import FatePair, added_messages, compare_fates, shortened_messages
from workbench.analysis.run_reports import answer_diffs, call_facts, differing_fields, run_facts, short_value
from workbench.compaction.outcome import Fate, FateSpan, KeptSpan, NewMessage, Outcome
from workbench.compaction.strategies.context_reset import STRATEGY, ContextResetPolicy
from workbench.compaction.summary_request import Answer, Summary, SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, chat, context_of, summary, user
from workbench.formats.glance import SessionGlance
from workbench.session import Span
from workbench.summarizers.driver import drive
from workbench.summarizers.run_records import CallRecord, CheckRecord, RunRecord, TokenRecord
from workbench.tokens.window import fullness, glanced_window

SIX = chat(3)


def of_six(*pieces: KeptSpan | NewMessage, compressed: int = -1) -> Outcome:
    fates = tuple(FateSpan(n, n + 1, Fate.COMPRESSED if n == compressed else Fate.KEPT) for n in range(6))
    return Outcome("compacted", "", SIX, pieces, fates)


def test_fates_of_messages_in_two_outcomes() -> None:
    node, short = NewMessage(summary("s", "S"), (Span(0, 2),)), NewMessage(agent("a1", "-"), (Span(3, 4),))
    first = of_six(node, KeptSpan(2, 3), short, KeptSpan(4, 6), compressed=3)
    second = of_six(KeptSpan(0, 1), KeptSpan(3, 6))
    assert list(compare_fates(first, second)) == [
        FatePair(0, 1, "gone", "kept"),
        FatePair(1, 2, "gone", "gone"),
        FatePair(2, 3, "kept", "gone"),
        FatePair(3, 4, "shortened", "kept"),
        FatePair(4, 6, "kept", "kept"),
    ]
    assert (shortened_messages(first), added_messages(first)) == ({3: short}, (node,))
    assert [len(one) for one in compare_fates(first, first)] == [2, 1, 1, 2]
    of_one = NewMessage(
        summary("s", "S"), (Span(3, 4),)
    )  # a summary of a single message is new, not that message shortened
    assert (shortened_messages(of_six(of_one)), added_messages(of_six(of_one, NewMessage(user("n", "new"))))[0]) == (
        {},
        of_one,
    )


CALL = CallRecord(
    key="k", purpose="p", request="r", text="one\ntwo", model="m", usage=TokenRecord(input=900, output=100)
)
RUN = RunRecord(
    id="r1",
    began=60.0,
    seconds=2.06,
    end="finished",
    strategy="trim",
    policy={"target": "tokens", "marker_text": "x " * 40},
    preset="mine",
    summarizer="extractive",
    session="0123456789abcdef",
    file="/s.jsonl",
    status="not_smaller",
    reason="why",
    before=12_000,
    after=3_000,
    dollars=0.12345,
    checks=(
        CheckRecord(name="pairs", hard=True, passed=True),
        CheckRecord(name="ids", hard=True, passed=False, detail="two"),
    ),
    calls=(CALL,),
)


def test_a_kept_run_in_words() -> None:
    assert dict(run_facts(RUN)) == {
        "run": "r1",
        "began": "1970-01-01 00:01, 2.1 s",
        "ended": "finished; not smaller: why",
        "session": "/s.jsonl (0123456789ab)",
        "strategy": "trim, preset mine",
        "policy": f"target=tokens, marker_text={'x ' * 29}x…",
        "summarizer": "extractive",
        "tokens": "12 000 → 3 000",
        "billed": "900 tokens in, 100 out, $0.12",
        "checks": "1 passed\nids: two",
    }
    bare = RunRecord(id="r", began=0, seconds=0, end="cancelled", strategy="trim", file="/s", before=5)
    assert [words for _, words in run_facts(bare)][2:8] == ["cancelled", "/s", "trim", "", "", "5 before"]
    assert run_facts(bare)[8:] == [("billed", "0 tokens in, 0 out, cost unknown"), ("checks", "0 passed")]
    failed = CALL.model_copy(update={"failure": "timeout", "detail": "120 s", "notes": ("a", "b")})
    assert call_facts(failed) == [("failed", "timeout: 120 s"), ("model", "m"), ("block", ""), ("notes", "a\nb")]
    assert call_facts(CALL)[0] == ("failed", "")


@pytest.mark.parametrize(("length", "shown"), [(59, 59), (60, 60), (61, 60)])
def test_a_long_value_is_cut_to_sixty(length: int, shown: int) -> None:
    assert (len(short_value("y" * length)), short_value("y" * length)[-1]) == (shown, "y" if length < 61 else "…")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"end": "failed", "after": 1}, [("end", "finished", "failed"), ("after", 3_000, 1)]),
        (
            {"policy": {"target": "tokens", "drop": "rounds"}},
            [("policy.marker_text", "x " * 40, None), ("policy.drop", None, "rounds")],
        ),
        (
            {"calls": ()},
            [("calls", 1, 0), ("input", 900, 0), ("output", 100, 0), ("requests", ["k"], [])],
        ),
    ],
)
def test_fields_in_which_two_runs_differ(changes: dict[str, Any], expected: list[tuple[str, Any, Any]]) -> None:
    assert differing_fields(RUN, RUN.model_copy(update=changes)) == expected


def test_how_the_answers_of_two_runs_differ() -> None:
    other = CALL.model_copy(update={"text": "one\nthree"})
    failed = CALL.model_copy(update={"text": "", "failure": "empty", "detail": "no text"})
    second = RUN.model_copy(update={"id": "r2", "calls": (CALL, other, failed)})
    first = RUN.model_copy(update={"calls": (CALL, CALL)})
    same, changed, more = answer_diffs(first, second)
    assert same == []
    assert changed == ["--- r1", "+++ r2", "@@ -1,2 +1,2 @@", " one", "-two", "+three"]
    assert more == ["--- r1", "+++ r2", "@@ -0,0 +1 @@", "+[empty: no text]"]


@pytest.mark.parametrize(
    ("model", "window", "tokens", "of", "share"),
    [
        ("claude-opus-4-5", None, 50_000, 200_000, 0.25),
        ("claude-opus-4-5", 100_000, 50_000, 100_000, 0.5),
        ("unheard of", None, 50_000, None, None),
        ("", None, 50_000, None, None),
        ("claude-opus-4-5", None, None, 200_000, None),
    ],
)
def test_how_full_a_session_is_at_a_glance(
    model: str, window: int | None, tokens: int | None, of: int | None, share: float | None
) -> None:
    glanced = replace(SessionGlance(Path("s"), 1, 0.0, "pi", "Pi"), model=model, window=window, tokens=tokens)
    found = glanced_window(glanced)
    assert (found and found.tokens, fullness(glanced)) == (of, share)


@pytest.mark.parametrize(
    ("answer", "claims", "unfounded"),
    [
        (Summary("Read src/a.py and src/b.py."), 2, ["src/b.py"]),
        (Summary("Nothing."), 0, []),
        (SummaryFailed("empty"), None, None),
    ],
)
def test_the_grounding_of_a_run(answer: Answer, claims: int | None, unfounded: list[str] | None) -> None:
    def answered(request: SummaryRequest) -> Answer:
        return answer

    context = context_of([user("u", "Look into src/a.py, never push."), agent("a", "I did.")])
    run = drive(STRATEGY.run(context, ContextResetPolicy()), answered)
    found = run_grounding(run)
    assert (found and found.claims, found and [one.text for one in found.unsupported]) == (claims, unfounded)
    if found is not None:
        assert run_grounding(replace(run, outcome=replace(run.outcome, pieces=()))) is None
