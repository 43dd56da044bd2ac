"""Variants of the same compaction: which there are, asking all of them at once, and what is known when that stops."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.summarizers.fake_api import KEY, MODEL, answer, fake_api, stalling
from tests.summarizers.live_calls import client_talks_to
from tests.tui.app import story
from workbench.analysis.prompt_use import StoredPrompt, prompt_by_id
from workbench.base.errors import BadInput
from workbench.bench import Bench, choose_preset, open_bench, with_counts
from workbench.compaction.preset import default_preset
from workbench.runs.live_run import LiveRun
from workbench.runs.variants import check_count, prompt_variants, run_all, setting_variants
from workbench.summarizers import run_history
from workbench.summarizers.by_name import SummarizerName
from workbench.summarizers.live_events import LiveEvent, TextReceived
from workbench.summarizers.spend_limit import SpendLimit, SpendLimitExceeded
from workbench.tokens import Counter

EXTRACTIVE, GARBAGE = SummarizerName("extractive"), SummarizerName("rehearse", "garbage")


@pytest.fixture(scope="module")
def bench() -> Bench:
    counter = Counter(None)
    made = open_bench(story(rounds=30), counter)
    counter.count_all(made.messages, lambda done, of: None, lambda: False)
    return with_counts(made, counter)


def live(bench: Bench, prompts: Sequence[StoredPrompt], names: Sequence[SummarizerName]) -> list[LiveRun]:
    return [one.live(bench) for one in prompt_variants(bench, prompts, names)]


def test_a_pair_differs_in_one_thing(bench: Bench) -> None:
    english, chinese = prompt_by_id("exchange-summary.en"), prompt_by_id("exchange-summary.zh")
    a, b = live(bench, [english, chinese], [])
    assert (a.label, b.label, a.name, b.name) == ("exchange-summary.en", "exchange-summary.zh", EXTRACTIVE, EXTRACTIVE)
    assert [side.bench.policy.model_dump()["prompt"] for side in (a, b)] == [english.prompt.text, chinese.prompt.text]
    several = live(bench, [], [EXTRACTIVE, GARBAGE, SummarizerName("typed")])
    assert [one.label for one in several] == ["extractive", "rehearse:garbage", "typed"]
    assert all(one.bench.policy == bench.policy for one in several)
    a, b = live(bench, [prompt_by_id("message-window.zh")], [EXTRACTIVE, GARBAGE])
    assert {one.bench.strategy.id for one in (a, b)} == {"message-window"}
    each_by_each = live(bench, [english, chinese], [EXTRACTIVE, GARBAGE])
    assert [one.label for one in each_by_each] == [
        f"exchange-summary.{language} · {name}" for language in ("en", "zh") for name in (EXTRACTIVE, GARBAGE)
    ]
    for prompts, names in (([], []), ([english], []), ([], [GARBAGE]), ([english], [GARBAGE])):
        with pytest.raises(BadInput, match="two prompts, or two summarizers"):
            check_count(prompts, names)


def test_a_number_has_a_variant_for_each_value(bench: Bench) -> None:
    several = setting_variants(bench.as_preset, ["history_tail_size_chars_to_exclude=10000,20000"])
    assert [one.label for one in several] == [
        "history_tail_size_chars_to_exclude = 10 000", "history_tail_size_chars_to_exclude = 20 000",
    ]  # fmt: skip
    policies = [one.live(bench).bench.policy.model_dump() for one in several]
    assert [one["history_tail_size_chars_to_exclude"] for one in policies] == [10_000, 20_000]
    assert len({one.preset.name for one in several}) == 1
    with pytest.raises(BadInput, match="cwb compare --vary"):
        setting_variants(bench.as_preset, ["window=100k,200k"])


def test_no_two_numbers_have_the_same_label(bench: Bench) -> None:
    """Six digits made 1e+06 of both."""
    several = setting_variants(bench.as_preset, ["history_tail_size_chars_to_exclude=1000000,1000001"])
    assert [one.label.rpartition("= ")[2] for one in several] == ["1 000 000", "1 000 001"]


def test_a_prompt_with_an_id_of_its_own_is_tried_by_the_other_ones_strategy_or_the_one_at_hand(
    bench: Bench, tmp_path: Path
) -> None:
    own = tmp_path / "mine.md"
    own.write_text("---\nid: my-very-own\nlanguage: en\nplaceholders: []\n---\nTell it in one sentence.\n")
    _, mine = live(bench, [prompt_by_id("exchange-summary.en"), prompt_by_id(str(own))], [])
    assert mine.label == "mine"
    assert mine.bench.policy.model_dump()["prompt"] == "Tell it in one sentence."
    other = choose_preset(bench, default_preset("user-messages"))
    _, mine = live(other, [prompt_by_id("exchange-summary.en"), prompt_by_id(str(own))], [])
    assert (mine.bench.strategy.id, mine.bench.policy.model_dump()["prompt"]) == (
        "exchange-summary", "Tell it in one sentence.",
    )  # fmt: skip
    _, mine = live(other, [prompt_by_id(str(own)), prompt_by_id(str(own))], [])
    assert mine.bench.strategy.id == "user-messages"


async def test_both_are_whole_runs_that_leave_the_bench_as_it_is(bench: Bench) -> None:
    before = repr(bench.messages)
    heard: list[int] = []
    pair = live(bench, [], [GARBAGE, SummarizerName("rehearse", "refused")])
    both = await run_all(pair, SpendLimit(), lambda number, event: heard.append(number), keeps=True)
    assert [one.run.outcome.status for one in both] == ["compacted", "unchanged"]
    assert [one.failures != () for one in both] == [False, True]
    assert both[0].assessment.after.tokens < both[0].assessment.before.tokens == both[1].assessment.after.tokens
    assert both[0].assessment.grounding is not None
    assert (both[1].assessment.grounding, both[1].draft, both[1].cost) == (None, "", None)
    assert set(heard) == {0, 1}
    assert [one.record.end for one in both] == ["finished", "failed"]
    assert repr(bench.messages) == before


async def test_a_pair_that_is_stopped_tells_what_had_come(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = asyncio.Event()

    def heard(number: int, event: LiveEvent) -> None:
        if isinstance(event, TextReceived) and number == 1:
            writing.set()

    async with fake_api(stalling("Half a"), stalling("Half a")) as api:
        client_talks_to(api, monkeypatch)
        pair = live(bench, [], [SummarizerName("anthropic", MODEL), SummarizerName("anthropic", MODEL)])
        task = asyncio.ensure_future(run_all(pair, SpendLimit(), heard, keeps=True))
        await writing.wait()
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()
    record = pair[1].unfinished(0.5)
    assert (record.end, record.calls[0].text, record.calls[0].detail) == ("cancelled", "Half a", "cancelled")
    assert record.dollars is not None
    assert record.dollars > 0
    assert KEY not in record.model_dump_json()


@pytest.mark.parametrize("keeps", [True, False])
async def test_an_answer_is_kept_before_both_are_there(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    async with fake_api(answer("The parser was mended.")) as api:
        client_talks_to(api, monkeypatch)
        pair = live(bench, [], [SummarizerName("anthropic", MODEL), GARBAGE])
        await run_all(pair, SpendLimit(), keeps=keeps)
    kept = [run_history.load_run(one.id) for one in run_history.list_runs()]
    assert [(one.id, one.end) for one in kept] == ([(pair[0].recorder.id, "cancelled")] if keeps else [])
    assert [call.text for one in kept for call in one.calls] == (["The parser was mended."] if keeps else [])


async def test_without_a_key_neither_is_asked(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("x")) as api:
        client_talks_to(api, monkeypatch)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        with pytest.raises(BadInput, match="ANTHROPIC_API_KEY"):
            await run_all(live(bench, [], [GARBAGE, SummarizerName("anthropic", MODEL)]), SpendLimit(), keeps=True)
    assert api.received == []


@pytest.mark.parametrize(
    ("limit", "answers", "asked_for", "sent"),
    [
        (1_000.0, [True], ["my-llama"], 2),
        (1_000.0, [False], ["my-llama"], 0),
        (0.0001, [True, True], ["my-llama", "$0.0001"], 2),
        (0.0001, [True, False], ["my-llama", "$0.0001"], 0),
    ],
)
async def test_f3_a_pair_with_an_unpriced_model_keeps_the_limit_for_the_priced_one(
    limit: float,
    answers: list[bool],
    asked_for: list[str],
    sent: int,
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A yes for the one is none for the other; without both nothing is sent."""
    asked: list[str] = []

    async def ask(what: str) -> bool:
        asked.append(what)
        return answers[len(asked) - 1]

    async with fake_api(answer("One."), answer("Two.")) as api:
        client_talks_to(api, monkeypatch)
        pair = live(bench, [], [SummarizerName("anthropic", "my-llama"), SummarizerName("anthropic", MODEL)])
        try:
            await run_all(pair, SpendLimit(limit, ask=ask), keeps=False)
        except SpendLimitExceeded:
            assert sent == 0
        assert len(api.received) == sent
    assert len(asked) == len(asked_for)
    assert all(word in what for word, what in zip(asked_for, asked, strict=True))
