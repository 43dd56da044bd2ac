"""Variants on many sessions: the verdicts by hand, what is held meanwhile, and by command what is asked, kept,
resumed and left."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import re
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commands import RULE, cwb, session_lines, write_lines
from tests.products import mostly_full
from tests.summarizers.fake_api import MODEL, Connection, FakeApi, Reply, answer, error, fake_api
from tests.summarizers.live_calls import client_talks_to
from tests.summarizers.test_batches import batch
from tests.test_cli_probe import every_batch
from workbench.base import paths
from workbench.base.session_caches import CACHES
from workbench.bench import Bench
from workbench.cli.load_bench import on_bench
from workbench.cli.selection import Selection
from workbench.compaction.strategies import exchange_summary
from workbench.compaction.summary_request import Answer, Summary, SummaryRequest
from workbench.conformance.building import agent, context_of, user
from workbench.runs.experiment import (
    ExperimentOptions,
    Open,
    SessionResult,
    VariantFigures,
    VariantVerdict,
    compare_in_batches,
    compare_live,
    queue_session,
    verdicts,
)
from workbench.runs.live_run import LiveRun
from workbench.runs.variants import prompt_variants
from workbench.summarizers import run_history
from workbench.summarizers.batches import BatchProgress
from workbench.summarizers.by_name import parse_name
from workbench.summarizers.driver import drive
from workbench.summarizers.recorded_answers import ask_only_missing, recorded_summarizer
from workbench.summarizers.spend_limit import SpendLimit

pytestmark = pytest.mark.usefixtures("lets_stand_what_stands")

NONE = VariantFigures("compacted", (), 100, 10, {}, None, (), (), 0.0, "")


def facts(*told: float) -> dict[tuple[str, str, int], float]:
    return {("path", f"f{number}", number): one for number, one in enumerate(told)}


def session(*variants: VariantFigures) -> SessionResult:
    return SessionResult(Path("s.jsonl"), 1, 1_000, variants)


def test_the_verdict_is_over_pairs() -> None:
    """By hand: of six facts A tells 3.5 and B 5; the claims' shares are 1/2 and 3/4, then 1 and 3/4; B answers one
    question more of the two that both were asked, and of two watched sentences that stood there B lost one."""
    one = session(
        replace(NONE, facts=facts(1, 0, 0.5), claims=(1, 2), answered=(True, False, None), watched=(True, None, True)),
        replace(NONE, facts=facts(1, 1, 0.5), claims=(3, 4), answered=(True, True, False), watched=(False, None, True)),
    )
    other = session(
        replace(NONE, facts=facts(1, 1, 0), claims=(2, 2)), replace(NONE, facts=facts(1, 1, 0.5), claims=(3, 4))
    )
    failed = session(replace(NONE, facts=facts(1), failures=("the summary failed",)), replace(NONE, facts=facts(0)))
    idle = session(replace(NONE, facts=facts(1), status="unchanged"), replace(NONE, facts=facts(0)))
    told, ground, asked, watched = verdicts([one, other, failed, idle])
    assert (told.measure, told.sessions, told.first, told.share) == ("facts correct", 2, 3.5 / 6, 5 / 6)
    assert told.mean == pytest.approx(1.5 / 6)
    assert (ground.sessions, ground.first, ground.share, ground.mean, ground.better) == (2, 0.75, 0.75, 0.0, None)
    assert (asked.sessions, asked.first, asked.share, asked.mean) == (1, 0.5, 1.0, 0.5)
    assert (watched.measure, watched.first, watched.share, watched.mean) == ("watched rules kept", 1.0, 0.5, -0.5)
    assert verdicts([failed, idle]) == verdicts([]) == ()


@pytest.mark.parametrize(
    ("low", "high", "better"),
    [(0.001, 0.2, 2), (0.0, 0.2, None), (-0.1, 0.1, None), (-0.2, 0.0, None), (-0.2, -0.001, 0)],
)
def test_a_variant_is_better_where_the_interval_says_so(low: float, high: float, better: int | None) -> None:
    assert VariantVerdict("facts correct", 2, 3, 0.5, 0.6, 0.1, low, high).better == better


def test_each_variant_is_judged_against_the_first() -> None:
    """By hand: B is as two sides alone were; C keeps all, and where B failed C still counts. Each pair draws as it
    would without the others."""
    a, b, c = (replace(NONE, facts=facts(*values)) for values in ((1, 0, 0, 0), (0, 0, 0, 0), (1, 1, 1, 1)))
    several = [session(a, b, c), session(a, replace(b, failures=("no summary",)), c)]
    worse, better = verdicts(several)
    assert (worse.variant, worse.sessions, worse.first, worse.share, worse.better) == (1, 1, 0.25, 0.0, None)
    assert (better.variant, better.sessions, better.first, better.share, better.better) == (2, 2, 0.25, 1.0, 2)
    assert [one.counts(1) for one in several] == [True, False]
    (alone,) = verdicts([session(a, c), session(a, c)])
    assert replace(better, variant=1) == alone


def test_only_what_is_not_known_is_asked() -> None:
    messages = tuple(
        m for n in range(30) for m in (user(f"u{n}", f"task {n} " * 30), agent(f"a{n}", f"done {n} " * 60))
    )
    policy = exchange_summary.STRATEGY.policy_type.model_validate(
        {"min_version": "1", "prompt": "Sum up.", "history_tail_size_chars_to_exclude": 4_000}
    )

    def compacting() -> Any:
        return exchange_summary.STRATEGY.run(context_of(messages, manual=True), policy)

    asked: list[SummaryRequest] = []

    def answers(request: SummaryRequest) -> Answer:
        asked.append(request)
        return Summary("The tasks were done.")

    whole = drive(compacting(), answers)
    again = drive(ask_only_missing(compacting(), whole.answers_by_key), answers)
    assert (len(asked), again.requests, again.outcome.messages) == (1, (), whole.outcome.messages)
    assert (
        drive(ask_only_missing(compacting(), {}), recorded_summarizer(whole.answers_by_key)).outcome.messages
        == whole.outcome.messages
    )


# --- one at a time ----------------------------------------------------------------------------------------------------


def opening(*names: str) -> tuple[Open, list[str]]:
    """Opens a file under each variant, where none that was opened before is held any more; and the files opened."""
    held: list[weakref.ref[Bench]] = []
    order: list[str] = []
    # The only thread has let go of its last call when it takes the next one.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))

    def opened(file: Path) -> tuple[LiveRun, ...]:
        gc.collect()
        assert [one() for one in held] == [None] * len(held)
        bench = on_bench(Selection(files=(file,), presets=("gemini-cli",)), Selection(presets=("gemini-cli",)).policy)
        held.append(weakref.ref(bench))
        order.append(file.name)
        return tuple(one.live(bench) for one in prompt_variants(bench, [], [parse_name(name) for name in names]))

    return opened, order


async def test_of_many_sessions_one_is_held(sessions: Path) -> None:
    files = [sessions / "a.jsonl", sessions / "b.jsonl"]
    opened, order = opening("extractive", "rehearse:garbage", "rehearse:empty")
    seen = [await asyncio.to_thread(queue_session, file, opened, again=True, batch=False) for file in files]
    done = [await compare_live(file, opened, ExperimentOptions(SpendLimit(), False, print)) for file in files]
    assert order == ["a.jsonl", "b.jsonl"] * 2
    assert ([one.file for one in seen], [one.file for one in done]) == (files, files)
    assert [len(one.variants) for one in done] == [3, 3]


def test_what_was_found_out_of_a_sessions_texts_goes_with_it(sessions: Path) -> None:
    """Of two hundred sessions there was half again as much in memory as of twenty."""
    lines = (sessions / "a.jsonl").read_text()
    names = ("--summarizer", "extractive", "--summarizer", "rehearse:garbage", "--strategy", "exchange-summary")
    left = []
    for count in (1, 4):
        for number in range(count):
            said = lines.replace("Please do step", f"Port {number}00 is taken, so do step")
            (sessions / f"{number}.jsonl").write_text(said)
        files = [sessions / f"{number}.jsonl" for number in range(count)]
        assert cwb("compare", *files, sessions / "b.jsonl", *names, "--no-journal").exit_code == 0
        left.append({one.__name__: one.cache_info().currsize for one in CACHES})
    assert left[0] == left[1]
    assert sum(left[0].values()) > 100  # those of the last


@pytest.mark.parametrize("keeps", [True, False])
async def test_none_is_held_while_its_batch_is_under_way(
    sessions: Path, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each session asks twice, so that it is opened three times: for what it asks, for what it asks then, to be judged.
    Each batch ends at the second look."""
    files = [sessions / "a.jsonl", sessions / "b.jsonl"]
    opened, order = opening("extractive", f"anthropic:{MODEL}")
    told: list[BatchProgress] = []
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        looked: dict[str, int] = {}

        async def at_the_second_look(to: Connection) -> None:
            now = api.received[-1]
            id = now.path.split("/")[4] if now.method == "GET" else ""
            looked[id] = looked.get(id, 0) + 1
            if now.method == "GET" and not now.path.endswith("/results") and looked[id] < 2:
                await batch(api, 0, 1, ended=False, id=id)(to)
            else:
                await every_batch(api, "I did /src/part1.py.")(to)

        api.replies = [at_the_second_look] * 50
        asking, turn = ExperimentOptions(SpendLimit(), keeps, print, told.append, 0.001), asyncio.Semaphore(1)
        done = await asyncio.gather(*(compare_in_batches(file, opened, asking, turn) for file in files))
        assert [one.method for one in api.received].count("POST") == 4
    assert [one.counts(1) for one in done] == [True, True]
    assert sorted(order) == ["a.jsonl"] * 3 + ["b.jsonl"] * 3
    assert [one.variants[1].dollars for one in done] == [pytest.approx(2 * (1_000 * 5 + 42 * 25) / 1e6 / 2)] * 2
    assert [bool(one.variants[1].run) for one in done] == [keeps, keeps]
    assert {one.id for one in told} == {f"msgbatch_{number}" for number in range(4)}
    assert {one.resumed for one in told} == {False}
    assert list(paths.batches().iterdir()) == []


# --- by command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name, rounds in (("a", 12), ("b", 9)):
        write_lines(folder / f"{name}.jsonl", session_lines(rounds))
    return folder


async def ab(*args: object, code: int = 0) -> dict[str, Any]:
    """In a thread, for the server answers on this loop."""
    names = ("--summarizer", "extractive", "--summarizer", f"anthropic:{MODEL}", "--strategy", "exchange-summary")
    run = await asyncio.to_thread(cwb, "compare", *args, *names, "--json")
    assert run.exit_code == code, run.output
    return {**json.loads(run.stdout), "notes": run.stderr}


async def test_what_was_answered_is_not_asked_again(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("I did /src/part1.py."), error(401, "authentication_error", "no")) as api:
        client_talks_to(api, monkeypatch)
        first = await ab(sessions)
        assert len(api.received) == 2
        api.replies = [answer("I did /src/part2.py and /src/invented.py.")]
        second = await ab(sessions)
        assert len(api.received) == 3
        third = await ab(sessions)
        assert len(api.received) == 3
    assert [Path(one["file"]).name for one in first["sessions"]] == ["a.jsonl", "b.jsonl"]
    assert [bool(one["variants"][1]["failures"]) for one in first["sessions"]] == [False, True]
    assert {one["sessions"] for one in first["verdicts"]} == {1}
    assert [one["variants"][1]["claims"] for one in second["sessions"]] == [
        {"supported": 1, "claims": 1},
        {"supported": 1, "claims": 2},
    ]
    assert {one["sessions"] for one in second["verdicts"]} == {2}
    told = second["verdicts"][0]
    assert (told["measure"], told["variant"], told["better"]) == ("correct_facts", "B", "A")
    assert told["mean_difference"] == pytest.approx(told["variant_share"] - told["first_share"])
    assert third["verdicts"] == second["verdicts"]
    assert [one["variants"][1]["usd"] for one in third["sessions"]] == [0.0, 0.0]
    assert "call" not in third["notes"]
    assert [(entry.end, entry.calls) for entry in run_history.list_runs()] == [
        ("finished", 1),
        ("failed", 1),
        ("finished", 1),
    ]


async def test_the_limit_stops_it_and_it_goes_on_there(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("I did it.", output=4_000), answer("I did it.")) as api:
        client_talks_to(api, monkeypatch)
        nothing = await ab(sessions, "--max-cost", "0.001", code=5)
        assert (nothing["sessions"], len(nothing["not_run"]), api.received) == ([], 2, [])
        # The first may cost $0.2361 and costs 1 000 × $5 + 4 000 × $25 a million, $0.105; the second may cost $0.2268.
        some = await ab(sessions, "--max-cost", "0.238", code=5)
        assert [Path(one).name for one in some["not_run"]] == ["b.jsonl"]
        assert "1 session not run: This may cost $0.2" in some["notes"]
        rest = await ab(sessions, "--max-cost", "0.238")
        assert (len(rest["sessions"]), rest["not_run"], len(api.received)) == (2, [], 2)


async def test_the_limit_holds_for_batches(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At half the price: of the two that together may cost more, the first is sent."""
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        nothing = await ab(sessions, "--batch", "--max-cost", "0.001", code=5)
        assert (nothing["sessions"], len(nothing["not_run"]), api.received) == ([], 2, [])
        api.replies = [every_batch(api, "I did /src/part1.py.")] * 8
        some = await ab(sessions, "--batch", "--max-cost", "0.12", code=5)
        assert [Path(one).name for one in some["not_run"]] == ["b.jsonl"]
        assert [one.method for one in api.received].count("POST") == 1
        rest = await ab(sessions, "--batch", "--max-cost", "0.12")
        assert (len(rest["sessions"]), rest["not_run"]) == (2, [])
        assert [one.method for one in api.received].count("POST") == 2


async def test_in_batches_at_half_the_price(sessions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [every_batch(api, "I did /src/part1.py.")] * 8
        found = await ab(sessions, "--batch")
        assert [one.method for one in api.received].count("POST") == 2
        again = await ab(sessions, "--batch")
        assert len(api.received) == 8
    assert [one["variants"][1]["usd"] for one in found["sessions"]] == [
        pytest.approx((1_000 * 5 + 42 * 25) / 1e6 / 2)
    ] * 2
    assert again["verdicts"] == found["verdicts"]
    assert [entry.dollars for entry in run_history.list_runs()] == [
        one["variants"][1]["usd"] for one in found["sessions"]
    ]
    assert list(paths.batches().iterdir()) == []


TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def telling_a_secret(api: FakeApi) -> Reply:
    """Another answer to each request, the same to the same; with a secret in it, which the journal does not keep."""

    async def reply(to: Connection) -> None:
        asked = json.dumps(api.received[-1].body["messages"])
        part = int(hashlib.sha256(asked.encode()).hexdigest(), 16) % 9
        await answer(f"I did /src/part{part}.py with the token {TOKEN}.")(to)

    return reply


@pytest.mark.parametrize("answers", mostly_full(range(4), in_short=[1]))  # broken in the middle of a session
async def test_what_is_gone_on_with_comes_to_what_an_unbroken_run_does(
    sessions: Path, answers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The preset asks twice, and its second request holds the first answer. An invalid key breaks all that follows."""

    async def both(*more: object, code: int | None = 0) -> dict[str, Any]:
        names = ("--summarizer", "extractive", "--summarizer", f"anthropic:{MODEL}", "--preset", "gemini-cli")
        run = await asyncio.to_thread(cwb, "compare", sessions, *names, "--watch", RULE, "--json", *more)
        assert code is None or run.exit_code == code, run.output
        assert TOKEN not in run.output
        found: dict[str, Any] = json.loads(run.stdout)
        for one in found["sessions"]:
            for variant in one["variants"]:
                del variant["usd"], variant["run"]
        return found

    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [telling_a_secret(api)] * 4
        unbroken = await both("--no-journal")
        assert len(api.received) == 4
        assert {one["measure"] for one in unbroken["verdicts"]} >= {"correct_facts", "kept_rules"}
        no = error(401, "authentication_error", "no")
        api.replies = [telling_a_secret(api)] * answers + [no] * (4 - answers)
        assert await both(code=None) != unbroken
        api.received.clear()
        api.replies = [telling_a_secret(api)] * 4
        assert await both() == unbroken
        assert len(api.received) == 4 - answers
        assert await both() == unbroken
        assert len(api.received) == 4 - answers


def test_a_copy_is_counted_once(sessions: Path) -> None:
    """Other ids and times, the same words; one word more is another session."""
    lines = (sessions / "a.jsonl").read_text()
    (sessions / "copy.jsonl").write_text(re.sub(r'"(u|msg_c|toolu_)(\d+)"', r'"copied-\1\2"', lines))
    (sessions / "more.jsonl").write_text(lines.replace("Please do step 5.", "Please do step 5 now."))
    names = ("--summarizer", "extractive", "--summarizer", "rehearse:garbage", "--strategy", "exchange-summary")
    run = cwb("compare", sessions, *names, "--json", "--no-journal")
    found = json.loads(run.stdout)
    assert [Path(one["file"]).name for one in found["sessions"]] == ["a.jsonl", "b.jsonl", "more.jsonl"]
    (copy,) = found["duplicates"]
    assert [Path(copy[key]).name for key in ("file", "same_as")] == ["copy.jsonl", "a.jsonl"]
    assert "copy.jsonl duplicates" in run.stderr
    assert {one["sessions"] for one in found["verdicts"]} == {3}


def test_a_report_and_what_gives_nothing(sessions: Path) -> None:
    (sessions / "broken.jsonl").write_text("no session\n")
    names = ("--summarizer", "extractive", "--summarizer", "rehearse:garbage", "--strategy", "exchange-summary")
    run = cwb("compare", sessions / "a.jsonl", sessions / "broken.jsonl", *names)
    assert run.exit_code == 0, run.output
    assert run.stdout.startswith("A: extractive\nB: rehearse:garbage\n")
    assert "facts correct" in run.stdout
    assert "broken.jsonl" in run.stderr
    assert cwb("compare", sessions, "--model", "m").stderr.startswith("Error: Give at least two prompts")


def test_three_variants_on_many_sessions(sessions: Path) -> None:
    """The figures of two of them are those without the third."""
    two = ("--summarizer", "extractive", "--summarizer", "rehearse:garbage", "--strategy", "exchange-summary")
    three = (*two, "--summarizer", "rehearse:empty")
    found, pair = (
        json.loads(cwb("compare", sessions, *names, "--no-journal", "--json").stdout) for names in (three, two)
    )
    assert found["labels"] == ["extractive", "rehearse:garbage", "rehearse:empty"]
    assert [[one["label"] for one in each["variants"]] for each in found["sessions"]] == [found["labels"]] * 2
    assert [each["variants"][:2] for each in found["sessions"]] == [each["variants"] for each in pair["sessions"]]
    assert [one for one in found["verdicts"] if one["variant"] == "B"] == pair["verdicts"]
    assert {one["variant"] for one in found["verdicts"]} <= {"B", "C"}
    run = cwb("compare", sessions, *three, "--no-journal")
    assert run.stdout.startswith("A: extractive\nB: rehearse:garbage\nC: rehearse:empty\n")
    assert run.exit_code == 0
