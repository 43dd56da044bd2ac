"""A model as judge of facts: its requests, and what it answers."""

from __future__ import annotations

import pytest

from workbench.analysis.labelled import labelled_pairs
from workbench.analysis.model_judge import ITEMS_PER_CALL, ItemJudgement, judgements, requests
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
