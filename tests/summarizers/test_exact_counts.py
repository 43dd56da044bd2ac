"""Exact counts: what is sent to be counted, the difference, and what the session learns from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.facts.talk import agent, user
from tests.summarizers.fake_api import KEY, MODEL, FakeApi, Reply, document, error
from tests.summarizers.test_server_compaction import MESSAGES, SESSION
from workbench.base.errors import BadInput
from workbench.bench import open_bench, steps, with_counts, with_saved_scale
from workbench.conformance.building import METER
from workbench.formats import anthropic_messages
from workbench.formats.format import no_progress
from workbench.session import Epoch, Message, Opaque, Usage
from workbench.summarizers.exact_counts import (
    ExactCount,
    check_plausible,
    count_exactly,
    no_scale_reason,
    recalibrate,
    scale_from,
)
from workbench.tokens import Basis, Counter, SessionMeter, family_of, scales
from workbench.tokens.calibration import Scale


async def test_the_export_is_counted_and_compared_with_the_same_messages(api: FakeApi) -> None:
    api.replies = [document({"input_tokens": 512})]
    got = await count_exactly(SESSION, MESSAGES, METER, MODEL)
    (sent,) = api.received
    assert sent.path == "/v1/messages/count_tokens"
    assert set(sent.body) == {"model", "system", "tools", "messages"}
    texts = METER.text_tokens("Be brief.") + METER.text_tokens(
        '{"name":"Read","description":"Reads.","input_schema":{"type":"object"}}'
    )
    assert got == ExactCount(MODEL, 512, texts + sum(map(METER.tokens, MESSAGES)))
    assert got.difference == 512 - got.local


async def test_a_body_is_counted_as_it_was_loaded(api: FakeApi) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    data = b'{"model":"m","max_tokens":9,"metadata":{"a":1},"messages":[{"role":"user","content":[%s]}]}'
    raw = b'{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}'
    session = anthropic_messages.FORMAT.codec.read(Path("body.json"), data % raw, no_progress)
    api.replies = [document({"input_tokens": 1_600})]
    await count_exactly(session, session.messages, METER, MODEL)
    assert api.received[0].body == {"model": MODEL, "messages": [{"role": "user", "content": [image]}]}


async def test_half_of_a_character_is_counted_as_one(api: FakeApi) -> None:
    """A model may write it, and then it stands in what is counted after the compaction."""
    said = replace(agent("half \ud83d done"), id="s")
    api.replies = [document({"input_tokens": 512})]
    await count_exactly(SESSION, (*MESSAGES, said), METER, MODEL)
    assert api.received[0].body["messages"][-1]["content"][-1]["text"] == "half \ufffd done"


@pytest.mark.parametrize(
    "reply", [error(401, "authentication_error", f"bad {KEY}"), document({}), document([1]), error(404, "x", "y")]
)
async def test_a_failed_count_is_one_sentence(reply: Reply, api: FakeApi) -> None:
    api.replies = [reply]
    with pytest.raises(BadInput) as caught:
        await count_exactly(SESSION, MESSAGES, METER, MODEL)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_nothing_to_send_is_said_before_anything_is_sent() -> None:
    with pytest.raises(BadInput, match="Nothing of this context"):
        await count_exactly(SESSION, (), METER, MODEL)


@pytest.mark.parametrize(
    ("scale", "exact", "value"),
    [
        (Scale(), ExactCount("m", 1_100, 1_000), 1.1),
        (Scale(1.2, 7), ExactCount("m", 1_000, 1_000), 1.2),
        (Scale(1.2, 7), ExactCount("m", 500, 1_000), 0.6),
        (Scale(), ExactCount("m", 9_000, 1_000), 2.0),
        (Scale(), ExactCount("m", 100, 1_000), 0.5),
        (Scale(), ExactCount("m", 100, 0), 1.0),
    ],
)
def test_an_exact_count_corrects_the_scale(scale: Scale, exact: ExactCount, value: float) -> None:
    new = recalibrate(scale, exact)
    assert new.value == pytest.approx(value)
    assert new.calls == scale.calls + 1
    assert new.source == "an exact count by m"


OF_CLAUDE, OF_NOBODY = "claude-opus-4-5", "my-llama"
BILLED = Scale(1.2, 28)


@pytest.mark.parametrize(
    ("scale", "session", "counter", "value"),
    [
        (BILLED, OF_CLAUDE, "claude-sonnet-4-5", 2.4),
        (BILLED, OF_CLAUDE, "gpt-4o", None),
        (BILLED, OF_CLAUDE, "claude-opus-4-7", None),
        (BILLED, OF_CLAUDE, "litellm/ok", None),
        (Scale(), OF_CLAUDE, "gpt-4o", None),
        (BILLED, OF_NOBODY, "house/my-llama", 2.4),
        (BILLED, OF_NOBODY, "gpt-4o", None),
        (Scale(1.2, 0), OF_NOBODY, "gpt-4o", 2.4),
        (Scale(1.2, 28, "an exact count by m"), OF_NOBODY, "gpt-4o", 2.4),
    ],
)
def test_only_the_sessions_own_tokenizer_teaches_it(
    scale: Scale, session: str, counter: str, value: float | None
) -> None:
    meter = SessionMeter(Counter(), family_of(session), scale, counted=True)
    taught = scale_from(meter, ExactCount(counter, 2_000, 1_000), session)
    assert (taught.value if taught else None) == (value and pytest.approx(min(value, 2.0)))


@pytest.mark.parametrize(
    ("scale", "session", "counter", "local", "reason"),
    [
        (BILLED, OF_CLAUDE, "gpt-4o", 1_000, f"gpt-4o counts by another tokenizer than {OF_CLAUDE}"),
        (BILLED, OF_NOBODY, "gpt-4o", 1_000, f"the tokenizer of {OF_NOBODY} is unknown, and its own calls were billed"),
        (BILLED, OF_CLAUDE, OF_CLAUDE, 0, "no token was counted here"),
        (BILLED, OF_CLAUDE, OF_CLAUDE, 1_000, ""),
    ],
)
def test_a_count_that_changes_no_scale_has_a_reason(
    scale: Scale, session: str, counter: str, local: int, reason: str
) -> None:
    meter, exact = SessionMeter(Counter(), family_of(session), scale, counted=True), ExactCount(counter, 2_000, local)
    assert no_scale_reason(meter, exact, session) == (f"{reason}; the session's figures are kept" if reason else "")
    assert (scale_from(meter, exact, session) is None) == bool(reason)


async def test_a_gateway_that_only_estimates_is_not_believed(api: FakeApi) -> None:
    api.replies = [document({"input_tokens": 512, "litellm_count_source": "local_estimate"})]
    with pytest.raises(BadInput, match="figure is only an estimate; the local one is kept"):
        await count_exactly(SESSION, MESSAGES, METER, MODEL)


async def test_a_context_with_the_servers_block_is_counted_under_its_beta(api: FakeApi) -> None:
    block = Message("s", "assistant", (Opaque("compaction", {"type": "compaction", "content": "x"}),), "summary")
    api.replies = [document({"input_tokens": 5})]
    await count_exactly(SESSION, (block, *MESSAGES[:1]), METER, MODEL)
    assert api.received[0].headers["anthropic-beta"] == "compact-2026-09-04,compact-2026-01-12"


def test_a_bench_learns_from_an_exact_count_and_remembers_it() -> None:
    counter = Counter(None)
    bench = open_bench(SESSION, counter)
    counter.count_all(bench.messages, lambda done, of: None, lambda: False)
    bench = with_counts(bench, counter)
    meter, before = bench.layout.sizes.meter, bench.context.total.tokens
    scale = scale_from(meter, ExactCount("m", 300, 200), None)
    assert scale is not None
    taught = steps.with_scale(bench, scale)
    assert taught.context.total.tokens == pytest.approx(1.5 * before, abs=len(MESSAGES) + 2)
    assert taught.layout.sizes.meter.method.endswith("× 1.50 from an exact count by m")
    assert taught.context.total.basis is Basis.CALIBRATED
    assert with_counts(taught, counter).context.total == taught.context.total
    named = replace(SESSION, id="s1")
    scales.keep(named, scale)
    assert scales.recall(named) == replace(scale, calls=1)
    assert with_saved_scale(replace(bench, session=named)).scale == scales.recall(named)
    assert scales.recall(SESSION) is None
    assert scales.forget(named) == replace(scale, calls=1)
    assert (scales.recall(named), scales.forget(named)) == (None, None)
    path = scales.path_of(named)
    assert path is not None
    path.write_text('{"value": "broken"')
    assert scales.recall(named) is None


def test_what_was_billed_is_not_scaled() -> None:
    asked, answered = user("do it " * 50), replace(agent("done " * 50), usage=Usage(1_000, 60), model="claude-opus-4-5")
    session = replace(
        SESSION, messages=(asked, answered, user("more " * 50)), branch=range(3), epochs=(Epoch(1, range(3)),)
    )
    counter = Counter(None)
    bench = open_bench(session, counter)
    counter.count_all(bench.messages, lambda done, of: None, lambda: False)
    bench = with_counts(bench, counter)
    taught = steps.with_scale(bench, Scale(2.0, 1, "an exact count by m"))
    old, new = bench.layout.sizes, taught.layout.sizes
    assert list(new.tokens[:2]) == list(old.tokens[:2])
    assert new.overhead == old.overhead
    assert new.tokens[2] == pytest.approx(2 * old.tokens[2], abs=1)


def test_a_count_says_its_difference_in_words() -> None:
    assert str(ExactCount("m", 1_100, 1_000)) == "1 100 exact, 1 000 counted here (+100, +10 %)"
    assert str(ExactCount("m", 900, 1_000)) == "900 exact, 1 000 counted here (−100, −10 %)"


@pytest.mark.parametrize(
    ("tokens", "local", "sane"),
    [
        (0, 10, False),
        (-5, 10, False),
        (1, 199, True),
        (100, 1_000, True),
        (99, 1_000, False),
        (10_000, 1_000, True),
        (10_001, 1_000, False),
    ],
)
def test_a_figure_that_cannot_be_of_the_context_is_refused(tokens: int, local: int, sane: bool) -> None:
    if sane:
        assert check_plausible(tokens, local) == tokens
    else:
        with pytest.raises(BadInput, match="cannot be of the same context"):
            check_plausible(tokens, local)


@pytest.mark.parametrize("figure", [-5, 10**8 + 1, 1e30, True, "512"])
async def test_f4_a_count_that_no_context_has_is_named(figure: object, api: FakeApi) -> None:
    api.replies = [document({"input_tokens": figure})]
    with pytest.raises(BadInput, match="The server cannot count this context: input_tokens is "):
        await count_exactly(SESSION, MESSAGES, METER, MODEL)
