"""A/B, models, compare and the server's own compaction on the command line, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.commands import cwb, session_lines, write_lines
from tests.summarizers.fake_api import KEY, MODEL, Connection, answer, document, error, fake_api, usage
from tests.summarizers.live_calls import client_talks_to
from workbench.base import paths
from workbench.compaction.prompts import load_prompt, write_own
from workbench.summarizers import run_history
from workbench.tokens.models import sources

BLOCK = {"type": "compaction", "content": "The steps were done.", "signature": "sig==", "later": {"z": [1.5, None]}}


async def called(*args: object) -> Result:
    """In a thread, for the server answers on this loop."""
    return await asyncio.to_thread(cwb, *args)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "session.jsonl", session_lines())


def contents(path: Path) -> bytes:
    return path.read_bytes()


def compacted() -> Any:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "stop_reason": "compaction"}
    spent = [{"type": "compaction", **usage(5_000, 300)}]
    return document({**message, "content": [BLOCK], "usage": usage(10, 0, iterations=spent)})


async def test_the_servers_block_is_shown_kept_and_written_untouched(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, out = contents(session), tmp_path / "body.json"
    name = f"server:compact:{MODEL}"
    args = ("compact", session, "--strategy", "exchange-summary", "--pin", "2", "--to", "anthropic-messages")
    async with fake_api(compacted()) as api:
        client_talks_to(api, monkeypatch)
        first = json.loads((await called(*args, "--summarizer", name, "-o", out, "--json")).stdout)
    assert contents(session) == before
    assert first["calls"][0]["block"] == BLOCK
    assert (first["usage"]["input_tokens"], first["usage"]["output_tokens"]) == (5_010, 300)
    assert api.received[0].body["compaction"] == {"type": "summarize"}
    opening, *_ = json.loads(contents(out))["messages"]
    assert (opening["role"], opening["content"][0]) == ("assistant", BLOCK)
    again = await called(*args, "--summarizer", f"recorded:{first['run']}", "-o", tmp_path / "again.json")
    assert contents(tmp_path / "again.json") == contents(out)
    assert "the server's block: opaque (signed), sent back unchanged" in again.stdout
    assert "opaque (signed)" in (await called("list", "runs", "show", first["run"])).stdout
    assert cwb("compact", session, "--summarizer", "server:oracle:m").exit_code == 2


async def test_two_models_are_asked_and_both_runs_are_kept(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("I did /src/part1.py."), answer("I did /src/invented.py.")) as api:
        client_talks_to(api, monkeypatch)
        args = ("compare", session, "--model", MODEL, "--model", "claude-haiku-4-5", "--strategy", "exchange-summary")
        run = await called(*args, "--json")
    assert run.exit_code == 0, run.output
    assert run.stderr.splitlines() == [f"Note: {model} is asked at {api.url}." for model in (MODEL, "claude-haiku-4-5")]
    sides = json.loads(run.stdout)["variants"]
    assert {got.body["model"] for got in api.received} == {MODEL, "claude-haiku-4-5"}
    assert [side["summarizer"] for side in sides] == [f"anthropic:{MODEL}", "anthropic:claude-haiku-4-5"]
    assert {side["summary"] for side in sides} == {"I did /src/part1.py.", "I did /src/invented.py."}
    unfounded = [one["text"] for side in sides for one in side["grounding"]["unsupported"]]
    assert unfounded == ["/src/invented.py"]
    assert all(side["billed"]["usd"] > 0 and side["after"]["tokens"] > 0 for side in sides)
    assert {entry.id for entry in run_history.list_runs()} == {side["run"] for side in sides}
    assert KEY not in run.output


@pytest.mark.parametrize(("fails", "code"), [((MODEL, "claude-haiku-4-5"), 4), ((MODEL,), 0), ((), 0)])
async def test_where_neither_side_has_a_summary_there_is_nothing_to_compare(
    fails: tuple[str, ...], code: int, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead server is no comparison: told apart by the exit code, and kept as what it is."""

    async def reply(to: Connection) -> None:
        failed = api.received[-1].body["model"] in fails
        await (error(404, "not_found_error", "no such model") if failed else answer("I did /src/part1.py."))(to)

    args = ("compare", session, "--model", MODEL, "--model", "claude-haiku-4-5", "--strategy", "exchange-summary")
    async with fake_api(*[reply] * 4) as api:
        client_talks_to(api, monkeypatch)
        told = await called(*args)
        run = await called(*args, "--json")
    assert (told.exit_code, run.exit_code) == (code, code)
    assert told.stdout.count("the server does not know this model or address") == len(fails)
    calls = [side["calls"] for side in json.loads(run.stdout)["variants"]]
    assert [[bool(call["failure"]) for call in side] for side in calls] == [
        [model in fails] for model in (MODEL, "claude-haiku-4-5")
    ]
    assert sorted(entry.end for entry in run_history.list_runs()) == sorted(
        ["failed" if model in fails else "finished" for model in (MODEL, "claude-haiku-4-5")] * 2
    )


def test_two_prompts_are_tried_with_whoever_writes(session: Path) -> None:
    text = load_prompt("message-window.en.md").text
    write_own("mine.en.md", f"---\nid: message-window\nplaceholders: max_chars\n---\nAs a ballad.\n{text}")
    prompts = ("--prompt", "message-window.en", "--prompt", "mine.en")
    run = cwb("compare", session, *prompts, "--summarizer", "rehearse:garbage", "--watch", "No such rule was given.")
    assert run.exit_code == 0, run.output
    assert run.stdout.count("strategy    ") == run.stdout.count("message-window, preset") == 2
    assert run.stdout.count("gone → gone: No such rule was given.") == 2
    assert "All drafts are identical." in run.stdout
    first, second = (run_history.load_run(entry.id) for entry in run_history.list_runs())
    prompts = {run.policy["prompt"].splitlines()[0] for run in (first, second)}
    assert "As a ballad." in prompts
    assert len(prompts) == 2


async def test_compare_takes_any_summarizer_and_keeps_live_runs(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_api(answer("Done."), answer(stop="refusal")) as api:
        client_talks_to(api, monkeypatch)
        args = ("compare", session, "--strategies", "exchange-summary,context-reset", "--summarizer")
        run = await called(*args, f"anthropic:{MODEL}", "--json")
    columns = json.loads(run.stdout)["variants"]
    assert [column["billed"]["usd"] > 0 for column in columns] == [True, True]
    assert sorted(entry.end for entry in run_history.list_runs()) == ["failed", "finished"]
    assert len(api.received) == 2
    assert "rehearse:KIND" in cwb(*args, "oracle").stderr


async def test_models_come_from_the_server_and_then_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"type": "model", "id": MODEL, "display_name": "Opus", "created_at": "2025-11-01T00:00:00Z"}
    listed = {"data": [{**entry, "max_input_tokens": 200_000}], "has_more": False, "first_id": MODEL, "last_id": MODEL}
    async with fake_api(document(listed), error(401, "authentication_error", f"bad {KEY}")) as api:
        client_talks_to(api, monkeypatch)
        first = json.loads((await called("list", "models", "--json")).stdout)
        table = await called("list", "models")
        refused = await called("list", "models", "--refresh")
    assert [(one["id"], one["window_tokens"]) for one in first["models"]] == [(MODEL, 200_000)]
    assert first["models"][0]["prices"] == {"input": 5.0, "output": 25.0, "unit": "usd per million tokens"}
    assert first["price_table"]["own_file"].endswith("models.toml")
    assert len(api.received) == 2
    assert table.stdout.splitlines()[1].split() == [MODEL, "200", "000", "64", "000", "5", "25"]
    assert (refused.exit_code, KEY in refused.output) == (2, False)


async def test_what_a_server_calls_its_models_writes_no_escapes_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = "claude\x1b]0;T\x07\x9b31m\u202e"
    listed = {"data": [{"type": "model", "id": odd, "display_name": odd, "created_at": "2025-11-01T00:00:00Z"}]}
    async with fake_api(document({**listed, "has_more": False, "first_id": odd, "last_id": odd})) as api:
        client_talks_to(api, monkeypatch)
        table = await called("list", "models")
    assert "claude" in table.stdout
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(table.output)


def test_models_without_a_key_still_say_of_which_day_windows_and_prices_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    run = cwb("list", "models")
    assert (run.exit_code, run.stdout.splitlines()[-1]) == (0, f"Windows and prices: {sources()}.")
    assert run.stderr.startswith("Note: There is no key")


def test_a_prompt_is_copied_once_and_shows_as_ones_own(session: Path) -> None:
    made = json.loads(cwb("prompts", "copy", "context-reset", "--as", "mine", "--json").stdout)
    assert Path(made["file"]) == paths.prompts() / "mine.md"
    assert load_prompt("mine.md") == load_prompt("context-reset.en.md")
    again = cwb("prompts", "copy", "context-reset", "--as", "mine")
    assert (again.exit_code, len(again.stderr.splitlines())) == (2, 1)
    assert "mine" in cwb("prompts", "list").stdout
    rendered = cwb("prompts", "render", "mine", session)
    assert "Please do step 3." in rendered.stdout
    assert cwb("prompts", "copy", "context-reset", "--as", "../mine").exit_code == 2
