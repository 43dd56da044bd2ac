"""The rules of document 000 on the agent's long-term memories and on what a prompt and its numbers must have."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.commands import cwb, document
from tests.documents.rules import rule
from tests.paths import SAMPLES
from tests.summarizers.fake_api import MODEL, answer, fake_api
from tests.summarizers.live_calls import client_talks_to
from workbench.base.errors import BadInput
from workbench.compaction.context import Context, memories_in
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.prompts import lint_summary_prompt, load_prompt
from workbench.compaction.strategies.exchange_summary import STRATEGY as EXCHANGES
from workbench.compaction.strategies.exchange_summary import ExchangeSummaryPolicy
from workbench.compaction.strategies.memories_rewrite import STRATEGY, MemoriesRewritePolicy
from workbench.compaction.summary_request import Answer, SummaryRequest
from workbench.conformance.building import agent, context_of, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as by_hand
from workbench.formats.files import load
from workbench.summarizers.driver import drive
from workbench.summarizers.driver import run as run_live
from workbench.summarizers.extractive import extractive

SAMPLE = SAMPLES / "augment-with-summary.json"
LINES = [f"- memory {n} about the project" for n in range(1, 71)]


def context(lines: list[str] = LINES, **wishes: Any) -> Context:
    return context_of([user("u", "hi"), agent("a", "ok")], memories="\n".join(lines), **wishes)


def run(
    answered: Answered = "- one\n- two", given: Context | None = None, **changes: Any
) -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, given or context(), MemoriesRewritePolicy(**changes), answered)


def remembered(path: Path) -> list[str]:
    """What an Augment session's file has of the agent's memories, read without the workbench."""
    return str(json.loads(path.read_bytes())["agentState"]["agentMemories"]).split("\n")


OLD = remembered(SAMPLE)


PARAMS = {
    "compression_prompt": "Fewer. Output format: one memory a line.",
    "compression_target": 50,
    "num_recent_memories_to_keep": 10,
    "recent_memories_subprompt": "Keep these.",
}


def told(*command: object) -> tuple[str, str]:
    """The strategy that a command ran, and what stderr says."""
    done = cwb(*command)
    return done.stdout.split("strategy", 1)[1].split(",", 1)[0].strip(), done.stderr


@rule("000-081")
@pytest.mark.parametrize("wrapped", [PARAMS, {"feature_flags": {"memories_params": PARAMS}}])
def test_e9_the_parameters_alone_choose_the_strategy_that_they_set(wrapped: dict[str, Any], tmp_path: Path) -> None:
    """Whatever the session's own tool is, and without a strategy's name."""
    file = tmp_path / "params.json"
    file.write_text(json.dumps(wrapped))
    for sample in (SAMPLE, SAMPLES / "claude-code-overflow.jsonl"):
        assert told("compact", sample, "--params", file) == ("memories-rewrite", "")
        assert told("compact", sample, "--set", f"@{file}") == ("memories-rewrite", "")
    assert len(document("compact", SAMPLE, "--params", file)["memories"].split("\n")) == 50


@rule("000-081", "000-124")
def test_e9_parameters_of_another_strategy_are_named_once_with_what_reads_them(tmp_path: Path) -> None:
    file, mine = (
        tmp_path / "flags.json",
        {"trigger_on_history_size_chars": 9, "prompt": "Sum up. <summary></summary> I you"},
    )
    elsewhere = (
        f"Note: {file}: memories_params sets memories-rewrite and is not used here; "
        "add --strategy memories-rewrite for it.\n"
    )
    defaults = f"Note: {file}: sets nothing; the defaults of history_summary_params are used.\n"
    named = ("compact", SAMPLE, "--strategy", "exchange-summary", "--params", file)
    for flags, said in (
        ({"history_summary_params": mine, "memories_params": PARAMS}, elsewhere),
        ({"memories_params": PARAMS}, elsewhere + defaults),
        ({}, defaults),
    ):
        file.write_text(json.dumps({"feature_flags": flags}))
        assert told(*named) == ("exchange-summary", said)
    file.write_text("")
    assert told(*named) == ("exchange-summary", defaults)


@rule("000-121")
@pytest.mark.parametrize(
    ("language", "asked"),
    [
        (
            "en",
            "Remove what is redundant|merge memories|user preferences|project facts|recurring patterns|"
            "Shorten what is old|at most {compression_target} lines|"
            "The newest {num_recent_memories_to_keep} memories are kept word for word|"
            "plain text, one memory a line, no tags",
        ),
        (
            "zh",
            "去掉冗余|合并意思相近的记忆|用户偏好|项目事实|反复出现的模式|"
            "缩短陈旧且不重要的内容|不超过 {compression_target} 行|"
            "最新的 {num_recent_memories_to_keep} 条记忆会逐字保留|纯文本，每行一条记忆，不加标签",
        ),
    ],
)
def test_e10_the_memories_prompt_asks_for_what_the_document_wants(language: str, asked: str) -> None:
    prompt = load_prompt(f"memories-rewrite.{language}.md").text
    assert [words for words in asked.split("|") if words not in prompt] == []


@rule("000-122")
def test_e10_two_prompts_are_tried_side_by_side(tmp_path: Path) -> None:
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    for file, words in ((one, "Say what was asked."), (two, "Say what was done.")):
        file.write_text(f"---\nid: exchange-summary\nlanguage: en\nplaceholders:\n---\n{words}")
    tried = document("compare", SAMPLES / "openai-chat-tools.json", "--prompt", one, "--prompt", two)
    assert [side["label"] for side in tried["variants"]] == ["one", "two"]


@rule("000-123")
def test_e10_a_request_that_is_aborted_changes_nothing() -> None:
    there = context()
    asked: list[str] = []

    async def never(request: SummaryRequest) -> Answer:
        asked.append(request.purpose)
        running.cancel()
        await asyncio.Event().wait()
        raise AssertionError

    async def aborted() -> None:
        nonlocal running
        running = asyncio.create_task(run_live(STRATEGY.run(there, MemoriesRewritePolicy()), never))
        with pytest.raises(asyncio.CancelledError):
            await running

    running: asyncio.Task[Any]
    asyncio.run(aborted())
    assert (asked, there.memories) == (["memories"], "\n".join(LINES))


@rule("000-080")
def test_without_a_prompt_the_memories_are_left_alone() -> None:
    outcome, requests = run(prompt=" ")
    assert (outcome.status, outcome.memories, requests) == ("unchanged", None, [])
    assert "there is no prompt" in outcome.reason


@rule("000-082")
@pytest.mark.parametrize(("lines", "fires"), [(49, False), (50, False), (51, True)])
def test_more_lines_than_the_limit_cause_one_request(lines: int, fires: bool) -> None:
    outcome, requests = run(given=context(LINES[:lines], manual=False))
    assert (outcome.status, len(requests)) == (("compacted", 1) if fires else ("unchanged", 0))


@rule("000-083")
def test_the_answer_replaces_the_agents_memories_in_the_file(tmp_path: Path) -> None:
    typed, out = tmp_path / "answer.txt", tmp_path / "out.json"
    typed.write_text("- Kept short.\n- Kept, too.")
    args = ("compact", SAMPLE, "--epoch", "last", "--preset", "augment-memories", "--summarizer", f"typed:{typed}")
    found = document(*args, "-o", out)
    new = ["- Kept short.", "- Kept, too.", *OLD[-10:]]
    assert (found["written"], found["memories"].split("\n")) == (True, new)
    assert remembered(out) == memories_in(load(out).memories) == new
    before, after = json.loads(SAMPLE.read_bytes()), json.loads(out.read_bytes())
    assert {key for key in before if before[key] != after[key]} == {"sessionId", "modified", "agentState"}
    assert {key for key, value in before["agentState"].items() if value != after["agentState"][key]} == {
        "agentMemories"
    }
    assert [line for line in found["memory_changes"] if line[:2] != "  "] == [
        "⋮", *(f"- {line}" for line in OLD[:-10]), "+ - Kept short.", "+ - Kept, too.",
    ]  # fmt: skip
    told = cwb(*args).stdout
    assert all(f"  - {line}" in told for line in OLD[:-10])
    assert "  + - Kept short." in told


@rule("000-083")
def test_memories_that_a_format_has_no_place_for_are_not_called_written(tmp_path: Path) -> None:
    done = workbench.compact(load(SAMPLE), preset="augment-memories")
    with pytest.raises(BadInput, match=r"Codex rollout cannot store an agent's memories, and 50 lines of new ones"):
        workbench.save(done, tmp_path, "codex")
    assert list(tmp_path.iterdir()) == []
    kept = workbench.compact(load(SAMPLE), "trim")
    assert workbench.save(kept, tmp_path, "codex").exists()
    loss = "71 lines of the agent's memories left out: Codex rollout cannot store them"
    assert loss in cwb("compact", SAMPLE, "--strategy", "trim", "--to", "codex", "-o", tmp_path).stdout


@rule("000-083")
def test_a_copy_of_what_was_there_is_not_called_written(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert "\nwritten " in cwb("compact", SAMPLE, "--preset", "augment-memories", "-o", first).stdout
    again = ("compact", first, "--preset", "augment-memories", "--if-triggered", "-o", second)
    assert ("\nwritten   nothing" in cwb(*again).stdout, second.exists()) == (True, False)
    forced = cwb(*again, "--force").stdout
    assert ("\ncopied " in forced, "\nwritten" in forced) == (True, False)
    assert second.read_bytes() == first.read_bytes()


@rule("000-084")
def test_it_works_without_a_model() -> None:
    """Of the sample's 61 older memories 40 lines are left: merged by station, the ten of least weight gone."""
    session = load(SAMPLE)
    done = workbench.compact(session, preset="augment-memories")
    assert done.report.status == "compacted"
    new = memories_in(done.outcome.memories or "")
    assert (len(OLD), len(new), new[-10:]) == (71, 50, OLD[-10:])
    assert [line for line in OLD if line not in new and ":" not in line] == [
        "- Station codes are those of the pilot book, digits included.",
        "- The surge feed is billed per call.",
        "- The user is on call in the second week of each month.",
        "- data/ holds gauge readings, one file a month and station.",
        "- The test machine has no network.",
        "- The user uses fish as a shell.",
        "- Phase angles are in degrees, Greenwich.",
        "- The release is cut on Thursdays.",
        '- The user says "quay" for the whole north mole.',
        "- Osterney has no ferry in January.",
    ]
    assert "- OSTERN4, GRAWHOLM, SANDWIK2: the contact is the lock keeper, by telephone only." in new


@rule("000-084")
async def test_and_with_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.json"
    args = ("compact", SAMPLE, "--preset", "augment-memories", "--summarizer", f"anthropic:{MODEL}", "-o", out)
    async with fake_api(answer("- Stations are told ", "apart by code.\n- Times are UTC.")) as api:
        client_talks_to(api, monkeypatch)
        done = await asyncio.to_thread(cwb, *args)
    assert done.exit_code == 0, done.output
    assert [OLD[60] in one.prompt and "<recent_memories>" in one.prompt for one in api.received] == [True]
    assert remembered(out) == ["- Stations are told apart by code.", "- Times are UTC.", *OLD[-10:]]


@rule("000-085")
@pytest.mark.parametrize("answered", [40, 41, 80])
@pytest.mark.parametrize(("target", "max_lines", "least"), [(50, 50, 50), (60, 50, 50), (50, 60, 50)])
def test_all_lines_count_so_that_it_never_fires_on_what_it_wrote(
    answered: int, target: int, max_lines: int, least: int
) -> None:
    changes = {"compression_target": target, "max_lines": max_lines}
    outcome, (request,) = run("\n".join(f"- n{n}" for n in range(answered)), **changes)
    assert request.max_lines == 40
    assert "at most 40 lines" in request.text
    assert len(memories_in(outcome.memories or "")) == least
    after = context().from_outcome(outcome).with_(manual=False)
    policy = MemoriesRewritePolicy(**changes)
    assert [trigger.fires for trigger in STRATEGY.read_triggers(after, policy)] == [False]
    assert drive(STRATEGY.run(after, policy), extractive).outcome.status == "unchanged"


@rule("000-086")
@pytest.mark.parametrize("keep", [0, 9, 10, 11])
def test_the_newest_stay_word_for_word_whatever_the_answer_is(keep: int) -> None:
    outcome, (request,) = run(num_recent_memories_to_keep=keep)
    assert outcome.memories == "\n".join(["- one", "- two", *LINES[70 - keep :]])
    between = request.text.partition("<memories>\n")[2].partition("\n</memories>")[0]
    assert between.split("\n") == LINES[: 70 - keep]


@rule("000-087")
def test_the_prompt_for_the_recent_memories_is_no_memory() -> None:
    outcome, (request,) = run(recent_memories_subprompt="The last {num_recent_memories_to_keep}:\n{recent_memories}")
    assert request.text.endswith("</memories>\n\nThe last 10:\n" + "\n".join(LINES[60:]) + "\n")
    assert "The last 10:" not in memories_in(outcome.memories or "")
    shipped, _ = run()
    assert memories_in(shipped.memories or "") == ["- one", "- two", *LINES[60:]]


@rule("000-088")
def test_the_request_holds_memories_and_nothing_of_the_history() -> None:
    _, (request,) = run()
    assert (request.purpose, request.tools) == ("memories", ())
    assert [message.text for message in request.messages] == LINES[:60]
    assert "hi" not in request.text.split()


@rule("000-089")
def test_the_history_is_left_alone() -> None:
    outcome, _ = run()
    assert (outcome.status, {span.fate for span in outcome.fates}) == ("compacted", {Fate.KEPT})
    assert outcome.messages == tuple(outcome.source)


SOUND = "Summarize my requests and your actions; 'I' is the agent. Format: <summary></summary> tags."


@rule("000-090")
def test_a_prompt_that_says_what_in_which_form_and_who_is_fine_and_the_threshold_is_looked_at() -> None:
    assert lint_summary_prompt(SOUND) == ()
    for threshold in (0, 1):
        policy = ExchangeSummaryPolicy(prompt=SOUND, min_version="3", trigger_on_history_size_chars=threshold)
        assert any(trigger.fires for trigger in EXCHANGES.read_triggers(context(), policy)) == (threshold > 0)


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        pytest.param({"compression_target": 50}, "", id="000-091 a target of 50"),
        pytest.param({"compression_target": 49}, "compression_target = 49 loses much", id="000-091 of 49"),
        pytest.param({"compression_target": 100, "max_lines": 100}, "", id="000-091 of 100"),
        pytest.param(
            {"compression_target": 101, "max_lines": 101}, "compression_target = 101 saves", id="000-091 of 101"
        ),
        pytest.param({"num_recent_memories_to_keep": 9}, "num_recent_memories_to_keep = 9 lets", id="000-091 9 kept"),
        pytest.param({"num_recent_memories_to_keep": 20}, "", id="000-091 20 kept"),
        pytest.param({"num_recent_memories_to_keep": 21}, "num_recent_memories_to_keep = 21", id="000-091 21 kept"),
        pytest.param({"max_lines": 49}, "compression_target = 50 would fire again", id="000-091 a lower trigger"),
        pytest.param({"prompt": ""}, "The prompt is empty", id="000-091 no prompt"),
    ],
)
def test_numbers_that_make_little_sense_are_pointed_out(change: dict[str, Any], doubt: str) -> None:
    found = STRATEGY.lint(MemoriesRewritePolicy.model_validate(change))
    assert [one for one in found if not one.startswith(doubt)] == []
    assert len(found) == bool(doubt)


@rule("000-091")
@pytest.mark.parametrize(("keep", "told"), [(49, False), (50, True)])
def test_kept_memories_that_fill_all_lines_are_pointed_out(keep: int, told: bool) -> None:
    found = STRATEGY.lint(MemoriesRewritePolicy(num_recent_memories_to_keep=keep))
    assert (f"The newest {keep} memories fill all 50 lines; nothing can be rewritten." in found) is told


@pytest.mark.parametrize(
    ("prompt", "doubt"),
    [
        pytest.param("", "The prompt is empty", id="000-092 empty"),
        pytest.param(
            SOUND.partition(" Format")[0], "The prompt sets no output format", id="000-092 no format"
        ),
        pytest.param("Say more; 'I' is the agent. Format: tags.", "The prompt is too vague", id="000-092 vague"),
        pytest.param(SOUND.replace("; 'I' is the agent", ""), "The prompt does not define 'I'", id="000-092 no I"),
    ],
)  # fmt: skip
def test_each_pitfall_is_pointed_out(prompt: str, doubt: str) -> None:
    (found,) = lint_summary_prompt(prompt)
    assert found.startswith(doubt)
