"""Live compactions on the command line: the real client, against a server on loopback."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import pty
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.commands import RULE, cwb, program_on, session_lines, write_lines
from tests.summarizers.fake_api import KEY, MODEL, answer, document, error, fake_api, reset, stalling
from tests.summarizers.live_calls import client_talks_to
from workbench.base import paths
from workbench.compaction.strategies import all_strategies
from workbench.summarizers import run_history
from workbench.summarizers.rehearsal import FAILURE_KINDS

LIVE = f"anthropic:{MODEL}"
DRAFT = f"The user said: {RULE} I did the steps in /src/part3.py and in /src/invented.py."


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children hear SIGINT, also where the tests are run in the background: a shell has it ignored there, and what is
    ignored is inherited."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "session.jsonl", session_lines())


async def compact(session: Path, *more: object, name: str = LIVE) -> Result:
    """In a thread, for the server answers on this loop."""
    args = ("compact", session, "--strategy", "exchange-summary", "--summarizer", name, *more)
    return await asyncio.to_thread(cwb, *args)


def read_until(terminal: int, mark: bytes) -> bytes:
    seen = b""
    while mark not in seen:
        seen += os.read(terminal, 4096)
    return seen


def read_to_the_end(terminal: int) -> bytes:
    seen = b""
    with suppress(OSError):  # what Linux says when the other side is closed
        while more := os.read(terminal, 4096):
            seen += more
    return seen


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class TestCompact:
    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (["-o", "there.jsonl"], "there.jsonl exists; choose another name or allow replacing it."),
            (["-o", "gone/out.jsonl"], "No such file"),
            (["-o", "pipe"], "is a device"),
            (["-o", "session.jsonl", "--force"], "is the session itself"),
            (["-o", "new.jsonl", "--to", "no-such-format"], "no-such-format"),
        ],
    )
    async def test_nothing_is_asked_where_nothing_could_be_written(
        self, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], says: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "there.jsonl").write_bytes(b"kept")
        os.mkfifo(tmp_path / "pipe")
        async with fake_api(answer(DRAFT, output=1_000)) as api:
            client_talks_to(api, monkeypatch)
            done = await compact(session, *more)
        assert (done.exit_code, api.received) == (2, [])
        assert says in done.stderr
        assert (tmp_path / "there.jsonl").read_bytes() == b"kept"

    async def test_the_document(self, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before, out = fingerprint(session), tmp_path / "out.jsonl"
        async with fake_api(answer(DRAFT[:20], DRAFT[20:], output=1_000)) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session, "-o", out, "--json")
        assert run.exit_code == 0, run.output
        found = json.loads(run.stdout)
        assert found["summarizer"] == LIVE
        assert found["usage"] == {
            "input_tokens": 1_000, "output_tokens": 1_000, "cache_read_tokens": 0, "cache_write_tokens": 0,
        }  # fmt: skip
        assert found["billed"] == {
            "model": MODEL,
            "usd": pytest.approx(1_000 * 5 / 1e6 + 1_000 * 25 / 1e6),
            "note": "",
        }
        assert [call["failure"] for call in found["calls"]] == [None]
        assert [one["text"] for one in found["grounding"]["unsupported"]] == ["/src/invented.py"]
        assert found["grounding"]["claims_by_kind"]["path"] == 2
        assert any(loss["text"] == "/src/part5.py" for loss in found["lost_facts"])
        assert not any(loss["kind"] == "instruction" for loss in found["lost_facts"])
        assert fingerprint(session) == before
        assert "/src/invented.py" in out.read_text("utf-8")
        assert KEY not in run.output
        kept = run_history.load_run(found["run"])
        assert (kept.end, kept.status, kept.summarizer, kept.dollars) == (
            "finished", "compacted", LIVE, found["billed"]["usd"],
        )  # fmt: skip
        assert kept.calls[0].text == DRAFT
        assert kept.calls[0].request == api.received[0].prompt
        assert kept.policy["history_tail_size_chars_to_exclude"] > 0
        assert {one.name for one in kept.checks} == {one["name"] for one in found["checks"]} - {"export valid"}

    async def test_half_of_a_character_in_an_answer_is_exported_whole(
        self, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "out.jsonl"
        async with fake_api(answer("Half \ud83d done.")) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session, "-o", out)
        assert run.exit_code == 0, run.output
        assert "Half \ufffd done." in out.read_text("utf-8")

    async def test_the_report(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with fake_api(answer(DRAFT)) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session)
        assert f"{LIVE}: 1 call, 1 000 tokens in, 42 out" in run.stdout.replace("\u202f", " ")
        assert "not in the head  1 of " in run.stdout
        assert "/src/invented.py" in run.stdout
        assert "\033" not in run.output

    async def test_a_recorded_run_gives_the_same_outcome_offline(
        self, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with fake_api(answer(DRAFT)) as api:
            client_talks_to(api, monkeypatch)
            first = json.loads((await compact(session, "-o", tmp_path / "a.jsonl", "--json")).stdout)
        again = await compact(session, "-o", tmp_path / "b.jsonl", "--json", name=f"recorded:{first['run']}")
        second = json.loads(again.stdout)
        assert second["after"] == first["after"]
        assert second["grounding"] == first["grounding"]
        assert (second["billed"], second["run"]) == (None, None)
        assert len(api.received) == 1
        assert len(run_history.list_runs()) == 1

    async def test_a_failed_call_changes_nothing_and_is_kept(
        self, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before, out = fingerprint(session), tmp_path / "out.jsonl"
        refused = error(401, "authentication_error", f"x-api-key {KEY} is bad")
        async with fake_api(refused) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session, "-o", out)
        assert run.exit_code == 4
        assert run.stdout.count("the server refused the credentials") == 1
        assert not out.exists()
        assert fingerprint(session) == before
        assert KEY not in run.output
        (entry,) = run_history.list_runs()
        assert (entry.end, entry.status) == ("failed", "unchanged")
        assert KEY.encode() not in b"".join(path.read_bytes() for path in paths.runs().parent.iterdir())

    async def test_what_was_cut_or_left_out_is_told(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        replies = [
            error(400, "invalid_request_error", "thinking.type.disabled is not supported"),
            error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
            answer("The parser was fixed."),
        ]
        async with fake_api(*replies * 2) as api:
            client_talks_to(api, monkeypatch)
            told = (await compact(session)).stdout
            document = json.loads((await compact(session, "--json")).stdout)
        assert "1 call in 3 requests" in told
        assert "sent without thinking" in told
        assert "the middle was cut: " in told
        assert [words.rpartition("; ")[2].partition(":")[0] for words in document["adjustments"]] == [
            "sent without thinking",
            "the middle was cut",
        ]

    async def test_without_a_key_nothing_is_tried(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with fake_api() as api:
            client_talks_to(api, monkeypatch)
            monkeypatch.delenv("ANTHROPIC_API_KEY")
            run = await compact(session)
        assert run.exit_code == 2
        assert "ANTHROPIC_API_KEY" in run.stderr
        assert len(run.stderr.splitlines()) == 1
        assert api.received == []
        assert run_history.list_runs() == ()

    async def test_a_run_can_be_left_out_of_the_journal(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with fake_api(answer(DRAFT)) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session, "--no-journal", "--json")
        assert json.loads(run.stdout)["run"] is None
        assert not paths.runs().exists()

    async def test_a_damaged_journal_costs_the_entry_only(
        self, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        paths.runs().parent.mkdir(parents=True)
        paths.runs().write_bytes(b"not a database, " * 500)
        async with fake_api(answer(DRAFT)) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session, "-o", tmp_path / "out.jsonl", "--json")
        assert run.exit_code == 0
        assert json.loads(run.stdout)["run"] is None
        assert "The run was not saved" in run.stderr
        assert (tmp_path / "out.jsonl").exists()

    @pytest.mark.usefixtures("interruptible")
    @pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGHUP])  # SIGTERM is below
    async def test_what_is_stopped_is_kept_as_far_as_it_had_come(
        self, stop: signal.Signals, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before, out = fingerprint(session), tmp_path / "out.jsonl"
        async with fake_api(stalling("The user wants ")) as api:
            client_talks_to(api, monkeypatch)
            args = ("compact", session, "--strategy", "exchange-summary", "--summarizer", LIVE, "-o", out)
            said, inner = os.pipe()
            child = program_on(inner, *args)
            os.close(inner)
            await api.arrived.wait()
            os.kill(child.pid or 0, stop)
            where, ended = (await asyncio.to_thread(read_to_the_end, said)).decode().splitlines()
            await asyncio.to_thread(child.join, 60)
            os.close(said)
            await api.gone.wait()
        assert child.exitcode == 130
        assert where.startswith(f"Note: {MODEL} is asked at {api.url} for about $")
        assert ended.startswith("Cancelled: nothing was written; the received part is saved as run ")
        assert not out.exists()
        assert fingerprint(session) == before
        (entry,) = run_history.list_runs()
        kept = run_history.load_run(entry.id)
        assert (kept.end, kept.calls[0].failure, kept.calls[0].detail) == ("cancelled", "error", "cancelled")

    @pytest.mark.usefixtures("interruptible")
    async def test_a_terminal_asks_what_may_be_spent_and_shows_how_far_it_is(
        self, session: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Before anything is sent, and again for a second try, when nobody knows what the first one cost."""
        async with fake_api(reset(), stalling("The user wants ")) as api:
            client_talks_to(api, monkeypatch)
            monkeypatch.setenv("TERM", "xterm")
            terminal, inner = pty.openpty()
            args = ("compact", session, "--strategy", "exchange-summary", "--summarizer", LIVE, "--max-cost", "0.01")
            child = program_on(inner, *args)
            os.close(inner)
            seen = b""
            for sent in (0, 1):
                seen += await asyncio.to_thread(read_until, terminal, b"[y/N] ")
                assert len(api.received) == sent
                os.write(terminal, b"y\n")
            seen += await asyncio.to_thread(read_until, terminal, b"~3 tokens written, ")
            os.kill(child.pid or 0, signal.SIGINT)
            seen += await asyncio.to_thread(read_until, terminal, b"the received part is saved as run")
            await asyncio.to_thread(child.join, 60)
            os.close(terminal)
        assert f"\033[K{MODEL}: ~0 tokens written, ".encode() in seen
        assert b"$0.005" in seen
        assert b"\033[KCancelled: nothing was written" in seen
        asks = rb"This may cost \$(\d\.\d+)( on top of \$\1 spent)?, (?:slightly )?more than \$(0\.01|\1)\. Send anyway"
        assert [bool(again) for _, again, _ in re.findall(asks, seen)] == [False, True]

    @pytest.mark.parametrize(
        ("how", "sent"),
        [("SIGTERM", 0), ("SIGINT", 1), ("n", 0), ("n", 1), ("end of input", 0), ("terminal gone", 1)],
    )
    async def test_a_command_is_left_while_it_asks(
        self, how: str, sent: int, session: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Before anything is sent, and for a second try. Signals cancel; whatever is no yes is a no."""
        async with fake_api(reset()) as api:
            client_talks_to(api, monkeypatch)
            terminal, inner = pty.openpty()
            args = ("compact", session, "--strategy", "exchange-summary", "--summarizer", LIVE, "--max-cost", "0.01")
            child = program_on(inner, *args)
            os.close(inner)
            await asyncio.to_thread(read_until, terminal, b"[y/N] ")
            if sent:
                os.write(terminal, b"y\n")
                await asyncio.to_thread(read_until, terminal, b"[y/N] ")
            match how:
                case "SIGINT" | "SIGTERM":
                    os.kill(child.pid or 0, signal.Signals[how])
                case "n" | "end of input":
                    os.write(terminal, b"n\n" if how == "n" else b"\x04")
                case _:
                    os.close(terminal)
            ended = "Cancelled" if how.startswith("SIG") else "more than $"
            if how != "terminal gone":
                await asyncio.to_thread(read_until, terminal, ended.encode())
                drained = asyncio.create_task(asyncio.to_thread(read_to_the_end, terminal))
            await asyncio.to_thread(child.join, 60)
            if how != "terminal gone":
                await drained
                os.close(terminal)
            assert len(api.received) == sent
        # Where nobody can read what is said, only that it ends and sends nothing more.
        codes = {130} if how.startswith("SIG") else {4 if sent else 5} if how != "terminal gone" else {1, 4, 5}
        assert child.exitcode in codes
        ends = (
            {"cancelled"}
            if how.startswith("SIG")
            else {"failed"}
            if how != "terminal gone"
            else {"cancelled", "failed"}
        )
        assert len(run_history.list_runs()) == sent
        assert {entry.end for entry in run_history.list_runs()} <= ends

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("oracle", "CONNECTION:MODEL with a connection of anthropic"),
            ("anthropic:", "CONNECTION:MODEL"),
            ("extractive:x", "extractive"),
            ("rehearse:boredom", "rate-limit"),
            ("recorded:nope", "`cwb list runs`"),
        ],
    )
    def test_a_name_that_is_none_is_one_sentence(self, session: Path, name: str, said: str) -> None:
        run = cwb("compact", session, "--strategy", "exchange-summary", "--summarizer", name)
        assert run.exit_code == 2
        assert said in run.stderr
        assert len(run.stderr.splitlines()) == 1


class TestRehearsal:
    @pytest.mark.parametrize("kind", FAILURE_KINDS)
    def test_the_session_is_safe_and_the_run_is_kept(self, kind: str, session: Path) -> None:
        before = session.read_bytes()
        run = cwb("compact", session, "--strategy", "exchange-summary", "--summarizer", f"rehearse:{kind}", "--json")
        found = json.loads(run.stdout)
        assert session.read_bytes() == before
        assert found["status"] == ("compacted" if kind == "garbage" else "unchanged")
        assert run.exit_code == (0 if kind == "garbage" else 4)
        (entry,) = run_history.list_runs()
        assert entry.end == ("finished" if kind == "garbage" else "failed")

    def test_garbage_loses_the_standing_instruction(self, session: Path) -> None:
        run = cwb("compact", session, "--strategy", "exchange-summary", "--summarizer", "rehearse:garbage", "--json")
        losses = json.loads(run.stdout)["lost_facts"]
        assert [loss["text"] for loss in losses if loss["kind"] == "instruction"] == [RULE]

    @pytest.mark.parametrize("strategy", [one.id for one in all_strategies()])
    def test_every_strategy_ends_whatever_fails(self, strategy: str, session: Path) -> None:
        run = cwb("compact", session, "--strategy", strategy, "--summarizer", "rehearse:timeout", "--json")
        assert run.exit_code in (0, 1, 4), run.output
        found = json.loads(run.stdout)
        assert {call["failure"] for call in found["calls"]} <= {"timeout"}


class TestExact:
    async def test_inspect(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with fake_api(document({"input_tokens": 12_345}), document({"input_tokens": 12_345})) as api:
            client_talks_to(api, monkeypatch)
            told = await asyncio.to_thread(cwb, "inspect", session, "--exact", MODEL)
            found = json.loads((await asyncio.to_thread(cwb, "inspect", session, "--exact", MODEL, "--json")).stdout)
        assert f"{MODEL}: 12 345 exact" in told.stdout
        assert found["exact"]["tokens"] == 12_345
        assert found["exact"]["difference_tokens"] == 12_345 - found["exact"]["local_tokens"]
        assert [got.path.partition("?")[0] for got in api.received] == ["/v1/messages/count_tokens"] * 2

    async def test_what_a_count_taught_can_be_forgotten(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def tokens(*more: str) -> int:
            found = json.loads(cwb("inspect", session, "--json", *more).stdout)
            return int(found["context"]["tokens"])

        before = tokens()
        async with fake_api(document({"input_tokens": 2 * before})) as api:
            client_talks_to(api, monkeypatch)
            taught = await asyncio.to_thread(tokens, "--exact", MODEL)
        assert taught == before < tokens()  # what was billed stays as it was billed
        run = cwb("inspect", session, "--forget-exact")
        assert run.stderr.startswith(f"Note: forgotten: × 2.00 from an exact count by {MODEL};")
        assert tokens() == before
        assert cwb("inspect", session, "--forget-exact").stderr.startswith("Note: there was nothing to forget;")

    async def test_inspect_says_why_not(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with fake_api(error(404, "not_found_error", "model: none")) as api:
            client_talks_to(api, monkeypatch)
            run = await asyncio.to_thread(cwb, "inspect", session, "--exact", "none")
        assert run.exit_code == 2
        where, failed = run.stderr.splitlines()
        assert where == f"Note: the whole context goes to {api.url}, where none counts it."
        assert failed.startswith("Error: The exact count failed")

    async def test_compact_counts_before_and_after(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with fake_api(document({"input_tokens": 9_000}), document({"input_tokens": 700})) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session, "--exact", MODEL, "--json", name="extractive")
        exact: dict[str, Any] = json.loads(run.stdout)["exact"]
        assert (exact["before"]["tokens"], exact["after"]["tokens"]) == (9_000, 700)
        assert len(api.received[0].body["messages"]) > len(api.received[1].body["messages"])

    async def test_a_count_that_fails_costs_the_count_only(
        self, session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with fake_api(error(401, "authentication_error", KEY)) as api:
            client_talks_to(api, monkeypatch)
            run = await compact(session, "--exact", MODEL, "-o", tmp_path / "out.jsonl", name="extractive")
        assert run.exit_code == 0
        assert "The exact count failed" in run.stderr
        assert KEY not in run.output
        assert (tmp_path / "out.jsonl").exists()


class TestMaxCost:
    """What could cost more is refused before anything is sent, by one sentence and an exit code of its own."""

    async def test_below_at_and_above_what_it_can_cost(self, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with fake_api(answer(DRAFT), answer(DRAFT)) as api:
            client_talks_to(api, monkeypatch)
            refused = await compact(session, "--max-cost", "0.001")
            found = re.match(r"Error: This may cost \$([\d.]+), more than \$0.001; raise --max-cost", refused.stderr)
            assert found, refused.stderr
            assert (refused.exit_code, len(refused.stderr.splitlines()), api.received) == (5, 1, [])
            most = float(found[1])
            below = await compact(session, "--max-cost", f"{most - 0.0051:.4f}", "--json")
            assert (below.exit_code, below.stdout, api.received) == (5, "", [])
            done = await compact(session, "--max-cost", f"{most + 0.0051:.4f}", "--json")
            assert done.exit_code == 0
            assert f", at most ${most:.2f}." in done.stderr
            paths.settings().parent.mkdir(parents=True, exist_ok=True)
            paths.settings().write_text("max_cost = 0.001\n")
            assert (await compact(session)).exit_code == 5
            assert len(api.received) == 1
            assert (await compact(session, "--max-cost", "none")).exit_code == 0
        assert len(run_history.list_runs()) == 2

    @pytest.mark.parametrize(
        "command",
        [
            ("compare", "--model", MODEL, "--model", "claude-haiku-4-5", "--strategy", "exchange-summary"),
            ("retention", "--ask", "--preset", "trim", "--model", MODEL),
            ("retention", "--ask", "--preset", "trim", "--model", MODEL, "--batch"),
            ("compare", "--presets", "augment-example", "--summarizer", LIVE),
            ("retention", "--strategy", "exchange-summary", "--summarizer", LIVE),
            ("retention", "--strategy", "trim", "--judge", LIVE),
            ("rescue", "--summarizer", LIVE),
        ],
    )
    async def test_every_command_that_asks_a_model(
        self, command: tuple[str, ...], session: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name, *more = command
        async with fake_api() as api:
            client_talks_to(api, monkeypatch)
            run = await asyncio.to_thread(cwb, name, session, *more, "--max-cost", "0.0001")
        assert run.exit_code == 5, run.output
        assert "Error: This may cost $" in run.stderr
        assert (run.stdout, api.received) == ("", [])

    @pytest.mark.parametrize("words", ["-1", "much", "nan"])
    def test_what_is_no_number_of_dollars(self, words: str, session: Path) -> None:
        run = cwb("compact", session, "--strategy", "trim", "--max-cost", words)
        assert run.exit_code == 2
        assert "is not an amount in dollars" in run.stderr
