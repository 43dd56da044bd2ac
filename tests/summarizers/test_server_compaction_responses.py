"""The server's own compaction over the Responses API, and its counts: what is sent, and that what comes back goes out
again as it came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.facts.talk import agent, user
from tests.summarizers.fake_api import KEY, MODEL, FakeApi, document, error
from tests.summarizers.live_calls import QUICK, over
from tests.summarizers.test_server_compaction import ASKED, MESSAGES, SESSION, session_of
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.compaction.strategies import exchange_summary
from workbench.compaction.summary_request import SummaryFailed
from workbench.conformance.building import METER, context_of
from workbench.formats import openai_responses
from workbench.formats.format import no_progress
from workbench.session import Opaque, Usage
from workbench.summarizers.by_name import SummarizerName, parse_name, summarizer_named
from workbench.summarizers.driver import run
from workbench.summarizers.exact_counts import count_exactly
from workbench.summarizers.live_events import RetryScheduled
from workbench.summarizers.run_records import RunRecorder, call_record
from workbench.summarizers.server_compaction import messages_for, server_summarizer
from workbench.summarizers.server_endpoints import UNREADABLE, ServerSummary

KEPT = {"type": "message", "role": "user", "id": "m1", "content": [{"type": "input_text", "text": "Fix the parser."}]}
SEALED = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA=="}
OUTPUT = [KEPT, SEALED]
BILL = {
    "input_tokens": 5_000,
    "output_tokens": 300,
    "total_tokens": 5_300,
    "input_tokens_details": {"cached_tokens": 9},
}


def compacted(*output: Any) -> Any:
    return document({"id": "r1", "object": "response.compaction", "created_at": 1, "output": output, "usage": BILL})


async def test_the_head_goes_as_items_and_all_that_comes_back_is_kept(api: FakeApi) -> None:
    api.replies = [error(500, "server_error", "busy"), compacted(*OUTPUT)]
    recorder = RunRecorder()
    summarizer = server_summarizer(
        MODEL, SESSION, over("responses", api), on_event=recorder.on_live_event, limits=QUICK
    )
    got = await summarizer(ASKED)
    assert isinstance(got, ServerSummary)
    assert got.text == f"Fix the parser.\n\n{UNREADABLE}"
    assert got.usage == Usage(4_991, 300, cache_read=9) == recorder.usage
    assert (got.block.raw, got.block_note) == (OUTPUT, "opaque (encrypted), sent back unchanged")
    assert sum(isinstance(event, RetryScheduled) for event in recorder.events) == 1
    sent = api.received[-1]
    assert (sent.path, sent.headers["authorization"]) == ("/v1/responses/compact", f"Bearer {KEY}")
    assert set(sent.body) == {"model", "instructions", "input"}
    kinds = [item.get("type", "message") for item in sent.body["input"]]
    assert kinds == ["message", "function_call", "function_call_output", "message"]
    assert call_record(ASKED, got).answer == got


@pytest.mark.parametrize(
    ("output", "kind"),
    [([KEPT], "error"), ([{**SEALED, "encrypted_content": ""}], "empty"), (["no", "items"], "error")],
)
async def test_what_is_no_compaction_is_a_failure_that_is_billed(output: list[Any], kind: str, api: FakeApi) -> None:
    api.replies = [compacted(*output)]
    recorder = RunRecorder()
    got = await server_summarizer(MODEL, SESSION, over("responses", api), on_event=recorder.on_live_event)(ASKED)
    assert isinstance(got, SummaryFailed)
    assert (got.kind, recorder.usage) == (kind, Usage(4_991, 300, cache_read=9))


async def test_the_items_go_into_a_responses_body_and_nowhere_else(api: FakeApi) -> None:
    messages = tuple(
        message for number in range(30) for message in (user(f"task {number} " * 30), agent(f"done {number} " * 60))
    )
    policy = exchange_summary.STRATEGY.policy_type.model_validate(
        {"min_version": "1", "prompt": "Sum up.", "history_tail_size_chars_to_exclude": 4_000}
    )
    api.replies = [compacted(*OUTPUT)]
    session = session_of(messages)
    done = await run(
        exchange_summary.STRATEGY.run(context_of(messages, manual=True), policy),
        server_summarizer(MODEL, session, over("responses", api)),
    )
    assert done.outcome.status == "compacted"
    out = messages_for(done.outcome, done.answers, "openai-responses")
    written = openai_responses.FORMAT.codec.write(session, out)
    assert orjson.loads(written.data)["input"][:2] == OUTPUT
    again = openai_responses.FORMAT.codec.read(Path("x.json"), written.data, no_progress)
    assert Opaque("compaction", SEALED) in [block for message in again.messages for block in message.blocks]
    for other in ("claude-code", "anthropic-messages"):
        with pytest.raises(BadInput, match="write it as openai-responses instead"):
            messages_for(done.outcome, done.answers, other)


def test_a_server_is_named_with_its_connection() -> None:
    name = parse_name("server:compact:openai/gpt-5")
    assert (name, str(name)) == (SummarizerName("server", "compact:gpt-5", "openai"), "server:compact:openai/gpt-5")
    assert (name.model, name.connection.name, parse_name(str(name))) == ("gpt-5", "openai", name)
    assert str(parse_name(f"server:compact:{MODEL}")) == f"server:compact:{MODEL}"
    assert parse_name("server:compact:vendor/model") == SummarizerName("server", "compact:vendor/model")
    assert summarizer_named(name, session=SESSION)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("server:compact:ollama/qwen3", "ollama uses a protocol without compaction on the server"),
        ("server:context-management:openai/gpt-5", "openai uses a protocol without compaction at a threshold"),
    ],
)
def test_a_protocol_without_compaction_is_refused_before_anything_is_sent(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse_name(text)


async def test_its_counts_are_asked_for_as_well(api: FakeApi) -> None:
    paths.settings().parent.mkdir(parents=True, exist_ok=True)
    paths.settings().write_text(
        f'[connections.here]\nprotocol = "responses"\nbase_url = "{api.url}/v1"\n'
        f'[connections.plain]\nprotocol = "chat"\nbase_url = "{api.url}/v1"\n'
    )
    over("responses", api)
    api.replies = [document({"object": "response.input_tokens", "input_tokens": 512})]
    got = await count_exactly(SESSION, MESSAGES, METER, f"here/{MODEL}")
    (sent,) = api.received
    assert (sent.path, set(sent.body)) == ("/v1/responses/input_tokens", {"model", "instructions", "input", "tools"})
    tool = '{"type":"function","name":"Read","description":"Reads.","parameters":{"type":"object"},"strict":false}'
    texts = METER.text_tokens("Be brief.") + METER.text_tokens(tool)
    assert (got.tokens, got.local) == (512, texts + sum(map(METER.tokens, MESSAGES)))
    with pytest.raises(BadInput, match="cannot count in advance"):
        await count_exactly(SESSION, MESSAGES, METER, f"plain/{MODEL}")
    assert len(api.received) == 1
