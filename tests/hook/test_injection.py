"""The text that is added to an agent's context."""

from __future__ import annotations

import pytest

from workbench.hook.injection import INTRODUCTION, QUOTATIONS, estimated_tokens, injection
from workbench.hook.lost import LostWork
from workbench.tokens import Counter

RULES = tuple(f"Never touch the file number {number} of the old mill." for number in range(40))
LOST = LostWork(RULES[:2], "Rebuild the gate.", ("bash_7: npm run watch",), ("Write tests",), ("a.py +1 −0",))


def test_parts_in_order_and_quoted() -> None:
    found = injection(LOST)
    assert found.text == (
        f"{INTRODUCTION} {QUOTATIONS}\n\nRules of the user:\n> {RULES[0]}\n> {RULES[1]}\n\nOpen request of the user:\n"
        "> Rebuild the gate.\n\nRunning in the background:\n- bash_7: npm run watch\n\nOpen tasks:\n- Write tests\n\n"
        "Files changed since the compaction before:\n- a.py +1 −0"
    )
    assert found.shown == "2 rules, 1 request, 1 background task, 1 open task, 1 changed file"


def test_nothing_lost_is_nothing_said() -> None:
    assert injection(LostWork()).text == ""


def test_without_words_of_the_user_nothing_is_called_a_quotation() -> None:
    text = injection(LostWork(files=("a.py +1 −0",))).text
    assert text == f"{INTRODUCTION}\n\nFiles changed since the compaction before:\n- a.py +1 −0"


@pytest.mark.parametrize("limit", [150, 300, 600])
def test_the_newest_rules_that_fit_and_the_number_of_the_others(limit: int) -> None:
    text = injection(LostWork(RULES), limit).text
    assert estimated_tokens(text) <= limit
    assert RULES[-1] in text
    shown = sum(rule in text for rule in RULES)
    assert f"Left out within {limit} tokens: {40 - shown} rules." in text
    assert 0 < shown < 40
    assert all(rule in text for rule in RULES[40 - shown :])


@pytest.mark.parametrize(
    "line",
    [
        "Never push to branch {} without asking me.",
        "绝不要在未经我同意的情况下推送到分支{}。",
        "Никогда не отправляй в ветку {} без моего согласия.",
        "Keep 7c9e6679-7425-40de-944b-e07fc1f90ae{} and 550e8400-e29b-41d4-a716-44665544{}.",
        "Use `a[{}]->{{x:=!=~}}` && ||; never $(){{}}.",
    ],
)
def test_the_estimate_is_no_less_than_a_count(line: str) -> None:
    text = injection(LostWork(tuple(line.format(number, number) for number in range(40)))).text
    assert 250 < Counter().text(text) <= estimated_tokens(text) <= 600


def test_a_limit_below_the_introduction_adds_nothing() -> None:
    assert injection(LOST, 50).text == ""


def test_a_long_request_is_cut_and_leaves_room_for_rules() -> None:
    text = injection(LostWork(RULES[:3], "Rebuild " + "the gate " * 900), 600).text
    assert estimated_tokens(text) <= 600
    assert "more characters]" in text
    assert all(rule in text for rule in RULES[:3])


def test_a_rule_within_the_quoted_request_is_not_repeated() -> None:
    text = injection(LostWork(RULES[:2], f"Rebuild the gate. {RULES[0]}")).text
    assert text.count(RULES[0]) == text.count(RULES[1]) == 1


def test_every_line_of_a_quotation_is_marked() -> None:
    assert "> First.\n> \n> Second." in injection(LostWork(request="First.\n\nSecond.")).text
