"""Decide whether a text still states a fact, and states it correctly. Used for summaries, outcomes and generations;
asks no model.

A sentence is present if one sentence of the text has its words, in any form and order; a mere list of these words does
not count. A name is present if it occurs verbatim. A present fact is wrong if the text says the opposite, names the
rejected option as the chosen one, gives another value, or claims a state of a file or command that the calls
contradict. A superseded rule that is stated as if it were in force is stale.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate, chain
from math import ceil
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from workbench.analysis.claims import AGREES, DENIED, GONE, State, claimed_states, claimed_states_of
from workbench.analysis.concepts import content_terms
from workbench.analysis.contradiction import is_negated
from workbench.analysis.plain_form import plain_form
from workbench.analysis.searched_lines import (
    LONGEST_LINE,
    MOST_CANDIDATES,
    contains,
    joined_clauses,
    line_numbers,
    lines_and_heaps,
)
from workbench.analysis.sense import Sense, content_words, denials, sense_of, sentences_of
from workbench.analysis.sentence_match import (
    SentenceQuery,
    found_words,
    is_doubted,
    is_part,
    is_rejected,
    is_right,
    is_stated,
    meaning,
    sentence_query,
)
from workbench.facts.amounts import Value, values_in, with_digits
from workbench.facts.commands_and_paths import core_command
from workbench.facts.fact import FactKind
from workbench.facts.terms import language_of
from workbench.facts.word_tables import bounded
from workbench.facts.wording import sentences

Presence = Literal["full", "part", "none", "unknown"]
"""`unknown`: the replacement cannot be read."""

NEARLY_ALL = 0.72
"""Share of a sentence's words that a paraphrase must have to state it in full."""

ENOUGH = 0.6
"""Share of a sentence's words that a paraphrase must have to state it in part."""

SOME = 0.3
"""Least share of a sentence's words in a text that may state a part of it; at least two words."""

NEAR, ENOUGH_NEAR = 0.5, 2
"""Share, or count, of the words near a number that a line must have to be about the same thing."""

COMMAND_CHARS = 40
"""First characters of a command that state it in part; summaries often shorten the rest."""

_PYTEST_MARK = re.compile(r"^E (?=\S)")
"""Prefix of pytest's error lines."""

SENTENCES = ("request", "instruction", "stated", "decision", "error")
"""Kinds of facts that are compared word by word. The others are names, which must occur verbatim."""


class FactVerdict(Struct, frozen=True):
    """Presence of a fact. `right`: present and stated correctly. `stale`: superseded, but stated as if in force."""

    presence: Presence
    right: bool
    stale: bool = False


ABSENT = FactVerdict("none", False)


class FactQuery(Struct, frozen=True):
    """Fact in the form in which it is searched for.

    Any of `forms` states it in full, `part` states it in part; `sentences` are its sentences. A line that states a
    number or a short answer must have some of `context_words`. `value` is the value of a number, `state` the last state
    of the named file, command, error or rule; `is_answer` marks a one-word answer of the user.
    """

    language: str
    forms: tuple[str, ...]
    part: str = ""
    sentences: tuple[SentenceQuery, ...] = ()
    context_words: frozenset[str] = frozenset()
    value: Value | None = None
    state: State = ""
    is_answer: bool = False


def fact_query(kind: FactKind, text: str, detail: str = "", state: State = "") -> FactQuery | None:
    """Return the query for a fact; None if its text has no word."""
    flat = _PYTEST_MARK.sub("", " ".join(text.split()))
    if not any(map(str.isalnum, flat)):
        return None
    language = language_of(f"{flat} {detail}")
    if kind == "decision" and detail and len(content_terms(flat, language)) < 2:
        about = frozenset(content_terms(detail, language)) - frozenset(content_terms(flat, language))
        return FactQuery(language, (flat,), context_words=about, is_answer=True)
    if kind in SENTENCES:
        parts = list(sentences(text)) if kind == "request" else []
        found = [one for part in parts or [flat] if (one := sentence_query(part, language)).order]
        if not found:
            return None
        return FactQuery(language, (flat.lower(),), sentences=tuple(found), state=state)
    match kind:
        case "path":
            folder, name = posixpath.split(text)
            short = f"{posixpath.basename(folder)}/{name}" if posixpath.basename(folder) else text
            return FactQuery(language, (short,), name or text, state=state)
        case "command":
            core = " ".join(core_command(text).split())
            return FactQuery(language, (core,), core[:COMMAND_CHARS].rstrip(), state=state) if core else None
        case "number":
            # "limit is 1536" may become "a limit of 1536".
            value = flat.split(" ")[-1] if not flat[0].isdigit() else flat
            about = frozenset(content_terms(detail, language)) - frozenset(content_terms(value, language))
            amount = next(iter(values_in(value.lower())), None)
            return FactQuery(language, (value,), context_words=about, value=amount)
        case "url":
            return FactQuery(
                language, (flat,), flat.partition("://")[2].partition("?")[0].partition("#")[0].rstrip("/")
            )
    return FactQuery(language, (flat,))


class SearchedText:
    """Texts prepared for search. Lists of bare words state no sentence; only long verbatim quotations are found in
    them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._lines, heaps = lines_and_heaps(texts)
        self._heaps = " ".join(heaps).lower()
        self._flat = " ".join(self._lines)
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))
        self._low_lines = [line.lower() for line in self._lines]
        self._low = " ".join(self._low_lines)
        self._low_starts = list(accumulate((len(line) + 1 for line in self._low_lines), initial=0))
        self._tokens = set(_TOKENS.findall(self._low))
        self._sentences = list(dict.fromkeys(one for line in self._lines for one in sentences_of(line)))
        self._undivided = {
            part: one for line in self._lines for one in joined_clauses(line) for part in sentences_of(one)
        }
        """Sentence that a semicolon divides, by each of its parts."""
        self._by_word: dict[str, dict[str, list[int]]] = {}
        """Indexes of the sentences that have a word, by language and word."""

    def judge(self, one: FactQuery) -> FactVerdict:
        """Return how the texts state a fact."""
        if one.sentences:
            return self._judge_sentences(one)
        if one.is_answer:
            return self._judge_answer(one)
        if one.value is not None:
            return self._judge_number(one)
        named = next((text for text in one.forms if self._has_name(text)), "")
        if named or (one.part and self._has_name(one.part)):
            return FactVerdict("full" if named else "part", self._is_claimed_right(named or one.part, one.state))
        return ABSENT

    # --- names --------------------------------------------------------------------------------------------------------

    def _is_in_heap(self, needle: str) -> bool:
        """True if a word list contains the text verbatim, and the text is too long for a coincidence."""
        return needle.count(" ") >= IN_ORDER and needle.lower() in self._heaps

    def _has_name(self, needle: str) -> bool:
        if self._is_in_heap(needle):
            return True
        # Fast path: a name with a missing word does not occur.
        if not self._tokens.issuperset(_TOKENS.findall(needle.lower())) or needle not in self._flat:
            return False
        return contains(needle, self._flat)

    def _is_claimed_right(self, name: str, state: State) -> bool:
        """False if sentences with `name` contradict `state` and none agrees with it."""
        if not state:
            return True
        lines = [self._lines[at] for at in line_numbers(name, self._flat, self._starts)]
        claimed = [
            claimed_states_of(name, one)
            for line in lines
            for one in sentences_of(line)
            if name in one and contains(name, one)
        ]
        if any(AGREES[state] & claim for claim in claimed):
            return True
        return not any(DENIED[state] & claim for claim in claimed)

    # --- numbers and short answers ------------------------------------------------------------------------------------

    def _judge_number(self, one: FactQuery) -> FactVerdict:
        """Judge a number by the words near it."""
        assert one.value is not None
        if not one.context_words:
            return FactVerdict("full", True) if self._has_name(one.forms[0]) else ABSENT
        best, wrong = 0.0, False
        for at in self._near(one.context_words, one.language, 1):
            line = self._sentences[at][:LONGEST_LINE]
            found = content_words(line, one.language).union(content_terms(line, one.language))
            common = len(one.context_words & found)
            share = common / len(one.context_words)
            if share < NEAR and common < ENOUGH_NEAR:
                continue
            values = values_in(with_digits(line).lower())
            if any(map(one.value.same, values)):
                best = max(best, share)
            elif share >= ENOUGH_TO_CONTRADICT and len(one.context_words) > 1 and any(map(one.value.rivals, values)):
                wrong = True
        if best:
            return FactVerdict("full", True)
        if wrong:
            return FactVerdict("full", False)
        telling = sum(map(str.isdigit, one.forms[0])) >= SPECIFIC_DIGITS or (one.value.unit and not one.value.measured)
        return FactVerdict("part", True) if telling and self._has_name(one.forms[0]) else ABSENT

    def _judge_answer(self, one: FactQuery) -> FactVerdict:
        """Judge a one-word answer by the question's words on the same line. A yes or no is also read from a sentence
        that affirms or negates the question."""
        text = one.forms[0].lower().strip(" .!")
        core = frozenset(content_terms(text, one.language))
        for line in self._lines:
            found = content_words(line[:LONGEST_LINE], one.language)
            if len(one.context_words & found) < NEAR * len(one.context_words):
                continue
            sense = sense_of(line[:LONGEST_LINE], one.language)
            if not core:
                denied = bool(_NO.search(sense.text)) and not _YES.search(sense.text)
                return FactVerdict("full", denied != bool(_YES.search(text)))
            if core <= found:
                return FactVerdict("full", all(sense.signs[term] >= 0 for term in core))
        return ABSENT

    # --- sentences ----------------------------------------------------------------------------------------------------

    def _judge_sentences(self, one: FactQuery) -> FactVerdict:
        if one.forms[0] in self._low:
            return self._judge_quotation(one)
        if one.state != "gone" and self._is_in_heap(one.forms[0]):
            return FactVerdict("full", True)
        verdicts = [self._best_sentence(wording, one) for wording in one.sentences]
        if not any(verdict.presence != "none" for verdict in verdicts):
            return ABSENT
        full = all(verdict.presence == "full" for verdict in verdicts)
        right = all(verdict.right for verdict in verdicts if verdict.presence != "none")
        return FactVerdict("full" if full else "part", right, any(verdict.stale for verdict in verdicts))

    def _judge_quotation(self, one: FactQuery) -> FactVerdict:
        """Judge a fact that occurs verbatim."""
        text = one.forms[0]
        around = [self._low_lines[at] for at in line_numbers(text, self._low, self._low_starts)]
        if one.state == "gone":
            stale = not all(GONE.search(line) for line in around)
            return FactVerdict("full", not stale, stale)
        stated = [one for line in around for one in sentences_of(line) if text in one]
        if stated and not is_doubted(text) and all(map(is_doubted, stated)):
            return ABSENT
        if all(_is_denied(text, line) for line in around):
            return FactVerdict("full", False)
        if one.state:
            claimed = [claimed_states(line.replace(text, " ")) for line in around]
            agrees = any(AGREES[one.state] & claim for claim in claimed)
            return FactVerdict("full", agrees or not any(DENIED[one.state] & claim for claim in claimed))
        return FactVerdict("full", True)

    def _best_sentence(self, wording: SentenceQuery, one: FactQuery) -> FactVerdict:
        """Return the best verdict of the candidate sentences: full before part, then correct before wrong. The main
        clause alone states its sentence in part."""
        found = ABSENT
        candidates = [self._sentences[at] for at in self._candidates(wording, one.language)]
        for text in candidates:
            found = max(found, _judge_candidate(text, wording, one), key=lambda one: (_RANK[one.presence], one.right))
            if found == FactVerdict("full", True):
                return found
        if not found.right and len(wording.sense.parts) > 1:
            undivided = dict.fromkeys(self._undivided[text] for text in candidates if text in self._undivided)
            verdicts = (_judge_candidate(text, wording, one) for text in undivided)
            found = next((verdict for verdict in verdicts if verdict.right), found)
        if found.presence == "none" and wording.main is not None:
            shortened = self._best_sentence(wording.main, one)
            return replace(shortened, presence="part") if shortened.presence == "full" else ABSENT
        return found

    def _candidates(self, wording: SentenceQuery, language: str) -> list[int]:
        """Return indexes of sentences that may state one, in full or in part."""
        amounts = frozenset[str]().union(*(terms for _, terms in wording.amounts))
        terms = wording.terms - amounts or wording.terms
        return self._near(terms, language, max(min(2 - bool(amounts), len(terms)), SOME * len(terms)))

    def _near(self, terms: frozenset[str], language: str, least: float) -> list[int]:
        """Return indexes of at most `MOST_CANDIDATES` sentences with `least` of the words, best first."""
        index = self._index(language)
        # If n words may be missing, a match has one of any n + 1 words: look up the rarest n + 1.
        # Ties are broken by text and index, because the order of a set differs from run to run.
        rarest = sorted(terms, key=lambda term: (len(index.get(term, ())), term))
        some = len(terms) - ceil(least) + 1
        candidates = {at for term in rarest[:some] for at in index.get(term, ())}
        if not candidates:
            return []
        counts = Counter(chain.from_iterable(candidates.intersection(index.get(term, ())) for term in terms))
        enough = [at for at, count in counts.items() if count >= least]
        return sorted(enough, key=lambda at: (-counts[at], at))[:MOST_CANDIDATES]

    def _index(self, language: str) -> dict[str, list[int]]:
        known = self._by_word.get(language)
        if known is None:
            known = self._by_word[language] = {}
            for at, unit in enumerate(self._sentences):
                for term in content_words(plain_form(unit[:LONGEST_LINE]), language):
                    known.setdefault(term, []).append(at)
        return known


ENOUGH_TO_CONTRADICT = 0.75
"""Share of the words near a number from which a line with another value contradicts it."""

SPECIFIC_DIGITS = 4
"""Fewest digits of a number that states its fact in part without the words near it. A count with its noun ("41 tests")
does so, too; "30 s" occurs in too many texts."""

_CLAUSE_END = re.compile(r"[.!?,;:…\"“「](?:\s|$)|[。，；：]")
BEFORE_QUOTE = 24
"""Characters before a quotation that may negate it: "do not use pnpm"."""

IN_ORDER = 5
"""Fewest spaces in a quotation that counts within a word list."""

_RANK = {"unknown": 0, "none": 0, "part": 1, "full": 2}
_TOKENS = re.compile(r"[^\W_]+")
_YES, _NO = re.compile(bounded("claims", "yes")), re.compile(bounded("claims", "no"))


def _is_denied(quotation: str, line: str) -> bool:
    """True if the words around a quotation negate, reject or limit it."""
    before, _, after = line.partition(quotation)
    return denials(_CLAUSE_END.split(before)[-1][-BEFORE_QUOTE:]) > 0 or is_rejected(before, after)


def _judge_candidate(text: str, wording: SentenceQuery, one: FactQuery) -> FactVerdict:
    """Return how a sentence states `wording`."""
    sense = meaning(text[:LONGEST_LINE], one.language)
    share = _share_of_words(wording, sense)
    main = wording.main or wording
    alone = share < ENOUGH and is_part(main, sense)
    if (share < ENOUGH and not alone) or not is_stated(wording, sense):
        return ABSENT
    if alone or (share < NEARLY_ALL <= _share_of_words(main, sense) and is_stated(main, sense)):
        return replace(_judge_sentence(main, sense, "full", one.state), presence="part")
    return _judge_sentence(wording, sense, "full" if share >= NEARLY_ALL else "part", one.state)


def _share_of_words(wording: SentenceQuery, sense: Sense) -> float:
    """Return the share of the words of `wording` in `sense`. An amount is there in any unit."""
    return len(found_words(wording, sense) & wording.terms) / len(wording.terms)


def _judge_sentence(wording: SentenceQuery, sense: Sense, held: Presence, state: State) -> FactVerdict:
    fact = wording.sense
    if state == "gone":
        stale = not is_negated(fact, sense) and not GONE.search(sense.text)
        return FactVerdict(held, not stale, stale)
    if state:
        claimed = claimed_states(sense.text)
        return FactVerdict(held, bool(AGREES[state] & claimed) or not DENIED[state] & claimed)
    return FactVerdict(held, is_right(wording, sense))
