"""A model as judge of facts: in a live run it decides for each fact whether a text states it, and states it correctly.

It also judges the hand-labelled pairs of `workbench.analysis.labelled`. Its agreement with the labels is shown next to
its score. A pair without an answer counts as disagreement; a fact without an answer is not counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from msgspec import Struct

from workbench.analysis.labelled import LabelledPair, labelled_pairs
from workbench.analysis.retention import HALF, Retention, TrackedFact
from workbench.compaction.outcome import unchanged
from workbench.compaction.prompts import load_prompt
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Answer, Summary, SummaryRequest, TextBody

ITEMS_PER_CALL = 60
"""Maximum number of facts or pairs in one call."""

MOST_FACTS = 240
"""Maximum number of facts that are judged, gravest first."""

SHOWN_CHARS = 600
"""Characters of a fact that the judge sees."""

_LINE = re.compile(r"^\W*(\d{1,6})\W+(yes|no|part)\W+(yes|no)\b", re.MULTILINE | re.IGNORECASE)


class ItemJudgement(Struct, frozen=True):
    """The judge's answer for one item. `present` is 1, 0.5 (in part) or 0; `right`: present and stated correctly."""

    present: float
    right: bool


class JudgeResult(Struct, frozen=True):
    """The judge's answers on the facts whose messages an outcome does not keep, as shares.

    `facts` is the number of facts with an answer. `present` and `right` are shares of them, 0 to 1, in which a fact
    stated in part counts half; None if no fact has an answer. `agreed_present` and `agreed_right` are the shares of
    the `pairs` on which the judge agrees with the human labels.
    """

    facts: int
    present: float | None
    right: float | None
    pairs: int
    agreed_present: float
    agreed_right: float


def facts_to_judge(held: Retention) -> tuple[TrackedFact, ...]:
    """Return the facts whose message is not kept, gravest first, at most `MOST_FACTS`."""
    replaced = [fact for fact in held.facts if fact.pin_tokens]
    return tuple(sorted(replaced, key=lambda fact: -fact.rank)[:MOST_FACTS])


def judge_run(facts: Sequence[TrackedFact], text: str) -> Compacting:
    """Request judgements of the facts in `text`, then of every labelled pair. Compacts nothing."""
    yield tuple(requests(facts, text))
    return unchanged((), "the judge changes nothing")


def requests(facts: Sequence[TrackedFact], text: str) -> list[SummaryRequest]:
    """Return requests of `ITEMS_PER_CALL` items: first the facts, then the pairs."""
    items = [_item(number, fact.kind, fact.text, fact.why) for number, fact in enumerate(facts, 1)]
    found = [_request(_batch(items, at), text) for at in range(0, len(items), ITEMS_PER_CALL)]
    labelled = [
        _item(number, pair.kind, pair.fact, pair.detail, pair.text) for number, pair in enumerate(labelled_pairs(), 1)
    ]
    return found + [_request(_batch(labelled, at)) for at in range(0, len(labelled), ITEMS_PER_CALL)]


def judge_result(facts: Sequence[TrackedFact], answers: Sequence[Answer]) -> JudgeResult:
    """Compute the result from the `answers` to `requests`, one per request and in their order."""
    calls = -(-len(facts) // ITEMS_PER_CALL)
    of_facts, of_pairs = judgements(answers[:calls]), judgements(answers[calls:])
    labelled = list(labelled_pairs())
    known = [one for number, one in of_facts.items() if 1 <= number <= len(facts)]
    return JudgeResult(
        len(known),
        sum(one.present for one in known) / len(known) if known else None,
        sum(one.present for one in known if one.right) / len(known) if known else None,
        len(labelled),
        sum(_agrees(pair, of_pairs.get(number), "present") for number, pair in enumerate(labelled, 1)) / len(labelled),
        sum(_agrees(pair, of_pairs.get(number), "right") for number, pair in enumerate(labelled, 1)) / len(labelled),
    )


def judgements(answers: Sequence[Answer]) -> dict[int, ItemJudgement]:
    """Return the judgements by item number; a failed call gives none."""
    found: dict[int, ItemJudgement] = {}
    for answer in answers:
        for match in _LINE.finditer(answer.text if isinstance(answer, Summary) else ""):
            present = {"yes": 1.0, "part": HALF, "no": 0.0}[match[2].lower()]
            found[int(match[1])] = ItemJudgement(present, present > 0 and match[3].lower() == "yes")
    return found


def _agrees(pair: LabelledPair, opinion: ItemJudgement | None, label: str) -> bool:
    if opinion is None:
        return False
    return pair.present == (opinion.present > 0) if label == "present" else pair.right == opinion.right


def _batch(items: Sequence[str], at: int) -> str:
    return "\n".join(items[at : at + ITEMS_PER_CALL])


def _item(number: int, kind: str, fact: str, about: str, text: str = "") -> str:
    own = f"<text>{escape(text)}</text>" if text else ""
    note = f' note="{escape(about[:80], {chr(34): "&quot;"})}"' if about else ""
    return f'<item number="{number}" kind="{kind}"{note}><fact>{escape(fact[:SHOWN_CHARS])}</fact>{own}</item>'


def _request(items: str, text: str = "") -> SummaryRequest:
    prompt = load_prompt("judge.md").text
    common = f"<text>\n{escape(text)}\n</text>\n\n" if text else ""
    whole = f"{prompt}\n\n{common}<items>\n{items}\n</items>"
    return SummaryRequest("judgement", (), prompt, TextBody(lambda: whole), chars=len(whole))
