"""Does this text still tell that fact, and does it tell it rightly? One answer for summaries, outcomes and generations
alike, without a model.

A sentence is held where one sentence of the text has its words, whatever their endings and order, and is a sentence: a
list of the same words is none. A name stands there or does not. What is held may be wrong: the sentence says the
opposite, names the rejected for the chosen, gives another value, or claims that became of a file or a command what the
calls do not show. What was replaced by a later word of the user's and is told as if it still held is stale.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Literal

from msgspec import Struct

from workbench.analysis.amounts import Value, values_in
from workbench.analysis.became import AGREES, DENIED, GONE, State, claims, claims_of
from workbench.analysis.built import built, heap_of, in_order, scrambled
from workbench.analysis.contradiction import another_value, contradicts, turned
from workbench.analysis.sense import Sense, content_words, denies, normal, sense_of, units
from workbench.facts.commands_and_paths import core_command
from workbench.facts.fact import FactKind
from workbench.facts.terms import content_terms, language_of
from workbench.facts.word_tables import bounded
from workbench.facts.wording import sentences

Held = Literal["full", "part", "none", "unknown"]
"""`unknown`: nobody can read what was put in its place."""

NEARLY_ALL = 0.72
"""The share of a sentence's words that one sentence must have to hold it in full although it is worded otherwise."""

ENOUGH = 0.6
"""The share from which a sentence holds another in part."""

BESIDE, ENOUGH_BESIDE = 0.5, 2
"""The share of a number's neighbouring words that a line must have to be about the same thing, or how many of them."""

COMMAND_CHARS = 40
"""So much of a command's beginning holds it in part: the rest is often shortened."""

_MARK = re.compile(r"^E (?=\S)")
"""How pytest begins the lines of an error."""

SENTENCES = ("request", "instruction", "stated", "decision", "error")
"""Kinds that are compared by their words; the others are names, which stand there or do not."""


class Verdict(Struct, frozen=True):
    """How a fact is held, and whether what is said of it is `right`; what is not held at all is never right. `stale`:
    it was replaced, and is told as if it held."""

    held: Held
    right: bool
    stale: bool = False


ABSENT = Verdict("none", False)


class Wording(Struct, frozen=True):
    """A sentence as it is looked for: its content words in order and what it means."""

    order: tuple[str, ...]
    sense: Sense

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(self.order)


class Sought(Struct, frozen=True):
    """A fact in the form in which it is looked for.

    `whole`: each of these texts holds it in full. `part`: this one holds it in part. `wordings`: its sentences.
    `about`: words of which a line must have some beside a number or a short answer, lest it be another one. `value` is
    that of a number, `state` what became of what is named.
    """

    language: str
    whole: tuple[str, ...]
    part: str = ""
    wordings: tuple[Wording, ...] = ()
    about: frozenset[str] = frozenset()
    value: Value | None = None
    state: State = ""
    answer: bool = False


def sought(kind: FactKind, text: str, detail: str = "", state: State = "") -> Sought | None:
    """None for what cannot be looked for: a text without a word."""
    flat = _MARK.sub("", " ".join(text.split()))
    if not any(map(str.isalnum, flat)):
        return None
    language = language_of(f"{flat} {detail}")
    if kind == "decision" and detail and len(content_terms(flat, language)) < 2:
        about = frozenset(content_terms(detail, language)) - frozenset(content_terms(flat, language))
        return Sought(language, (flat,), about=about, answer=True)
    if kind in SENTENCES:
        parts = list(sentences(text)) if kind == "request" else []
        found = [one for part in parts or [flat] if (one := _wording(part, language)).order]
        if not found:
            return None
        return Sought(language, (flat.lower(),), wordings=tuple(found), state=state)
    match kind:
        case "path":
            folder, name = posixpath.split(text)
            short = f"{posixpath.basename(folder)}/{name}" if posixpath.basename(folder) else text
            return Sought(language, (short,), name or text, state=state)
        case "command":
            core = " ".join(core_command(text).split())
            return Sought(language, (core,), core[:COMMAND_CHARS].rstrip(), state=state) if core else None
        case "number":
            # "limit is 1536" may be told as "a limit of 1536".
            value = flat.split(" ")[-1] if not flat[0].isdigit() else flat
            about = frozenset(content_terms(detail, language)) - frozenset(content_terms(value, language))
            amount = next(iter(values_in(value.lower())), None)
            return Sought(language, (value,), about=about, value=amount)
        case "url":
            return Sought(language, (flat,), flat.partition("://")[2].partition("?")[0].partition("#")[0].rstrip("/"))
    return Sought(language, (flat,))


def _wording(text: str, language: str) -> Wording:
    sense = sense_of(text[:LONGEST_LINE], language)
    return Wording(tuple(dict.fromkeys(sense.order)), sense)


class Said:
    """Texts made ready for being asked. A list of bare words says nothing and is left out."""

    def __init__(self, texts: Iterable[str]) -> None:
        flat = (" ".join(line.split()) for text in texts for line in text.split("\n"))
        every = [one for line in flat if line for one in _each_file(line)]
        self._lines: list[str] = []
        heaps: list[str] = []
        for line in every:
            if not _heap(line):
                self._lines.append(line)
                continue
            # Short sentences in a row may look like a heap where each of them is none.
            heaps.append(line)
            parts = units(line)
            self._lines += [part for part in parts if len(parts) > 1 and not _heap(part)]
        self._heaps = " ".join(heaps).lower()
        self._flat = " ".join(self._lines)
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        self._low_lines = [line.lower() for line in self._lines]
        self._low = " ".join(self._low_lines)
        self._low_starts = list(accumulate((len(line) + 1 for line in self._low_lines), initial=0))
        self._tokens = set(_TOKENS.findall(self._low))
        self._units = list(dict.fromkeys(one for line in self._lines for one in units(line)))
        self._by_word: dict[str, dict[str, list[int]]] = {}
        """By language and word the units that have it."""

    def judges(self, one: Sought) -> Verdict:
        if one.wordings:
            return self._retold(one)
        if one.answer:
            return self._answered(one)
        if one.value is not None:
            return self._valued(one)
        named = next((text for text in one.whole if self._names(text)), "")
        if named or (one.part and self._names(one.part)):
            return Verdict("full" if named else "part", self._claimed_right(named or one.part, one.state))
        return ABSENT

    # --- names --------------------------------------------------------------------------------------------------------

    def _in_a_heap(self, needle: str) -> bool:
        """Whether a heap has it word for word: so many words in their order are no heap, whatever is around them."""
        return needle.count(" ") >= IN_ORDER and needle.lower() in self._heaps

    def _names(self, needle: str) -> bool:
        if self._in_a_heap(needle):
            return True
        # Most facts are lost: one word of them that the text lacks settles it.
        if not self._tokens.issuperset(_TOKENS.findall(needle.lower())) or needle not in self._flat:
            return False
        return _stands(needle, self._flat)

    def _claimed_right(self, name: str, state: State) -> bool:
        """Whether no sentence that names it claims another state, or one of them claims this one."""
        if not state:
            return True
        lines = [self._lines[at] for at in _places(name, self._flat, self._starts)]
        claimed = [claims_of(name, one) for line in lines for one in units(line) if name in one and _stands(name, one)]
        if any(AGREES[state] & claim for claim in claimed):
            return True
        return not any(DENIED[state] & claim for claim in claimed)

    # --- numbers and short answers ------------------------------------------------------------------------------------

    def _valued(self, one: Sought) -> Verdict:
        """A number stands for something by the words beside it."""
        assert one.value is not None
        if not one.about:
            return Verdict("full", True) if self._names(one.whole[0]) else ABSENT
        best, wrong = 0.0, False
        for at in self._near(one.about, one.language, ENOUGH_BESIDE / max(ENOUGH_BESIDE, len(one.about))):
            line = self._units[at][:LONGEST_LINE]
            found = content_words(line, one.language).union(content_terms(line, one.language))
            beside = len(one.about & found)
            share = beside / len(one.about)
            if share < BESIDE and beside < ENOUGH_BESIDE:
                continue
            values = values_in(line.lower())
            if any(map(one.value.same, values)):
                best = max(best, share)
            elif share >= ENOUGH_TO_CONTRADICT and len(one.about) > 1 and any(map(one.value.rivals, values)):
                wrong = True
        if best:
            return Verdict("full", True)
        if wrong:
            return Verdict("full", False)
        telling = sum(map(str.isdigit, one.whole[0])) >= TELLING or (one.value.unit and not one.value.measured)
        return Verdict("part", True) if telling and self._names(one.whole[0]) else ABSENT

    def _answered(self, one: Sought) -> Verdict:
        """An answer of a word, beside the question's words; yes and no are said by the sentence's sign, too."""
        text = one.whole[0].lower().strip(" .!")
        core = frozenset(content_terms(text, one.language))
        for line in self._lines:
            found = content_words(line[:LONGEST_LINE], one.language)
            if len(one.about & found) < BESIDE * len(one.about):
                continue
            sense = sense_of(line[:LONGEST_LINE], one.language)
            if not core:
                denied = bool(_NO.search(sense.text)) and not _YES.search(sense.text)
                return Verdict("full", denied != bool(_YES.search(text)))
            if core <= found:
                return Verdict("full", all(sense.signs[term] >= 0 for term in core))
        return ABSENT

    # --- sentences ----------------------------------------------------------------------------------------------------

    def _retold(self, one: Sought) -> Verdict:
        if one.whole[0] in self._low:
            return self._quoted(one)
        if one.state != "gone" and self._in_a_heap(one.whole[0]):
            return Verdict("full", True)
        verdicts = [self._best(wording, one) for wording in one.wordings]
        if not any(verdict.held != "none" for verdict in verdicts):
            return ABSENT
        full = all(verdict.held == "full" for verdict in verdicts)
        right = all(verdict.right for verdict in verdicts if verdict.held != "none")
        return Verdict("full" if full else "part", right, any(verdict.stale for verdict in verdicts))

    def _quoted(self, one: Sought) -> Verdict:
        """It stands there word for word."""
        text = one.whole[0]
        around = [self._low_lines[at] for at in _places(text, self._low, self._low_starts)]
        if one.state == "gone":
            stale = not all(GONE.search(line) for line in around)
            return Verdict("full", not stale, stale)
        if all(denies(_CLAUSE_END.split(line.partition(text)[0])[-1][-BEFORE_QUOTE:]) for line in around):
            return Verdict("full", False)
        if one.state:
            claimed = [claims(line.replace(text, " ")) for line in around]
            agrees = any(AGREES[one.state] & claim for claim in claimed)
            return Verdict("full", agrees or not any(DENIED[one.state] & claim for claim in claimed))
        return Verdict("full", True)

    def _best(self, wording: Wording, one: Sought) -> Verdict:
        """By the sentence that has most of its words; of those that have as many, by one that is right."""
        found = ABSENT
        for at in self._near(frozenset(wording.order), one.language, ENOUGH):
            sense = sense_of(self._units[at][:LONGEST_LINE], one.language)
            share = _share(wording, sense)
            if share < ENOUGH or not _tells(wording, sense, one.language):
                continue
            verdict = _judged(wording, sense, "full" if share >= NEARLY_ALL else "part", one.state)
            found = max(found, verdict, key=lambda one: (_RANK[one.held], one.right))
            if found == Verdict("full", True):
                break
        return found

    def _near(self, terms: frozenset[str], language: str, least: float = BESIDE) -> list[int]:
        """The units that have enough of the words, those with most first, no more than `LOOKED_AT`."""
        index = self._index(language)
        # A unit with enough of them has at least one of any few more than may be missing: the rarest are looked up.
        # Of words equally rare, and of units alike, the same come first in every run: a set's order is another in each.
        rarest = sorted(terms, key=lambda term: (len(index.get(term, ())), term))
        may_miss = int((1 - least) * len(terms)) + 1
        candidates = {at for term in rarest[:may_miss] for at in index.get(term, ())}
        if not candidates:
            return []
        counts = Counter(chain.from_iterable(candidates.intersection(index.get(term, ())) for term in terms))
        enough = [at for at, count in counts.items() if count >= least * len(terms) - SPARE]
        return sorted(enough, key=lambda at: (-counts[at], at))[:LOOKED_AT]

    def _index(self, language: str) -> dict[str, list[int]]:
        known = self._by_word.get(language)
        if known is None:
            known = self._by_word[language] = {}
            for at, unit in enumerate(self._units):
                low = unit[:LONGEST_LINE].lower()
                same = normal(low, language)
                for term in {*content_terms(same, language), *(content_terms(low, language) if same != low else ())}:
                    known.setdefault(term, []).append(at)
        return known


ENOUGH_TO_CONTRADICT = 0.75
"""A line with so many of a number's words and another value is about the same thing and wrong."""

TELLING = 4
"""A number of so many digits, or of things ("41 tests"), is told by itself, if in part: "30 s" stands in many texts."""

_CLAUSE_END = re.compile(r"[.!?,;:…\"“「](?:\s|$)|[。，；：]")
BEFORE_QUOTE = 24
"""So many characters before a quotation may deny it: "do not use pnpm"."""

LOOKED_AT = 16
LONGEST_LINE = 1_200
"""Of a longer sentence, which is data, only the beginning is compared."""

SPARE = 1
_RANK = {"unknown": 0, "none": 0, "part": 1, "full": 2}
_TOKENS = re.compile(r"[^\W_]+")
_YES, _NO = re.compile(bounded("claims", "yes")), re.compile(bounded("claims", "no"))


def _share(wording: Wording, sense: Sense) -> float:
    """How much of a sentence another has, words of little weight counted for less."""
    have = set(sense.order)
    characters = {character for term in have if _is_han(term) for character in term}
    weights = {term: LIGHT if term[0] == "=" and len(wording.order) > 2 else 1.0 for term in wording.order}
    found = sum(weight for term, weight in weights.items() if term in have)
    # Chinese is compared by pairs of characters, which in another order are other pairs.
    apart = (term for term in weights if term not in have and _is_han(term) and characters.issuperset(term))
    return (found + PAIR_APART * sum(1 for _ in apart)) / sum(weights.values())


PAIR_APART = 0.5
"""What a pair of characters counts whose characters stand in other pairs."""


def _is_han(term: str) -> bool:
    return "\u3400" <= term[0] <= "\u9fff"


LIGHT = 0.5
"""What a word counts that has many others for it: to use, to write."""


def _tells(wording: Wording, sense: Sense, language: str) -> bool:
    """Whether it is told, and not listed: by a sentence, or by few words more in the fact's own order."""
    swapped = (wording.sense.contrasted and sense.contrasted) or (wording.sense.earlier and sense.earlier)
    if not swapped and scrambled(wording.sense.text, sense.text, language):
        return False
    heaped = not sense.built or heap_of(sense.text, wording.terms, language)
    if heaped and in_order(wording.sense.marked, sense.marked) < ORDERLY:
        return False
    if len(wording.order) == 1:
        return len(sense.order) <= ONE_WORD
    if len(wording.order) <= 2:
        return len(sense.order) <= SHORT_RULE
    return len(sense.order) <= LONGER * len(wording.order) + SHORT_RULE


ORDERLY = 0.8
"""A note without little words tells a sentence where its words stand as they do there."""

ONE_WORD, SHORT_RULE, LONGER = 4, 10, 4
"""A sentence of more words than this is about something else, whatever words it shares."""


def _judged(wording: Wording, sense: Sense, held: Held, state: State) -> Verdict:
    fact = wording.sense
    if state == "gone":
        stale = not turned(fact, sense) and not GONE.search(sense.text)
        return Verdict(held, not stale, stale)
    if state:
        claimed = claims(sense.text)
        return Verdict(held, bool(AGREES[state] & claimed) or not DENIED[state] & claimed)
    if held == "part" and len(wording.order) > FEW:
        return Verdict(held, not another_value(fact, sense))  # with so few words in common nobody can tell more
    return Verdict(held, not contradicts(fact, sense))


FEW = 4


def _each_file(line: str) -> Iterator[str]:
    """A line that tells several files of a folder, as a ledger writes them, as a line for each; any other as it is."""
    if (shared := _OF_A_FOLDER.fullmatch(line)) is None:
        yield line
        return
    for name in shared[3].split(", "):
        yield f"{shared[1]}{shared[2] or ''}{name.rpartition(' ')[2]}"


_OF_A_FOLDER = re.compile(r"(- \[\w{1,20}\] )(?:(\S{0,400}/): )?(#\d{1,12} \S.*)")


def _heap(line: str) -> bool:
    """Whether a line is a heap of bare words."""
    return len(line) > HEAP_CHARS and line.count(" ") > HEAP_WORDS and not built(line[:LONGEST_LINE].lower())


HEAP_CHARS, HEAP_WORDS = 60, 10
IN_ORDER = 5
"""Spaces that a quotation has at least that is taken for one in a heap, too."""


def _places(needle: str, text: str, starts: Sequence[int]) -> Iterator[int]:
    """The numbers of the lines in which a needle begins, the first `LOOKED_AT` of them. `text` are the lines with a
    space between, `starts` where each begins."""
    at, line = text.find(needle), -1
    for _ in range(LOOKED_AT):
        if at < 0:
            return
        found = bisect_right(starts, at) - 1
        if found != line:
            yield found
        line, at = found, text.find(needle, at + 1)


def _stands(needle: str, text: str) -> bool:
    """Whether it stands there by itself: "12 tests" is not in "112 tests", nor `LOOM-31` in `LOOM-312`."""
    at = text.find(needle)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(needle) : at + len(needle) + 1]
        if not (needle[0].isalnum() and before.isalnum()) and not (needle[-1].isalnum() and after.isalnum()):
            return True
        at = text.find(needle, at + 1)
    return False
