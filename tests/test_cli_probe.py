"""Probes put to a model: the real client, against a server on loopback that knows what it is sent and no more."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.commands import RULE, cwb, program_on, session_lines, write_lines
from tests.summarizers.fake_api import KEY, MODEL, Connection, FakeApi, Reply, answer, error, fake_api, stalling
from tests.summarizers.live_calls import client_talks_to
from tests.summarizers.test_batches import answered, batch, results
from workbench.analysis.probes import Probe, read_probes, write_probes
from workbench.base import paths
from workbench.bench import Bench
from workbench.cli.load_bench import on_bench
from workbench.summarizers import run_history

RETOLD = "They forbade any edit of what is generated."
PROBES = (
    Probe("recall", "What does the file of the first step say?", "contents of part 0", source="r0"),
    Probe("artifact", "Which file did the agent read in the last step?", "/src/part11.py", (), source="c11"),
    Probe("instruction", "Which rule did the user give?", RULE, (), True, "u0", RULE),
    Probe("control", "What did the user say of the moon?", ""),
)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    write_probes(tmp_path / "session.probes.toml", PROBES)
    return write_lines(tmp_path / "session.jsonl", session_lines())


def knowing(api: FakeApi) -> Reply:
    """Answers a question with what the conversation before it holds, prose in other words; judges the retold right."""

    async def reply(to: Connection) -> None:
        body = api.received[-1].body
        last = body["messages"][-1]["content"]
        asked = last if isinstance(last, str) else last[-1]["text"]
        if "<items>" in asked:
            items = re.findall(r'number="(\d+)".*?<given>(.*?)</given>', asked)
            await answer("\n".join(f"{n} {'yes' if given == RETOLD else 'no'}" for n, given in items))(to)
            return
        told = json.dumps(body["messages"]).replace(asked, "")
        lines = []
        for number, question in re.findall(r"^(\d+): (.*)$", asked.split("12: src/app.py")[-1], re.MULTILINE):
            probe = next(one for one in PROBES if one.question == question)
            knows = probe.answer and probe.answer in told
            lines.append(f"{number}: {'not known' if not knows else RETOLD if probe.prose else probe.answer}")
        await answer("\n".join(lines))(to)

    return reply


async def ask(session: Path, *more: object) -> dict[str, Any]:
    """In a thread, for the server answers on this loop."""
    args = ("retention", "--ask", session, *more, "--preset", "claude-code", "--model", MODEL, "--json")
    run = await asyncio.to_thread(cwb, *args)
    assert run.exit_code == 0, run.output
    assert KEY not in run.output
    found: dict[str, Any] = json.loads(run.stdout)
    return {**found, "notes": run.stderr}


def marks(found: dict[str, Any], arm: str) -> list[str]:
    return [one["answers"][arm]["grade"] for one in found["questions"]]


async def test_each_arm_answers_from_what_it_has(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [knowing(api)] * 4
        found = await ask(session)
    assert marks(found, "full context") == ["exact", "exact", "judged", "exact"]
    compacted = found["variants"][1]["name"]
    assert compacted.startswith("claude-code as of ")
    assert marks(found, compacted) == ["not known", "exact", "judged", "exact"]
    assert marks(found, "nothing") == ["not known", "not known", "not known", "exact"]
    assert [arm["correct"]["correct"] for arm in found["variants"]] == [3, 2, 0]
    assert [arm["invented_answers"] for arm in found["variants"]] == [0, 0, 0]
    assert found["answer_source"] == MODEL
    assert (found["questions_per_prompt"], found["questions_used_later"]) == (12, None)  # its only epoch
    assert len(api.received) == 4  # an arm each, and the judge
    assert [one.body["temperature"] for one in api.received] == [0.0] * 4
    alone = [one for one in api.received if len(one.body["messages"]) == 1 and "<items>" not in one.prompt]
    assert len(alone) == 1  # nothing but the questions
    (judged,) = [one.prompt for one in api.received if "<items>" in str(one.body["messages"][0]["content"])]
    assert judged.count("<item ") == 1  # two arms said the same, and it is asked of once
    assert "claude-code" not in judged
    assert "full context" not in judged


async def test_the_text_says_how_many_questions_a_prompt_has_and_that_nothing_came_later(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [knowing(api)] * 4
        told = (await asyncio.to_thread(cwb, "retention", "--ask", session, "--model", MODEL)).stdout
    assert re.search(rf"^answered +{MODEL}, 12 questions per prompt$", told, re.MULTILINE)
    assert re.search(r"^used later +none, because the session ends with this epoch$", told, re.MULTILINE)


async def test_the_cost_is_told_before_and_after(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [knowing(api)] * 4
        notes = (await ask(session))["notes"]
    before, after = [line for line in notes.splitlines() if MODEL in line]  # each told once
    assert re.search(r"is asked 3 calls at \S+, ≈[\d ]+ tokens: about \$\d", before)
    (judge,) = re.findall(r"a judge of answers in prose comes to at most \$([\d.]+) on top", notes)
    assert 0.004 < float(judge) < 0.02  # three answers of 60 tokens, at length, and as many verdicts
    assert "4 calls, 4 000 tokens in, 168 out" in after
    assert "$0.02" in after  # 4 000 × 5 + 168 × 25 of a million


async def test_what_a_judge_may_cost_is_within_the_limit(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        notes = (
            await asyncio.to_thread(cwb, "retention", "--ask", session, "--model", MODEL, "--max-cost", "0")
        ).stderr
        (most,) = re.findall(r"tokens: about \$[\d.]+, at most \$(\d+\.\d+)", notes)
        (judge,) = re.findall(r"at most \$(\d+\.\d+) on top", notes)
        between = float(most) + float(judge) / 2
        run = await asyncio.to_thread(cwb, "retention", "--ask", session, "--model", MODEL, "--max-cost", between)
        assert run.exit_code == 5, run.output
        assert not api.received


async def test_what_was_answered_is_not_asked_again(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [knowing(api)] * 4
        first = await ask(session)
        again = await ask(session)
        assert len(api.received) == 4
        assert again["questions"] == first["questions"]
        assert "3 calls answered before" in again["notes"]
        api.replies = [knowing(api)] * 4
        await ask(session, "--no-journal")
        assert len(api.received) == 8
    (kept,) = run_history.list_runs()
    assert (kept.strategy, kept.calls, kept.model, kept.end) == ("probe", 4, MODEL, "finished")


async def test_a_call_that_failed_is_asked_when_the_run_goes_on(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [error(400, "invalid_request_error", "no"), *[knowing(api)] * 3]
        first = await ask(session)
        lost = [arm["name"] for arm in first["variants"] if arm["unanswered"]]
        assert len(lost) == 1
        assert marks(first, lost[0]) == ["unanswered"] * 4
        assert first["notes"].count("1 call failed; the same command asks again: ") == 1
        assert "summary" not in first["notes"]
        assert next(arm for arm in first["variants"] if arm["name"] == lost[0])["correct"] is None
        before = len(api.received)
        api.replies = [knowing(api)] * 2
        whole = await ask(session)
    assert 1 <= len(api.received) - before <= 2  # the call that failed, and the judge where it is asked something new
    assert [arm["unanswered"] for arm in whole["variants"]] == [0, 0, 0]
    assert [arm["correct"]["correct"] for arm in whole["variants"]] == [3, 2, 0]


ANSWERED, UNDER_WAY = 7, 4


async def test_a_kill_costs_no_answer_that_had_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At any moment: the next question is sent when the answer before it lies in the journal, and here the program is
    killed the moment that it has been sent."""
    session = write_lines(tmp_path / "session.jsonl", session_lines())
    many = [Probe("recall", f"What stands on page {page}?", f"page {page} of it") for page in range(48)]
    write_probes(tmp_path / "session.probes.toml", many)
    sent = asyncio.Event()
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)

        async def stalls(to: Connection) -> None:
            if len(api.received) == ANSWERED + UNDER_WAY:
                sent.set()
            await stalling("1: ")(to)

        api.replies = [answer("1: page 3 of it")] * ANSWERED + [stalls] * UNDER_WAY
        args = ("retention", "--ask", session, "--preset", "claude-code", "--model", MODEL)
        nowhere = os.open(os.devnull, os.O_RDWR)
        child = program_on(nowhere, *args)
        os.close(nowhere)
        await sent.wait()
        child.kill()
        await asyncio.to_thread(child.join, 60)
        (killed,) = run_history.list_runs()
        assert (killed.end, killed.calls, killed.input, killed.output) == ("cancelled", 7, 7_000, 294)
        assert killed.dollars == pytest.approx(7 * (1_000 * 5 + 42 * 25) / 1e6)
        assert [call.text for call in run_history.load_run(killed.id).calls] == ["1: page 3 of it"] * ANSWERED
        api.replies = [answer("1: page 3 of it")] * 12
        found = await ask(session)
    assert len(api.received) == ANSWERED + UNDER_WAY + 5  # of twelve, four arms' batches each
    assert f"{ANSWERED} calls answered before" in found["notes"]
    assert [one.end for one in run_history.list_runs()] == ["finished", "cancelled"]


async def test_another_model_is_asked_anew(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [knowing(api)] * 8
        await ask(session)
        await asyncio.to_thread(
            cwb, "retention", "--ask", session, "--preset", "claude-code", "--model", "claude-haiku-4-5"
        )
    assert {one.body["model"] for one in api.received} == {MODEL, "claude-haiku-4-5"}
    assert len(api.received) == 8


async def test_without_a_key_nothing_is_asked(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    run = await asyncio.to_thread(cwb, "retention", "--ask", session, "--model", MODEL)
    assert run.exit_code == 2
    assert "There is no key" in run.output


async def test_a_batch_costs_half_and_says_so(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        said = "\n".join(f"{number}: not known" for number in range(1, 5))
        ended = batch(api, 3, 3, ended=True)

        async def every(to: Connection) -> None:
            sent = next(one for one in api.received if one.method == "POST").body["requests"]
            await results(*(answered(one["custom_id"], said) for one in sent))(to)

        api.replies = [ended, ended, ended, every]
        found = await ask(session, "--batch")
        again = await ask(session, "--batch")
        assert len(api.received) == 4
    assert [arm["correct"]["correct"] for arm in found["variants"]] == [0, 0, 0]
    assert [arm["correct"]["questions"] for arm in found["variants"]] == [3, 3, 3]
    assert "batch msgbatch_01abc has answered 3 of 3" in found["notes"]
    assert "3 calls, 3 000 tokens in, 126 out, $0.009 (half the price, as a batch)" in found["notes"]
    assert "3 calls answered before" in again["notes"]
    (kept,) = run_history.list_runs()
    assert kept.dollars == pytest.approx((3_000 * 5 + 126 * 25) / 1e6 / 2)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    write_probes(tmp_path / "other.probes.toml", PROBES[:2] + PROBES[3:])
    return write_lines(tmp_path / "other.jsonl", session_lines(8))


def every_batch(api: FakeApi, saying: str) -> Reply:
    """Every batch is done at once and says this; batches are numbered as they are sent."""

    async def reply(to: Connection) -> None:
        sent = [one for one in api.received if one.method == "POST"]
        now = api.received[-1]
        if now.path.endswith("/results"):
            asked = sent[int(now.path.split("_")[1].split("/")[0])].body["requests"]
            await results(*(answered(one["custom_id"], saying) for one in asked))(to)
            return
        number = len(sent) - 1 if now.method == "POST" else int(now.path.split("_")[1])
        of = len(sent[number].body["requests"])
        id = f"msgbatch_{number}"
        where = f"{api.url}/v1/messages/batches/{id}/results"
        await batch(api, of, of, ended=True, id=id, results_url=where)(to)

    return reply


async def test_several_sessions_are_asked_one_after_the_other_and_summed(
    session: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.jsonl").write_text("no session\n")
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [knowing(api)] * 7
        found = await ask(session, other, tmp_path / "broken.jsonl")
        assert len(api.received) == 7  # three arms each, and a judge of the one answer in prose
        again = await ask(session, other)
        assert len(api.received) == 7
    assert [Path(one["file"]).name for one in found["sessions"]] == ["session.jsonl", "other.jsonl"]
    assert [[arm["correct"]["correct"] for arm in one["variants"]] for one in found["sessions"]] == [
        [3, 2, 0],
        [1, 0, 0],
    ]
    full, compacted, nothing = found["total"]["variants"]
    assert [(arm["correct"]["correct"], arm["correct"]["questions"]) for arm in (full, compacted, nothing)] == [
        (4, 5),
        (2, 5),
        (0, 5),
    ]
    assert compacted["share_below_full"]["mean"] == pytest.approx(2 / 5)
    assert [(arm["invented_answers"], arm["controls"]) for arm in (full, compacted, nothing)] == [(0, 2)] * 3
    assert [arm["sessions"] for arm in (full, compacted, nothing)] == [2, 2, 2]
    assert [Path(one["file"]).name for one in found["failed"]] == ["broken.jsonl"]
    notes = [line for line in found["notes"].splitlines() if MODEL in line and " asked at " not in line]
    assert len(notes) == 2  # the cost of all is told once before, and once after
    assert "is asked 6 calls" in notes[0]
    assert "7 calls, 7 000 tokens in, 294 out, $0.04" in notes[1]
    assert again["total"] == found["total"]
    assert "6 calls answered before" in again["notes"]
    assert [one.strategy for one in run_history.list_runs()] == ["probe", "probe"]


@pytest.mark.usefixtures("lets_stand_what_stands")
async def test_one_session_is_held_at_a_time(
    session: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is opened for what asking it takes, and again to be asked after; or once to be looked up in."""
    third = write_lines(tmp_path / "third.jsonl", session_lines(6))
    held: list[weakref.ref[Bench]] = []

    def one_alone(*args: Any, **more: Any) -> Bench:
        assert [one() for one in held] == [None] * len(held)
        bench = on_bench(*args, **more)
        held.append(weakref.ref(bench))
        return bench

    monkeypatch.setattr("workbench.cli.ask.on_bench", one_alone)
    monkeypatch.setattr("workbench.cli.session_files.gc", gc)
    files = (session, other, third)
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        said = "\n".join(f"{number}: not known" for number in range(1, 20))
        api.replies = [answer(said)] * 30
        found = await ask(*files)
    assert (len(found["sessions"]), found["failed"], len(held)) == (3, [], 6)
    found = json.loads(
        (await asyncio.to_thread(cwb, "retention", "--ask", *files, "--preset", "claude-code", "--json")).stdout
    )
    assert (len(found["sessions"]), found["failed"], len(held)) == (3, [], 9)


async def test_what_a_model_summarized_is_not_summarized_again_to_be_asked_after(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        api.replies = [answer("They read /src/part11.py, which says contents of part 0."), *[knowing(api)] * 4]
        found = await ask(session, "--summarizer", f"anthropic:{MODEL}")
        sent = [json.dumps(one.body["messages"][-1]) for one in api.received]
    assert [sum(sign in one for one in sent) for sign in ("of the moon?", "<items>", "")] == [3, 1, 5]
    assert marks(found, found["variants"][1]["name"])[:2] == ["exact", "exact"]


async def test_the_batches_of_several_sessions_go_together(
    session: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_api() as api:
        client_talks_to(api, monkeypatch)
        said = "\n".join(f"{number}: not known" for number in range(1, 5))
        api.replies = [every_batch(api, said)] * 8
        found = await ask(session, other, "--batch")
        assert [one.method for one in api.received].count("POST") == 2
        again = await ask(session, other, "--batch")
        assert len(api.received) == 8
    assert [(arm["correct"]["correct"], arm["correct"]["questions"]) for arm in found["total"]["variants"]] == [
        (0, 5)
    ] * 3
    assert "is asked 6 calls" in found["notes"]
    assert "6 calls, 6 000 tokens in, 252 out, $0.02 (half the price, as a batch)" in found["notes"]
    assert again["total"] == found["total"]
    assert list(paths.batches().iterdir()) == []


async def test_a_batch_that_cannot_be_read_now_leaves_the_others_theirs(
    session: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "\n".join(f"{number}: not known" for number in range(1, 5))

    async with fake_api() as api:
        client_talks_to(api, monkeypatch)

        async def but_not_the_first(to: Connection) -> None:
            now = api.received[-1]
            refuse = now.method == "GET" and now.path.endswith("msgbatch_0")
            await (error(401, "authentication_error", "who are you") if refuse else every_batch(api, said))(to)

        api.replies = [but_not_the_first] * 8
        found = await ask(session, other, "--batch")
        assert len(found["sessions"]) == 1
        (refused,) = found["failed"]
        assert "Batch msgbatch_0 cannot be read now" in refused["error"]
        assert [note.read_text() for note in paths.batches().iterdir()] == ["msgbatch_0"]
        api.replies = [every_batch(api, said)] * 8
        whole = await ask(session, other, "--batch")
        assert [one.method for one in api.received].count("POST") == 2  # none was sent again
    assert len(whole["sessions"]) == 2
    assert "which was sent before" in whole["notes"]


def test_watched_sentences_are_judged_in_every_arm(session: Path) -> None:
    watching = ("retention", "--ask", session, "--preset", "claude-code", "--watch", RULE, "--watch", "Never use tabs.")
    run = cwb(*watching, "--json")
    found = json.loads(run.stdout)
    arms = [arm["name"] for arm in found["variants"]]
    assert found["watched"] == [
        {"sentence": RULE, "states": dict(zip(arms, ("verbatim", "verbatim", "gone"), strict=True))},
        {"sentence": "Never use tabs.", "states": dict.fromkeys(arms, "gone")},
    ]
    told = cwb(*watching).stdout.splitlines()[-4:]
    assert [" ".join(line.split()) for line in told[1:]] == [
        "verbatim gone full context",
        f"verbatim gone {arms[1]}",
        "gone gone nothing",
    ]


def test_a_folder_is_looked_through(session: Path, other: Path, tmp_path: Path) -> None:
    run = cwb("retention", "--ask", tmp_path, "--preset", "claude-code")
    assert run.exit_code == 0
    assert [Path(line.split(",")[0]).name for line in run.stdout.splitlines() if ", epoch " in line] == [
        other.name, session.name,
    ]  # fmt: skip
    assert "2 sessions together" in run.stdout
    assert "5 questions and 2 controls" in run.stdout


def test_where_no_session_can_be_asked_after_the_command_fails(tmp_path: Path) -> None:
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text("no session\n")
    run = cwb("retention", "--ask", tmp_path / "one.jsonl", tmp_path / "two.jsonl")
    assert run.exit_code == 2
    assert [name in line for name, line in zip(("one", "two"), run.stderr.splitlines(), strict=True)] == [True, True]
    (tmp_path / "empty").mkdir()
    run = cwb("retention", "--ask", tmp_path / "empty")
    assert (run.exit_code, f"No session in {tmp_path / 'empty'}" in run.output) == (2, True)


def test_questions_of_one_session_are_put_to_no_other(session: Path, other: Path) -> None:
    run = cwb("retention", "--ask", session, other, "--probes", session.with_suffix(".probes.toml"))
    assert run.exit_code == 2
    assert "need one session" in run.output


def test_a_batch_needs_a_model(session: Path) -> None:
    run = cwb("retention", "--ask", session, "--batch")
    assert run.exit_code == 2
    assert "name it with --model" in run.output


def test_questions_are_written_where_one_says_and_over_none(session: Path, tmp_path: Path) -> None:
    there = tmp_path / "mine.probes.toml"
    run = cwb("retention", "--ask", session, "--write", "--probes", there)
    assert run.exit_code == 0, run.output
    assert f"{there}: " in run.stdout
    beside = tmp_path / "session.probes.toml"
    kept = beside.read_bytes()
    assert read_probes(there) != PROBES  # made from the session, not copied from the file beside it
    refused = cwb("retention", "--ask", session, "--write")
    assert refused.exit_code == 2
    assert "session.probes.toml exists; edit its questions" in refused.stderr
    assert beside.read_bytes() == kept


def test_what_comes_through_a_pipe_has_no_place_for_questions(session: Path, tmp_path: Path) -> None:
    def through(*more: object) -> Result:
        """As the shell's `<(…)`: a pipe that is open already, by the name of its descriptor."""
        read, write = os.pipe()

        def tell() -> None:
            with os.fdopen(write, "w") as pipe:
                pipe.write(session.read_text())

        with os.fdopen(read, "rb"), ThreadPoolExecutor() as beside:
            told = beside.submit(tell)
            run = cwb("retention", "--ask", f"/dev/fd/{read}", "--write", *more)
            told.result()
            return run

    run = through()
    assert run.exit_code == 2
    assert "name a file for the questions with --probes" in run.stderr
    there = tmp_path / "mine.probes.toml"
    assert through("--probes", there).exit_code == 0
    assert read_probes(there)
