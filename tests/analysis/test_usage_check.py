"""Usage that the context shown explains. Every character is a token here, and each message costs 4 more (gpt-5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analysis.billed import OVERHEAD, right, session
from tests.tokens.sessions import Letters
from workbench.analysis.usage_check import CheckedCall, Gap, check_usage
from workbench.session import Compaction, Epoch, Message, Session, Text, Usage
from workbench.tokens import Counter


def judged(one: Session) -> tuple[list[int | None], list[tuple[int, int, int, str]]]:
    """What is expected of each call, and the gaps as (call, last, tokens, where)."""
    found = check_usage(one, Counter(engine=Letters))
    return [bill.expected for bill in found.calls], [(g.call, g.last, g.tokens, g.where) for g in found.gaps]


def test_a_context_shown_as_sent_explains_all_usage() -> None:
    found = check_usage(session(right(4)), Counter(engine=Letters))
    assert found.calls == tuple(
        CheckedCall(n + 1, 1, f"a{n}", billed, billed if n else None) for n, billed in enumerate(right(4))
    )
    assert (found.judged, found.unexplained, found.gaps) == (3, (), ())


@pytest.mark.parametrize(("billed", "explained"), [(10_309, True), (10_310, False), (9_709, True), (9_708, False)])
def test_usage_within_three_percent_is_explained(billed: int, explained: bool) -> None:
    assert CheckedCall(2, 1, "a", billed, 10_000).explained is explained


@pytest.mark.parametrize(("billed", "explained"), [(400, True), (401, False), (200, True), (199, False)])
def test_usage_within_a_hundred_tokens_is_explained(billed: int, explained: bool) -> None:
    assert CheckedCall(2, 1, "a", billed, 300).explained is explained


@pytest.mark.parametrize(
    ("off", "gaps"),
    [
        (0, []),
        (1_306, []),  # 1 000, 1 % of the bill of 12 800 + 1 306, 15 % of the 1 100 between: 1 306.06
        (1_307, [(8, 12, 1_307, "")]),
        (-1_280, []),
        (-1_281, [(8, 12, -1_281, "")]),
        (12_000, [(8, 12, 12_000, "")]),
        (-9_000, [(8, 12, -9_000, "")]),
    ],
)
def test_where_more_or_less_was_sent_than_is_shown(off: int, gaps: list[tuple[int, int, int, str]]) -> None:
    bills = right(12)
    assert judged(session([*bills[:7], *(billed + off for billed in bills[7:])]))[1] == gaps


def test_no_call_explains_itself() -> None:
    """Whatever a call was billed, the same is expected of it."""
    bills = right(12)
    for wrong in (bills[5] + 200, bills[5] + 40_000, 1_000):
        assert judged(session([*bills[:5], wrong, *bills[6:]]))[0][5] == bills[5]


def test_one_deviating_call_is_one_gap() -> None:
    bills = right(12)
    assert judged(session([*bills[:5], bills[5] + 9_000, *bills[6:]]))[1] == [(6, 6, 9_000, "")]


def test_a_tokenizer_that_counts_otherwise_is_learnt() -> None:
    """A tenth more for every message; with 39 steps that is learnt to 10 % × 37 / 47."""
    bills = [round(OVERHEAD + 1.1 * (100 + 1_100 * call)) for call in range(40)]
    expected, gaps = judged(session(bills))
    assert gaps == []
    assert expected[1:] == pytest.approx(bills[1:], rel=0.02)
    assert expected[20] == round(bills[0] + (1 + 0.1 * 37 / 47) * 1_100 * 20)


def test_gradual_growth_is_a_gap_from_a_tenth_of_the_prompt() -> None:
    """Every second answer of 12 leaves 900 tokens that are shown nowhere: never enough for one step."""
    bills = [billed + 900 * (call // 2) for call, billed in enumerate(right(24))]
    expected, gaps = judged(session(bills))
    differences = [billed - (one or billed) for billed, one in zip(bills, expected, strict=True)]
    first = next(n for n, (off, billed) in enumerate(zip(differences, bills, strict=True)) if off > 1_000 + billed / 10)
    assert gaps[0] == (first + 1, 24, differences[first], "drift")


def test_hidden_reasoning_stays_where_the_bills_say_so() -> None:
    """Each answer is 100 tokens long as shown, and 600 as it was billed."""
    kept, gone = right(12, 1_600), right(12, 1_100)
    for bills in (kept, gone):
        assert judged(session(bills, output=600)) == ([None, *bills[1:]], [])


def test_hidden_reasoning_goes_with_the_persons_next_message() -> None:
    one = session(right(12, 1_600), output=600)
    asked = Message("v", "user", (Text("v" * 96),))
    after = [
        replace(m, usage=replace(m.usage, input=m.usage.input - 6 * 500 + 100)) if m.usage and int(m.id[1:]) > 5 else m
        for m in one.messages
    ]
    turned = replace(one, messages=(*after[:13], asked, *after[13:]), branch=range(26), epochs=(Epoch(1, range(26)),))
    bills = [m.usage.context for m in after if m.usage]
    assert judged(turned) == ([None, *bills[1:]], [])


@pytest.mark.parametrize(
    ("cached", "where"), [(9_500, "behind"), (9_215, "behind"), (9_214, ""), (2_500, ""), (2_499, "anew"), (0, "anew")]
)
def test_the_cache_tells_where_it_was(cached: int, where: str) -> None:
    """97 % of the 9 500 tokens of the call before are 9 215; half of the overhead are 2 500."""
    bills = right(12)
    one = session([*bills[:5], *(billed + 9_000 for billed in bills[5:])], cached=100)
    usage = Usage(bills[5] + 9_000 - cached, cache_read=cached)
    told = replace(one, messages=tuple(replace(m, usage=usage) if m.id == "a5" else m for m in one.messages))
    assert judged(told)[1] == [(6, 12, 9_000, where)]


def test_without_a_cache_nothing_tells_where_it_was() -> None:
    bills = right(12)
    assert judged(session([*bills[:5], *(billed + 9_000 for billed in bills[5:])]))[1] == [(6, 12, 9_000, "")]


@pytest.mark.parametrize(
    ("off", "gaps"),
    [(0, []), (5_000, [(7, 12, 5_000, "compacted")]), (-2_000, [(7, 12, -2_000, "")])],
)
def test_an_epoch_begins_with_the_same_overhead(off: int, gaps: list[tuple[int, int, int, str]]) -> None:
    """Behind the first 13 messages a compaction left nothing; the next call is sent a result of 1 000 tokens."""
    later = [OVERHEAD + 1_000 + 1_100 * call + off for call in range(6)]
    epochs = (Epoch(1, range(12), Compaction("auto")), Epoch(2, range(12, 25)))
    assert judged(session([*right(6), *later], epochs=epochs)) == (
        [None, *right(6)[1:], *(billed - off for billed in later)],
        gaps,
    )


def test_an_answer_is_judged_in_its_first_epoch_and_a_copy_nowhere() -> None:
    one = session(right(4), epochs=(Epoch(1, range(9), Compaction("auto")), Epoch(2, [0, 1, 2], copies=frozenset([1]))))
    assert judged(one) == ([None, *right(4)[1:]], [])
    copied = replace(one, epochs=(Epoch(1, range(9), copies=frozenset([7])),))
    assert judged(copied) == ([None, *right(4)[1:3]], [])


def test_messages_that_are_more_than_the_first_bill_are_told() -> None:
    """1 000 tokens, 1 % of the bill and 35 % of the messages may be a tokenizer nobody knows."""
    one = session([10_000])
    long = replace(one, messages=(Message("u", "user", (Text("u" * 19_996),)), *one.messages[1:]))
    assert judged(long) == ([20_000], [(1, 1, -10_000, "")])
    for billed, expected in ((11_881, 20_000), (11_882, None)):
        answer = replace(long.messages[1], usage=Usage(billed))
        assert judged(replace(long, messages=(long.messages[0], answer, long.messages[2])))[0] == [expected]


def test_each_model_has_its_own_overhead() -> None:
    bills = right(12)
    one = session([*bills[:6], *(billed + 7_000 for billed in bills[6:])])
    mixed = replace(
        one, messages=tuple(replace(m, model="gpt-4o") if m.usage and int(m.id[1:]) > 5 else m for m in one.messages)
    )
    assert judged(mixed) == ([None, *bills[1:6], None, *(billed + 7_000 for billed in bills[7:])], [])
    assert judged(one)[1] == [(7, 12, 7_000, "")]


@pytest.mark.parametrize("usage", [Usage(10, absurd=True), None])
def test_calls_without_a_bill_or_with_an_absurd_one_count_and_are_not_judged(usage: Usage | None) -> None:
    one = session(right(3))
    silent = replace(one.messages[3], usage=usage)
    found = check_usage(replace(one, messages=(*one.messages[:3], silent, *one.messages[4:])), Counter(engine=Letters))
    assert [(bill.call, bill.expected) for bill in found.calls] == [(1, None), (3, right(3)[2])]


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (Gap(57, 57, 1, "a", -12_000), "Call 57 was billed 12 000 tokens less than the file shows."),
        (Gap(57, 80, 1, "a", 900), "Calls 57–80 were billed for 900 tokens that are not in the file."),
        (
            Gap(5, 6, 1, "a", 900, "behind"),
            "Calls 5–6 were billed for 900 tokens that are not in the file, after the messages sent before: neither "
            "system prompt nor tools.",
        ),
        (
            Gap(5, 5, 1, "a", -900, "anew"),
            "Call 5 was billed 900 tokens less than the file shows. The prompt changed from its start: system prompt "
            "or tools may differ.",
        ),
        (
            Gap(5, 5, 2, "a", 900, "compacted"),
            "Call 5 was billed for 900 tokens that are not in the file. They first appear with the compaction.",
        ),
        (
            Gap(5, 5, 2, "a", 900, "drift"),
            "Call 5 was billed for 900 tokens that are not in the file. The difference grew gradually.",
        ),
    ],
)
def test_what_is_said_of_a_gap(gap: Gap, words: str) -> None:
    said = str(gap).replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert said == words
