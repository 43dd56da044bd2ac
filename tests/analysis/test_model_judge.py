"""A model as judge of facts: its requests, and what it answers."""

from __future__ import annotations

import pytest

from workbench.analysis.labelled import labelled_pairs
from workbench.analysis.model_judge import (
    ITEMS_PER_CALL,
    ItemJudgement,
    JudgeResult,
    judge_result,
    judgements,
    requests,
)
from workbench.analysis.retention import TrackedFact
from workbench.compaction.prompts import load_prompt
from workbench.compaction.summary_request import Summary, SummaryFailed


def test_every_labelled_pair_is_judged_with_its_note_and_its_text() -> None:
    pairs = list(labelled_pairs())
    texts = [request.text for request in requests((), "not sent")]
    assert len(texts) == -(-len(pairs) // ITEMS_PER_CALL)
    assert not any("not sent" in text for text in texts)
    for number, pair in enumerate(pairs, 1):
        (line,) = (line for line in texts[(number - 1) // ITEMS_PER_CALL].split("\n") if f'number="{number}"' in line)
        assert (" note=" in line, "<text>" in line) == (bool(pair.detail), bool(pair.text))
        assert f'kind="{pair.kind}"' in line


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("1: yes, no", {1: ItemJudgement(1.0, False)}),
        ("2. Part YES\n10 - yes yes", {2: ItemJudgement(0.5, True), 10: ItemJudgement(1.0, True)}),
        ("3: no, yes", {3: ItemJudgement(0.0, False)}),
        ("perhaps: yes, yes\n4: maybe, no", {}),
    ],
)
def test_an_answer_has_two_words_for_each_item(answer: str, found: dict[int, ItemJudgement]) -> None:
    assert judgements([SummaryFailed("error", "x"), Summary(answer)]) == found


def facts(count: int) -> list[TrackedFact]:
    return [TrackedFact("path", f"<{n}>", f"m{n}", n, "no", False, f'"{n}"', n, 1) for n in range(1, count + 1)]


def test_facts_are_judged_in_batches_with_the_text() -> None:
    asked = requests(facts(61), "a & b")[:2]
    prompt = load_prompt("judge.md").text
    items = [
        f'<item number="{n}" kind="path" note="&quot;{n}&quot;"><fact>&lt;{n}&gt;</fact></item>' for n in range(1, 62)
    ]
    for request, batch in zip(asked, (items[:60], items[60:]), strict=True):
        lines = "\n".join(batch)
        assert request.text == f"{prompt}\n\n<text>\na &amp; b\n</text>\n\n<items>\n{lines}\n</items>"
        assert (request.purpose, request.prompt, request.chars) == ("judgement", prompt, len(request.text))


def test_the_shares_of_a_judge() -> None:
    pairs = list(labelled_pairs())
    agrees = [f"{n}: {'yes' if p.present else 'no'}, {'yes' if p.right else 'no'}" for n, p in enumerate(pairs, 1)]
    agreed = [Summary("\n".join(agrees[at : at + ITEMS_PER_CALL])) for at in range(0, len(agrees), ITEMS_PER_CALL)]
    first = Summary("0: yes, yes\n1: yes, yes\n2: part, yes\n3: yes, no\n4: no, no\n5: yes, yes")
    assert judge_result(facts(4), [first, *agreed]) == JudgeResult(4, 0.625, 0.375, len(pairs), 1.0, 1.0)
    assert judge_result((), agreed) == JudgeResult(0, None, None, len(pairs), 1.0, 1.0)
    silent = [SummaryFailed("error", "x")] * (len(agreed) + 1)
    assert judge_result(facts(1), silent) == JudgeResult(0, None, None, len(pairs), 0.0, 0.0)
