"""A model as judge: does a text tell each fact, and rightly? Asked in a live run, beside the measure that needs none.

How far the judge is to be trusted is asked in the same breath: it judges the hand-labelled pairs, too
(`workbench.analysis.labelled`), and its agreement with them stands beside its score. An item that it leaves unanswered
is not agreed, and a fact that it leaves unanswered is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

from msgspec import Struct

from workbench.analysis.labelled import Pair, pairs
from workbench.analysis.retention import HALF, HeldFact, Retention
from workbench.compaction.conversation import TextBody
from workbench.compaction.outcome import unchanged
from workbench.compaction.prompts import load_prompt
from workbench.compaction.strategy import Compacting
from workbench.compaction.summary_request import Answer, Summary, SummaryRequest

AT_ONCE = 60
"""So many items are asked for in one call."""

MOST_FACTS = 240
"""Of more facts the gravest are judged."""

SHOWN_CHARS = 600
"""Of a fact so much is shown."""

_LINE = re.compile(r"^\W*(\d{1,6})\W+(yes|no|part)\W+(yes|no)\b", re.MULTILINE | re.IGNORECASE)


class Opinion(Struct, frozen=True):
    """What the judge says of one item. `present` is 1, 0.5 for in part, or 0."""

    present: float
    right: bool


class Judged(Struct, frozen=True):
    """What the judge says of the facts that an outcome does not keep in their own messages. `present` and `right` are
    shares of the `facts` judged, 0 to 1, None where none was; `agreed_present` and `agreed_right` are the shares of the
    `pairs` that it judges as people labelled them."""

    facts: int
    present: float | None
    right: float | None
    pairs: int
    agreed_present: float
    agreed_right: float


def asked_of(held: Retention) -> tuple[HeldFact, ...]:
    """The facts that are put before the judge: those whose own message does not stay, the gravest first, at most
    `MOST_FACTS`."""
    gone = [fact for fact in held.facts if fact.pin_tokens]
    return tuple(sorted(gone, key=lambda fact: -fact.rank)[:MOST_FACTS])


def judging(facts: Sequence[HeldFact], text: str) -> Compacting:
    """What a run drives: it asks of the facts in `text`, then of every labelled pair. It compacts nothing."""
    yield tuple(requests(facts, text))
    return unchanged((), "the judge changes nothing")


def requests(facts: Sequence[HeldFact], text: str) -> list[SummaryRequest]:
    """What is asked, in calls of `AT_ONCE` items: first of the facts, then of the pairs."""
    items = [_item(number, fact.kind, fact.text, fact.why) for number, fact in enumerate(facts, 1)]
    asked = [_request(_batch(items, at), text) for at in range(0, len(items), AT_ONCE)]
    labelled = [_item(number, pair.kind, pair.fact, pair.detail, pair.text) for number, pair in enumerate(pairs(), 1)]
    return asked + [_request(_batch(labelled, at)) for at in range(0, len(labelled), AT_ONCE)]


def judged(facts: Sequence[HeldFact], answers: Sequence[Answer]) -> Judged:
    """What the answers to `requests` say."""
    calls = -(-len(facts) // AT_ONCE)
    of_facts, of_pairs = opinions(answers[:calls]), opinions(answers[calls:])
    labelled = list(pairs())
    known = [one for number, one in of_facts.items() if 1 <= number <= len(facts)]
    return Judged(
        len(known),
        sum(one.present for one in known) / len(known) if known else None,
        sum(one.present for one in known if one.right) / len(known) if known else None,
        len(labelled),
        sum(_agrees(pair, of_pairs.get(number), "present") for number, pair in enumerate(labelled, 1)) / len(labelled),
        sum(_agrees(pair, of_pairs.get(number), "right") for number, pair in enumerate(labelled, 1)) / len(labelled),
    )


def opinions(answers: Sequence[Answer]) -> dict[int, Opinion]:
    """By the number of the item what was said of it; a failed call says nothing."""
    found: dict[int, Opinion] = {}
    for answer in answers:
        for match in _LINE.finditer(answer.text if isinstance(answer, Summary) else ""):
            present = {"yes": 1.0, "part": HALF, "no": 0.0}[match[2].lower()]
            found[int(match[1])] = Opinion(present, present > 0 and match[3].lower() == "yes")
    return found


def _agrees(pair: Pair, opinion: Opinion | None, label: str) -> bool:
    if opinion is None:
        return False
    return pair.present == (opinion.present > 0) if label == "present" else pair.right == opinion.right


def _batch(items: Sequence[str], at: int) -> str:
    return "\n".join(items[at : at + AT_ONCE])


def _item(number: int, kind: str, fact: str, about: str, text: str = "") -> str:
    own = f"<text>{escape(text)}</text>" if text else ""
    note = f' note="{escape(about[:80], {chr(34): "&quot;"})}"' if about else ""
    return f'<item number="{number}" kind="{kind}"{note}><fact>{escape(fact[:SHOWN_CHARS])}</fact>{own}</item>'


def _request(items: str, text: str = "") -> SummaryRequest:
    prompt = load_prompt("judge.md").text
    common = f"<text>\n{escape(text)}\n</text>\n\n" if text else ""
    whole = f"{prompt}\n\n{common}<items>\n{items}\n</items>"
    return SummaryRequest("judgement", (), prompt, TextBody(lambda: whole), chars=len(whole))
