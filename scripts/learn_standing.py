"""What speaks for a standing instruction, learned: writes `workbench/facts/standing_weights.tsv`.

    pip install scikit-learn && python scripts/learn_standing.py [more.jsonl …]

Learned from `scripts/standing/LANG.txt`, sentences of our own, and `authors.txt`, messages of three authors who did
not know the code: `+` an instruction, `-` none, `*` a message in which [[what is marked]] is one. Messages of real
sessions, which cannot be kept here, may be named: a JSON object a line with `text`, `rules` and `unsure` (sentences
that are neither). Without them four times as many sentences of real sessions are taken for rules. scikit-learn is
needed for this alone.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from workbench.facts.standing import typed_sentences  # noqa: E402
from workbench.facts.standing_grammar import Reach  # noqa: E402
from workbench.facts.standing_signs import BIAS, Sentence, signs  # noqa: E402

SEEN = 10
"""A sign in fewer sentences tells of those alone."""

LIGHT = 0.05
"""What weighs less is left out."""

FOR_MORE = 2.0
"""What a missed instruction weighs against a wrong one."""


WORD = 0.45
"""The value of a word, against 1 of a role or of the context: words tell more of what was learned from."""

REAL = 4.0
"""What a sentence of a real session weighs: those are few, and nearly all of them are no instruction."""


@dataclass(frozen=True)
class Labelled:
    text: str
    rules: list[str]
    unsure: list[str] = field(default_factory=list)


class Row(NamedTuple):
    """A sentence: its words and form, all its signs, whether it is an instruction, and how much it weighs."""

    words: frozenset[str]
    signs: frozenset[str]
    stands: bool
    weight: float


def own() -> Iterator[Labelled]:
    for path in sorted((ROOT / "scripts" / "standing").glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            mark, text = line[0], line[2:]
            plain = text.replace("[[", "").replace("]]", "")
            yield Labelled(plain, {"+": [text], "-": []}.get(mark, re.findall(r"\[\[(.*?)\]\]", text)))


def beside() -> Iterator[Labelled]:
    """Rules of how to work, each behind something ordinary of its language: there they stand, too."""
    for path in sorted((ROOT / "scripts" / "standing").glob("*.txt")):
        lines = path.read_text("utf-8").splitlines()
        ordinary = cycle(line[2:] for line in lines if line[0] == "-" and line[-1] in ".。")
        for line in lines:
            ground = Sentence(line[2:]).ground
            if line[0] == "+" and ground and ground.reach >= Reach.WORK:
                yield Labelled(f"{next(ordinary)} {line[2:]}", [line[2:]])


def others(paths: Iterable[str]) -> Iterator[Labelled]:
    for path in paths:
        for line in Path(path).read_text("utf-8").splitlines():
            told = json.loads(line)
            yield Labelled(told["text"], told["rules"], told["unsure"])


def rows(messages: Iterable[Labelled], weight: float = 1.0) -> Iterator[Row]:
    for message in messages:
        found, pasted = typed_sentences(message.text)
        parts = [one.sentence for one in found]
        for at, part in enumerate(parts):
            if any(_same(part.text, one) for one in message.rules):
                yield Row(part.words, signs(parts, at, pasted=pasted), True, weight * FOR_MORE)
            elif not any(_same(part.text, one) for one in message.unsure):
                yield Row(part.words, signs(parts, at, pasted=pasted), False, weight)


def _same(sentence: str, labelled: str) -> bool:
    one, other = " ".join(sentence.split()).lower(), " ".join(labelled.split()).lower()
    return len(one) > 3 and (one in other or other in one)


def learned(found: list[Row], seen_as: str) -> dict[str, float]:
    """Weights of the signs (`words` or `signs`) that are seen often enough, and of none (`BIAS`)."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    words = frozenset().union(*(row.words for row in found))
    several = [getattr(row, seen_as) for row in found]
    seen = Counter(sign for one in several for sign in one)
    table = DictVectorizer()
    values = table.fit_transform(
        [{sign: WORD if sign in words else 1.0 for sign in sorted(one) if seen[sign] >= SEEN} for one in several]
    )
    model = LogisticRegression(max_iter=500)
    model.fit(values, [row.stands for row in found], [row.weight for row in found])
    weights = dict(zip(table.get_feature_names_out(), model.coef_[0], strict=True))
    return {
        BIAS: float(model.intercept_[0]),
        **{str(sign): float(weight) * (WORD if sign in words else 1.0) for sign, weight in weights.items()},
    }


def main() -> None:
    found = [*rows([*own(), *beside()]), *rows(others(sys.argv[1:]), REAL)]
    first, whole = learned(found, "words"), learned(found, "signs")
    lines = []
    for sign in sorted(first.keys() | whole.keys()):
        cells = [f"{one:.2f}" if abs(one := weights.get(sign, 0.0)) >= LIGHT else "" for weights in (first, whole)]
        if any(cells):
            lines.append("\t".join((sign, *cells)))
    (ROOT / "workbench" / "facts" / "standing_weights.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{len(found)} sentences, {sum(row.stands for row in found)} instructions, {len(lines)} signs")


if __name__ == "__main__":
    main()
