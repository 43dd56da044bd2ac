from array import array
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tokens.sessions import Letters, answer, contexts, counted, result, user
from workbench.conformance.building import METER
from workbench.session import ExportNote, Message, Records, Session, Text, Tool, Usage
from workbench.tokens import (
    Basis,
    Counter,
    Meter,
    Scale,
    Sizes,
    billed_points,
    calls_of,
    first_call,
    measure,
    overhead_at,
    scales,
    sizes_of,
    span_basis,
)
from workbench.tokens.anchoring import billed_beyond, export_note_of, rescaled, session_sizes
from workbench.tokens.fitting import share

OPUS = "claude-opus-4-6"


def sized(messages: list[Message], model: str | None = OPUS, **more: object) -> Sizes:
    return sizes_of(messages, model, counted(messages), **more)  # type: ignore[arg-type]


def upto(sizes: Sizes, index: int) -> int:
    return sizes.overhead + sum(sizes.tokens[:index])


# Two rounds; the bills before each answer are 10 000, 10 500 and 11 200.
PLAIN = [
    user("u1", "u" * 100),
    answer("a1", "a" * 50, 10_000, calls=1),
    result("r1", "a1-0", "r" * 200),
    answer("a2", "a" * 150, 10_500),
    user("u2", "u" * 300),
    answer("a3", "a" * 80, 11_200),
    user("u3", "u" * 10),
]


def said(*messages: tuple[Any, ...]) -> list[Message]:
    """Who, how many characters, and of an answer: what was billed before it, its output, its model."""
    return [
        answer(str(number), "a" * size, *bill) if who == "a" else user(str(number), who * size)
        for number, (who, size, *bill) in enumerate(messages)
    ]


@pytest.mark.parametrize(
    ("messages", "overhead", "tokens", "anchored", "exact"),
    [
        # Stretches sum to the difference of their bills, shared by weight (177 and 330 of the 700); the first bill
        # shows 9 883 beyond the message before it; what follows the last bill is measured.
        (PLAIN, 9_883, [117, 151, 349, 245, 455, 100, 12], 5, [(1, 5), (1, 3), (3, 5)]),
        # An output from the start of a stream is not believed.
        (said(("u", 100), ("a", 900, 5_000, 3), ("v", 100), ("a", 1, 6_300)), 4_889, [111, 1_178, 122, 1], 3, [(1, 3)]),
        # A context that shrank starts over.
        (
            said(
                *[("u", 4_000), ("a", 1_000, 15_000, 1_180), ("u", 10_000), ("a", 100, 27_000)],
                *[("u", 100), ("a", 100, 12_000), ("u", 100), ("a", 100, 12_230)],
            ),
            10_602, [370, 99, 910, 10, 9, 119, 111, 118], 7, [(5, 7)],
        ),
        # A switch to another tokenizer rescales what was there, which was 4 500, 5 500 and 1 180.
        (said(("u", 5_000), ("a", 1_000, 10_000)), 4_500, [5_500, 1_180], 1, []),
        (
            said(("u", 5_000), ("a", 1_000, 10_000), ("u", 1_000), ("a", 100, 16_000, None, "claude-opus-5")),
            5_863, [7_166, 1_538, 1_433, 118], 3, [],
        ),
        # Far more than the messages say is overhead, and a first bill below them leaves none.
        (said(("u", 100), ("a", 100, 10_000), ("u", 100), ("a", 100, 40_000)), 39_662, [110, 118, 110, 118], 3, []),
        (said(("u", 900), ("u", 100), ("a", 1, 500)), 0, [450, 50, 1], 2, []),
    ],
)  # fmt: skip
def test_bills_are_met(
    messages: list[Message], overhead: int, tokens: list[int], anchored: int, exact: list[tuple[int, int]]
) -> None:
    sizes = sized(messages)
    assert (sizes.overhead, list(sizes.tokens), sizes.anchored_until) == (overhead, tokens, anchored)
    assert {sizes.overhead_basis, *(sizes.basis_of(i) for i in range(len(messages)))} == {Basis.CALIBRATED}
    points, spans = billed_points(sizes, messages), list(combinations(range(len(messages) + 1), 2))
    assert [span for span in spans if span_basis(sizes, points, *span) is Basis.EXACT] == sorted(exact)


def test_outputs_that_are_final_make_rounds_exact() -> None:
    messages = said(
        *[("u", 100), ("a", 50, 10_000, 100), ("r", 200), ("a", 150, 10_500, 200), ("u", 300), ("a", 80, 11_200, 90)]
    )
    sizes = sized(messages)
    assert list(sizes.tokens[1:]) == [100, 400, 200, 500, 90]
    assert [sizes.basis_of(i) for i in range(6)] == [Basis.CALIBRATED] + [Basis.EXACT] * 5
    assert sizes.anchored_until == 6
    assert upto(sizes, 6) == 11_290
    points = billed_points(sizes, messages)
    assert points == dict.fromkeys(range(1, 7), sizes.overhead)
    assert (sum(sizes.tokens[4:6]), span_basis(sizes, points, 4, 6)) == (590, Basis.EXACT)
    assert span_basis(sizes, points, 0, 4) is Basis.CALIBRATED


def test_without_bills_the_overhead_texts_are_counted() -> None:
    messages = [user("u", "u" * 100), answer("a", "a" * 100)]
    sizes = sized(messages, overhead_texts=("s" * 1_000, "", "t" * 500))
    assert (sizes.overhead, sizes.overhead_basis, sizes.anchored_until) == (1_650, Basis.CALIBRATED, 0)
    assert list(sizes.tokens) == [110, 118]
    assert sized(messages, overhead_hint=7_000, overhead_texts=("s",)).overhead == 7_000
    unknown = sized(messages)
    assert (unknown.overhead, unknown.overhead_basis) == (0, Basis.ESTIMATE)


def test_an_unknown_model_is_an_estimate_of_raw_counts() -> None:
    messages = [user("u", "u" * 100), answer("a", "a" * 100, model=None)]
    sizes = sized(messages, model=None)
    assert list(sizes.tokens) == [100, 100]
    assert sizes.basis is Basis.ESTIMATE
    assert sizes.meter.basis is Basis.ESTIMATE
    assert "not known" in sizes.meter.method


def test_the_model_of_the_bills_serves_where_none_is_named() -> None:
    assert "claude ≤ 4.6" in sized(PLAIN, model=None).meter.method


def test_before_counting_everything_is_an_estimate_but_bills_hold() -> None:
    counter = Counter(engine=Letters)
    sizes = sizes_of(PLAIN, OPUS, counter)
    assert sizes.basis is Basis.ESTIMATE
    assert sizes.meter.basis is Basis.ESTIMATE
    assert "counting" in sizes.meter.method
    assert upto(sizes, 5) == 11_200
    counter.count_all(PLAIN[4:], lambda done, total: None, lambda: False)
    half = sizes_of(PLAIN, OPUS, counter)
    assert [half.basis_of(i) for i in range(7)] == [Basis.ESTIMATE] * 4 + [Basis.CALIBRATED] * 3
    assert [span_basis(half, {}, start, 7) for start in (3, 4)] == [Basis.ESTIMATE, Basis.CALIBRATED]
    counter.count_all(PLAIN, lambda done, total: None, lambda: False)
    assert list(sizes_of(PLAIN, OPUS, counter).tokens) == list(sized(PLAIN).tokens)


@pytest.mark.parametrize("model", [OPUS, None, "nobody-knows"])
@pytest.mark.parametrize("billed", [10_000, 20])
def test_the_overhead_of_the_first_call_is_that_of_a_context_which_ends_with_it(model: str | None, billed: int) -> None:
    messages = [user("u1", "u" * 100), user("u2", "é" * 999), answer("a1", "a" * 50, billed), *PLAIN[4:]]
    first = first_call(messages, model)
    assert first is not None
    found = overhead_at(first, messages, model)
    assert found == sizes_of(messages[:3], model, Counter(engine=Letters)).overhead
    assert (found > 0) is (billed == 10_000)


def test_the_meter_says_what_it_stands_on() -> None:
    meter: Meter = sized(PLAIN).meter
    assert meter.method.startswith("o200k × claude ≤ 4.6 coefficients × ")
    assert meter.method.endswith(" from 2 calls")
    assert meter.basis is Basis.CALIBRATED
    assert sized([user("u", "x")], "gpt-5").meter.method == "o200k + 4 per message (openai)"


@pytest.mark.parametrize("count_first", [True, False])
def test_the_meter_gives_a_new_message_what_it_gives_an_old_one(count_first: bool) -> None:
    counter = Counter(engine=Letters)
    if count_first:
        counter.count_all(PLAIN, lambda done, total: None, lambda: False)
    meter = sizes_of(PLAIN, OPUS, counter).meter
    figures = [meter.tokens(message) for message in PLAIN]
    copies = [Message(f"new {m.id}", m.role, m.blocks) for m in PLAIN]
    assert [meter.tokens(copy) for copy in copies] == figures
    counter.count_all(PLAIN, lambda done, total: None, lambda: False)
    assert [meter.tokens(message) for message in PLAIN] == figures
    assert measure(copies, meter).tokens == measure(PLAIN, meter).tokens == sum(figures)
    assert meter.text_tokens("u" * 100) == pytest.approx(meter.tokens(Message("n", "user", (Text("u" * 100),))), abs=1)


@given(contexts(), st.booleans(), st.sampled_from([OPUS, "gpt-5", None]))
def test_whatever_the_bills_the_figures_sum_to_the_last_one(
    messages: list[Message], count_first: bool, model: str | None
) -> None:
    sizes = sizes_of(messages, model, counted(messages) if count_first else Counter(engine=Letters))
    assert len(sizes.tokens) == len(messages)
    assert all(tokens >= 0 for tokens in sizes.tokens)
    assert sizes.overhead >= 0
    calls = calls_of(messages, model)
    if not calls:
        assert sizes.anchored_until == 0
        return
    last = calls[-1]
    assert upto(sizes, last.index) == last.context
    assert upto(sizes, sizes.anchored_until) == last.context + (last.output or 0)


@given(st.lists(st.tuples(st.integers(1, 2_000), st.integers(0, 1_000), st.integers(50, 200)), min_size=1, max_size=12))
def test_ordinary_bills_are_met_stretch_by_stretch(steps: list[tuple[int, int, int]]) -> None:
    """Bills between a half and the double of the weights: every stretch must sum to its own bill exactly."""
    messages, context = [user("first", "x" * 50)], 20_000
    for number, (said, came, percent) in enumerate(steps):
        messages += [answer(f"a{number}", "x" * said, context), user(f"u{number}", "y" * came)]
        context += max(1, (said + came) * percent // 100)
    messages.append(answer("last", "z", context))
    sizes = sized(messages)
    calls = calls_of(messages)
    for call, after in pairwise(calls):
        assert sum(sizes.tokens[call.index : after.index]) == after.context - call.context
    points = billed_points(sizes, messages)
    assert {points[call.index] for call in calls} == {sizes.overhead}
    assert span_basis(sizes, points, 1, len(messages) - 1) is Basis.EXACT


@given(st.integers(0, 10**7), st.lists(st.integers(0, 10**6), max_size=40))
def test_shares_sum_exactly_and_each_is_within_one_of_its_due(total: int, weights: list[int]) -> None:
    parts = share(total, weights)
    assert len(parts) == len(weights)
    if weights:
        assert sum(parts) == total
        assert min(parts) >= 0
    whole = sum(weights)
    if whole:
        assert all(abs(part - total * weight / whole) <= 1.001 for part, weight in zip(parts, weights, strict=True))


def test_a_session_full_of_resets_is_anchored_on_the_last() -> None:
    messages: list[Message] = []
    for number in range(10_000):
        messages += [user(f"u{number}", "u" * 40), answer(f"a{number}", "a" * 40, 9_000 - number % 7)]
    counter = counted(messages)
    sizes = sizes_of(messages, OPUS, counter)
    assert upto(sizes, len(messages) - 1) == 9_000 - 9_999 % 7


def test_a_bill_older_than_the_summary_before_it_is_for_another_context() -> None:
    usage = Usage(input=150_000)
    summary = Message("s", "user", (Text("what happened"),), kind="summary", time=200.0)
    kept = Message("a", "assistant", (Text("kept"),), time=100.0, usage=usage)
    newer = Message("b", "assistant", (Text("new"),), time=300.0, usage=Usage(input=9_000))
    assert calls_of([summary, kept]) == []
    assert len(calls_of([summary, replace(kept, time=200.0)])) == 1
    assert calls_of([summary, replace(kept, time=199.9)]) == []
    assert [call.context for call in calls_of([summary, kept, newer])] == [9_000]
    assert [call.context for call in calls_of([kept])] == [150_000]


def test_an_absurd_bill_shapes_no_figure() -> None:
    """Both contexts are counted as if nothing had been billed in them."""
    billed = [user("u1", "u" * 4_000), answer("a1", "a" * 100, 50, 10), user("u2", "v" * 100)]
    absurd = replace(billed[1], usage=Usage(50, 10, absurd=True))
    silent = [billed[0], replace(billed[1], usage=None), billed[2]]
    assert (billed[1].bill, absurd.bill, silent[1].bill) == (50, 0, 0)
    assert calls_of([billed[0], absurd, billed[2]]) == []
    assert list(sized([billed[0], absurd, billed[2]]).tokens) == list(sized(silent).tokens)
    assert upto(sized(billed), 1) == 50


@pytest.mark.parametrize(
    ("predicted", "billed", "ordinary"),
    [
        (1_000, 5_000, True),
        (1_000, 5_001, False),
        (2_000, 8_000, True),
        (2_000, 8_001, False),
        (8_000, 2_000, True),
        (8_000, 1_999, False),
        (5_333, 1_333, True),
        (5_334, 1_333, False),
    ],
)
def test_a_stretch_is_absurd_beyond_four_times_and_by_more_than_4000(
    predicted: int, billed: int, ordinary: bool
) -> None:
    messages = [user("u", "u" * 100), answer("a", "a" * 900, 10_000, model=None)]
    sizes = sized([*messages, user("v", "v" * (predicted - 900)), answer("b", "b", 10_000 + billed, model=None)], None)
    assert (sum(sizes.tokens[1:3]) == billed) is ordinary


def test_an_exact_count_rescales_what_was_not_billed() -> None:
    """The figures before the last bill stay, those after it and the meter go by the new scale."""
    sizes = sized(PLAIN)
    scale = Scale(2 * sizes.meter.scale.value, 1, "an exact count")  # type: ignore[attr-defined]
    after = rescaled(sizes, scale)
    assert list(after.tokens[:5]) == list(sizes.tokens[:5])
    assert [b / a for a, b in zip(sizes.tokens[5:], after.tokens[5:], strict=True)] == pytest.approx([2, 2], rel=0.05)
    assert (after.overhead, after.overhead_basis, after.anchored_until) == (sizes.overhead, sizes.overhead_basis, 5)
    assert after.basis == sizes.basis
    assert after.meter.tokens(PLAIN[0]) == pytest.approx(2 * sizes.meter.tokens(PLAIN[0]), abs=1)
    assert after.meter.method == f"o200k × claude ≤ 4.6 coefficients × {scale.value:.2f} from an exact count"
    bare = [user("u", "u" * 100), answer("a", "a" * 50, model=None)]
    unknown = sized(bare, None, overhead_texts=("s" * 40,))
    known = rescaled(unknown, Scale(1.5, 1, "an exact count"))
    assert (list(known.tokens), known.overhead, known.basis, known.overhead_basis) == (
        [150, 75],
        60,
        Basis.CALIBRATED,
        Basis.CALIBRATED,
    )
    assert known.meter.basis is Basis.CALIBRATED
    counting = sizes_of(PLAIN, OPUS, Counter(engine=Letters))
    assert rescaled(counting, scale) is counting
    billed = [*bare, user("v", "v" * 10), answer("b", "b", 500, model=None), user("w", "w" * 10)]
    partly = rescaled(sized(billed, None), Scale(3, 1, "an exact count"))
    assert partly.basis == (Basis.ESTIMATE,) * 3 + (Basis.CALIBRATED,) * 2
    assert list(partly.tokens[3:]) == [3, 30]


def test_what_was_billed_beyond_the_messages_before_each() -> None:
    sizes = sized(PLAIN)
    assert list(billed_beyond(PLAIN, OPUS, sizes)) == [sizes.overhead] * 7
    more = [*PLAIN, answer("a4", "a", 20_000)]
    weights = Sizes(array("q", [100] * 8), Basis.CALIBRATED, 7, Basis.CALIBRATED, 0, sizes.meter)
    # Before the bills of 10 000, 10 500, 11 200 and 20 000 stand 100, 300, 500 and 700.
    assert list(billed_beyond(more, OPUS, weights)) == [9_900] * 3 + [10_200] * 2 + [10_700] * 2 + [19_300]
    assert list(billed_beyond(PLAIN[:1], OPUS, weights)) == [7]


def test_the_sizes_of_a_session_have_its_prompt_tools_and_scale() -> None:
    messages = (user("u", "u" * 100), answer("a", "a" * 100))
    tools = (Tool("Run", "t" * 200),)
    session = Session("pi", None, messages, Records(b""), model=OPUS, system="s" * 100)
    session = replace(session, tools=tools)
    sizes = session_sizes(session, 1, counted([*messages]))
    assert (sizes.overhead, list(sizes.tokens)) == (330, [110, 118])
    scaled = session_sizes(session, 1, counted([*messages]), Scale(2, 1, "an exact count"))
    assert (scaled.overhead, list(scaled.tokens)) == (660, [220, 236])


def test_a_scale_is_kept_within_bounds_until_the_file_is_damaged() -> None:
    session = Session("pi", None, (user("u", "x"),), Records(b"{}"), id="one")
    assert scales.recall(session) is None
    for value, kept in ((1.25, 1.25), (0.5, 0.5), (0.4, 0.5), (2, 2), (2.1, 2)):
        scales.keep(session, Scale(value, 9, "an exact count"))
        assert scales.recall(session) == Scale(kept, 1, "an exact count")
    path = scales.path_of(session)
    assert path is not None
    for damaged in (b"", b"{", b"[]", b'{"value": "x", "source": ""}', b'{"value": 1}', b'"text"'):
        path.write_bytes(damaged)
        assert scales.recall(session) is None, damaged


@pytest.mark.parametrize(
    ("total", "weights", "parts"),
    [
        (10, [1, 1, 1], [3, 4, 3]),
        (1, [1, 1], [1, 0]),
        (7, [1, 0, 6], [1, 0, 6]),
        (5, [0, 0, 0], [5, 0, 0]),
        (5, [0], [5]),
        (5, [], []),
    ],
)
def test_shares_by_hand(total: int, weights: list[int], parts: list[int]) -> None:
    assert share(total, weights) == parts


@pytest.mark.parametrize(("output", "tokens"), [(58, [118, 110]), (59, [59, 169]), (60, [60, 168])])
def test_an_output_of_half_its_weight_is_believed(output: int, tokens: list[int]) -> None:
    """100 letters weigh 118 as an answer and 110 as a request; the stretch is billed as just that."""
    messages = [user("u", "u" * 100), answer("a", "a" * 100, 10_000, output=output), user("v", "v" * 100)]
    sizes = sized([*messages, answer("b", "b", 10_228)])
    assert list(sizes.tokens[1:3]) == tokens


def test_each_call_is_counted_by_its_own_models_tokenizer() -> None:
    models = ["claude-opus-4-6", "claude-opus-5", None, "gpt-5"]
    messages = [answer(str(n), "a", 100, output=9, model=model) for n, model in enumerate(models)]
    calls = calls_of(messages, "claude-opus-5")
    assert [call.family.id for call in calls] == ["claude ≤ 4.6", "claude ≥ 4.7", "claude ≥ 4.7", "openai"]
    assert [call.output for call in calls] == [9, 9, 9, None]
    assert [call.index for call in calls] == [0, 1, 2, 3]


def test_a_note_on_sizes_of_another_meter_has_their_own_scale() -> None:
    messages = [user("u", "u" * 100), user("v", "v" * 50)]
    counts = sum(map(METER.tokens, messages))
    sizes = Sizes(
        array("q", [2 * METER.tokens(one) for one in messages]), Basis.CALIBRATED, 5, Basis.CALIBRATED, 0, METER
    )
    assert counts > 0
    assert export_note_of(sizes, messages, "m", 100) == ExportNote("m", 100, 5, 2.0)
