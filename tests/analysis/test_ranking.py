"""Order of a comparison: fit, then facts kept, then cost; the same in table, JSON and on the screen."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.benches import bench_of
from tests.commands import cwb, document
from tests.paths import SAMPLES
from tests.tui.app import brought, on_bench
from workbench.analysis.outcome_comparison import Ceiling, ceiling_of, fit_of, fit_words, rank
from workbench.base.figures import grouped
from workbench.bench.assessment import compare
from workbench.compaction.checks import UNDER_THE_THRESHOLD, Check
from workbench.compaction.opening import context_at
from workbench.compaction.preset import load_preset
from workbench.conformance.building import chat, context_of
from workbench.formats.files import load
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter
from workbench.tui.screens.compare import CompareScreen

OVERFLOW = SAMPLES / "claude-code-overflow.jsonl"


@pytest.mark.parametrize(("more", "fit"), [(-1, "too large"), (0, "too large"), (1, "fits")])
def test_b3_an_outcome_fits_below_the_ceiling(more: int, fit: str) -> None:
    ceiling = Ceiling(700 + more, "context window")
    assert fit_of("compacted", 900, 700, (), ceiling) == fit
    said = "fits" if fit == "fits" else f"does not shrink enough: 700 left, context window {700 + more}"
    assert fit_words(fit_of("compacted", 900, 700, (), ceiling), 900, 700, (), ceiling) == said


def test_b3_an_outcome_not_smaller_failing_or_firing_again_does_not_fit() -> None:
    soft, hard = Check("smaller", False, False, ""), Check("pinned messages unchanged", True, False, "")
    again = Check(UNDER_THE_THRESHOLD, False, False, "")
    assert [fit_of("compacted", 900, 700, failed, None) for failed in ((), (soft,), (hard,), (again,))] == [
        "fits",
        "fits",
        "not usable",
        "too large",
    ]
    assert (
        fit_words("too large", 900, 700, (soft, again), None) == "does not shrink enough: its own trigger fires again"
    )
    assert (
        fit_words("not usable", 900, 700, (soft, hard, again), None)
        == "is not usable: pinned messages unchanged failed"
    )
    assert [fit_of("compacted", 900, after, (), None) for after in (899, 900, 901)] == [
        "fits",
        "too large",
        "too large",
    ]
    assert fit_words("too large", 900, 900, (), None) == "does not shrink: 900 of 900 tokens remain"
    assert (fit_of("unchanged", 900, 900, (), None), fit_words("unchanged", 900, 900, (), None)) == (
        "unchanged",
        "frees nothing",
    )


def test_b3_an_assessment_judges_its_own_sizes_checks_and_ceiling() -> None:
    (one,) = compare(bench_of(context_of(chat(40))), [load_preset("trim")], extractive)
    assert (one.ceiling, one.fit, one.fit_words) == (None, "fits", "fits")
    limited = bench_of(context_of(chat(40), window=one.after.tokens))
    (over,) = compare(limited, [one.preset] if one.preset else [], extractive)
    assert over.after.tokens == one.after.tokens
    assert over.fit_words == f"does not shrink enough: {one.after.tokens} left, context window {one.after.tokens}"


def test_b3_ranking_is_by_fit_then_facts_kept_then_cost() -> None:
    best_first = [
        rank("fits", 0.9, 0.1),
        rank("fits", 0.9, 0.2),
        rank("fits", 0.9, None),
        rank("fits", 0.9, 0.0, foreign=True),
        rank("fits", 0.2, 0.0),
        rank("fits", None, 0.0),
        rank("too large", 0.99, 0.0),
        rank("too large", 0.5, 0.0),
        rank("not usable", 0.9, 0.0),
        rank("unchanged", 1.0, 0.0),
    ]
    assert sorted(best_first) == best_first


def test_b3_the_ceiling_is_the_trigger_of_the_sessions_own_agent_or_the_window() -> None:
    session = load(OVERFLOW)
    context = context_at(session, None, Counter())
    assert ceiling_of(session, context) == Ceiling(167_000, "trigger of claude-code")
    chat_list = load(SAMPLES / "openai-chat-tools.json")
    opened = context_at(chat_list, None, Counter(), window=9_000)
    assert ceiling_of(chat_list, opened) == Ceiling(9_000, "context window")
    assert ceiling_of(chat_list, opened.with_(limit=None)) is None


def test_b3_a_summary_in_another_language_is_noted() -> None:
    english = bench_of(context_of(chat(40, "harbour ")))
    window, trim = load_preset("message-window"), load_preset("trim")
    told = [one.language_note for one in compare(english, [window, trim], extractive)]
    assert told == ["writes its summary in Chinese, the session is in English", ""]
    in_english = replace(window, policy=window.policy.model_copy(update={"language": "en"}))
    assert [one.language_note for one in compare(english, [in_english], extractive)] == [""]


async def test_b3_table_json_and_screen_have_one_order_and_say_what_is_still_too_large() -> None:
    """augment-memories leaves all tokens and would have been first by what it keeps."""
    file = SAMPLES / "augment-with-summary.json"
    printed = (await asyncio.to_thread(cwb, "compare", file)).stdout
    assert f"\nto fit: below {grouped(200_000)} tokens, context window\n" in printed
    first, *_ = printed.partition("\n\nFacts kept\n")
    rows = [line.split() for line in first.splitlines() if " fits " in line or " too large " in line]
    in_json = await asyncio.to_thread(document, "compare", file)
    assert in_json["limit"] == {"tokens": 200_000, "source": "context window"}
    fits = [(one["preset"], one["fit"]) for one in in_json["variants"]]
    assert [cells[0] for cells in rows if cells[0] != "recorded"] == [name for name, fit in fits if fit != "unchanged"]
    assert [fit for _, fit in fits] == ["fits"] * 6 + ["too large"] + ["unchanged"] * 3
    kept = [one["retention"]["all_facts"]["kept_share"] for one in in_json["variants"][:6]]
    assert kept == sorted(kept, reverse=True)
    assert len({*kept}) > 2
    name, words = fits[6][0], in_json["variants"][6]["fit_note"]
    assert (name, words) == ("augment-memories", "does not shrink: 24 221 of 24 221 tokens remain")
    assert f"{name} {words}\n" in printed
    async with on_bench(file, size=(160, 40)) as (pilot, bench):
        screen = await brought(pilot, CompareScreen, "C")
        own = {"on the bench": bench.bench.preset}
        shown = [own.get(one.name, one.name) for one in screen.rows.ranked]
        assert [name for name in shown if name in dict(fits)] == [name for name, _ in fits if name in shown]
        assert screen.rows.ranked[shown.index(name)].assessment.fit == "too large"
