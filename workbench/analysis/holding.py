"""Does this text still hold that fact? One answer for summaries, outcomes and generations alike."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from workbench.analysis.head_index import WORD, stems
from workbench.facts import FactKind
from workbench.facts.done import same_command
from workbench.facts.wording import sentences

Held = Literal["full", "part", "none"]

NEARLY_ALL = 0.9
"""The share of a sentence's words that one line must have to hold it in full although it is worded otherwise."""

ENOUGH = 0.6
"""The share from which a line holds a sentence in part."""

COMMAND_CHARS = 40
"""So much of a command's beginning holds it in part: the rest is often shortened."""

_MARK = re.compile(r"^E (?=\S)")
"""How pytest begins the lines of an error."""

SENTENCES = ("request", "instruction", "stated", "decision", "error")
"""Kinds that are compared by their words; the others are names, which stand there or do not."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A fact in the form in which it is looked for.

    `whole`: each of these texts holds it in full. `part`: this one holds it in part. `sentences`: the words of its
    sentences, without endings. `about`: words of which a line must have one beside a number or a short answer, lest it
    be another one.
    """

    whole: tuple[str, ...]
    part: str = ""
    sentences: tuple[frozenset[str], ...] = ()
    about: frozenset[str] = frozenset()


def sought(kind: FactKind, text: str, detail: str = "") -> Sought | None:
    """None for what cannot be looked for: a sentence of hardly any words."""
    flat = _MARK.sub("", " ".join(text.split()))
    if kind in SENTENCES:
        whole = stems(text)
        if len(whole) < 2 and kind == "decision" and detail:
            return Sought((flat,), about=stems(detail, WORD.findall(flat.lower())))
        if len(whole) < 2:
            return None
        parts = [words for one in sentences(text) if len(words := stems(one)) >= 2] if kind == "request" else []
        return Sought((flat.lower(),), sentences=tuple(parts) or (whole,))
    match kind:
        case "path":
            folder, name = posixpath.split(text)
            short = f"{posixpath.basename(folder)}/{name}" if posixpath.basename(folder) else text
            return Sought((short,), name or text)
        case "command":
            core = " ".join(same_command(text).split())
            return Sought((core,), core[:COMMAND_CHARS].rstrip()) if core else None
        case "number":
            # "limit is 1536" may be told as "a limit of 1536".
            value = flat.split(" ")[-1] if not flat[0].isdigit() else flat
            return Sought((value,), about=stems(detail, WORD.findall(value.lower())))
        case "url":
            return Sought((flat,), flat.partition("://")[2].partition("?")[0].partition("#")[0].rstrip("/"))
    return Sought((flat,))


class Said:
    """Texts made ready for being asked. Read-only once built."""

    def __init__(self, texts: Iterable[str]) -> None:
        lines = [line for text in texts for line in text.split("\n") if line.strip()]
        self._flat = " ".join(" ".join(lines).split())
        self._low = self._flat.lower()
        self._words = set(WORD.findall(self._low))
        self._lines: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            for stem in stems(line):
                self._lines.setdefault(stem, []).append(number)

    def holds(self, one: Sought) -> Held:
        if one.sentences:
            return self._retells(one)
        if any(map(self._names, one.whole)):
            return "full" if not one.about or self._beside(one) else "part"
        return "part" if one.part and self._names(one.part) else "none"

    def _names(self, needle: str) -> bool:
        first = WORD.search(needle)
        # Most facts are lost: one word of them that the text lacks settles it.
        if (
            first is not None and len(first[0]) >= 3 and first[0].lower() not in self._words
        ) or needle not in self._flat:
            return False
        if not needle[0].isalnum():
            return True
        # "12 tests" is not in "112 tests".
        at = self._flat.find(needle)
        while at > 0 and self._flat[at - 1].isalnum():
            at = self._flat.find(needle, at + 1)
        return at >= 0

    def _beside(self, one: Sought) -> bool:
        """Whether a line that may hold the number has a word of those that stood around it."""
        at = [set(self._lines.get(stem, ())) for stem in stems(one.whole[0])]
        lines = set.intersection(*at) if at else set[int]()
        return not at or any(not lines.isdisjoint(self._lines.get(stem, ())) for stem in one.about)

    def _retells(self, one: Sought) -> Held:
        if one.whole[0] in self._low:
            return "full"
        shares = [self._share(words) for words in one.sentences]
        if all(share >= NEARLY_ALL for share in shares):
            return "full"
        return "part" if any(share >= ENOUGH for share in shares) else "none"

    def _share(self, words: frozenset[str]) -> float:
        """The largest share of `words` that one line has."""
        # A line with enough of them has at least one of any few more than may be missing: the rarest are looked up.
        rarest = sorted(words, key=lambda stem: len(self._lines.get(stem, ())))
        may_miss = int((1 - ENOUGH) * len(words)) + 1
        candidates = {line for stem in rarest[:may_miss] for line in self._lines.get(stem, ())}
        if not candidates:
            return 0.0
        count = Counter(line for stem in words for line in self._lines.get(stem, ()) if line in candidates)
        return max(count.values()) / len(words)
