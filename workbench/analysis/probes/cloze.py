"""Questions from sentences: one term is left blank, and the answer is that term, word for word.

A term is left out only if the rest identifies the sentence, does not give the term away, and occurs nowhere in the
session with another term in that place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.head_index import texts_of
from workbench.analysis.mentions import Mentions, plain_path, words_of
from workbench.analysis.probes.probe import BLANK, Probe, ProbeKind, contains_term, without_term
from workbench.analysis.retention import superseded_texts
from workbench.compaction.shape import Shape
from workbench.compaction.shape_facts import facts_of, standing_of
from workbench.facts.answers import typed_texts
from workbench.facts.fact import Fact
from workbench.facts.pastes import without_paste
from workbench.facts.tools import normal_path
from workbench.facts.wording import is_agent_message, message_prose, sentences

FEWEST_WORDS = 5
"""Fewest meaningful words that remain in the sentence."""

FEWEST_LETTERS = 4
"""Fewest letters of a Latin word; shorter ones are easily guessed."""

LONGEST = 320
"""Longest sentence that is asked about, in characters."""

AROUND = 60
"""Most characters on either side of the blank that identify its place in the text."""

_CODE = r"[A-Za-z_$][\w$]*"

_TERMS = re.compile(
    r"`(?P<code>[^`\n]{2,80})`"
    r"|(?P<quoted>(?<!\w)[\"“«「](?P<in>[^\"”»」\n?!,]{3,40})[\"”»」](?!\w))"
    r"|(?P<flag>(?<!\S)--?[a-z][\w-]{2,40}(?:=\S{1,30})?)"
    r"|(?P<path>(?<![\w/.@~-])(?:[\w.@~-]+/)*[\w@-][\w.@-]*\.[a-z][a-z0-9]{0,6}\b(?![/(]))"
    r"|(?P<id>\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b|(?<![\w&/#])#\d{2,6}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b)"
    rf"|(?P<name>\b(?:{_CODE}_{_CODE}|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+)\b)"
    r"|(?P<number>(?<![\w.,:/#+-])[$€£]?\d(?:[\d,_]*\d)?(?:\.\d+)*(?![\w.,]*\d))"
    r"|(?P<proper>(?<=[a-zà-ÿ,] )[A-ZÀ-ÞА-Я][\w'’-]{3,}(?: [A-ZÀ-ÞА-Я][\w'’-]+){0,3})(?!:)"
)

MOST_WORDS = {"code": 6, "path": 1, "flag": 1, "id": 1, "name": 1, "quoted": 3, "number": 1, "proper": 4}
"""Most words of a term by kind, most specific kind first."""

_COMMON_TERMS = (
    "main master true false null none yes no ok todo git npm node python python3 pytest bash http https localhost "
    "utf-8 utf8 json yaml toml markdown readme.md package.json pyproject.toml cargo.toml makefile dockerfile "
    "tsconfig.json claude.md agents.md gemini.md index.html index.ts index.js main.py setup.py __init__.py e.g i.e etc "
    "github.com javascript typescript github gitlab user users string error test tests file files id name async await "
    "bool int str macos windows linux english --help --version --force classname usestate useeffect usememo "
    "usecallback useref usecontext reactnode innerhtml addeventlistener queryselector tostring console.log json.parse "
    "json.stringify localstorage try/catch try/except read/write and/or either/or stdin/stdout node_modules sys.path "
    "os.environ process.env print() main() init() async/await ok/error true/false return origin/main origin/master "
    "components/ src/ lib/ test/ tests/ utils/ docs/ hooks/ types/ "
    "database_url setup.cfg requirements.txt font-medium font-bold collections.abc os.path"
)

_COMMON = frozenset(_COMMON_TERMS.split())
"""Terms that are easily guessed."""

_OF_SESSION = re.compile(r"\d|_|/|\w\.\w|\w-\w|[a-z][A-Z]\w*[a-z][A-Z]|\w \w|^--")


def is_specific_term(term: str) -> bool:
    """True for a term of this session rather than general vocabulary: with a digit, several parts or words."""
    return _OF_SESSION.search(term) is not None


_NARRATES = re.compile(
    r"^\W*(?:let me|let's|let us|now|next|first|i(?:'|’)ll|i(?:'|’)m|i am|we(?:'|’)re|i will|i need|i want|i should|"
    r"i can|i see|perfect|great|good|excellent|okay|ok|looking at|checking|wait|hmm|actually,|so |then|also|alright)\b",
    re.IGNORECASE,
)
"""Beginnings with which an agent narrates its next step: not worth asking about."""

_LISTED = re.compile(
    r"[|{}<>\\;↑↓─│•✓✗]|=>|->|\bdef |\bimport |https?://|\d:\d\d:\d\d| {3}"
    r"|^\S+:\d+:|^\[[A-Z]+\]|^-{2,}|^\S+[$#%] |@\S+ \S+ [%$#] "
)
"""Code, tables, logs and markup, which are no sentences."""


def is_worth_asking(sentence: str, *, agents: bool) -> bool:
    """True if a sentence is complete prose of fitting length and, from an agent, does not narrate."""
    if not 30 <= len(sentence) <= LONGEST or "\n" in sentence or _LISTED.search(sentence):
        return False
    if BLANK in sentence or sentence.rstrip("*_ ").endswith((":", "?", "…")) or sentence.count("`") % 2:
        return False
    return not (agents and _NARRATES.search(sentence))


def terms_of(sentence: str, *, agents: bool) -> Iterator[str]:
    """Yield terms that could be left blank, most specific kind first: code, paths, options, ids, names, quotations,
    numbers, and proper names in the user's text."""
    found = list(_TERMS.finditer(sentence))
    for sort, most in MOST_WORDS.items():
        for match in found if sort != "proper" or not agents else ():
            term = match["in"] if sort == "quoted" and match[sort] else match[sort]
            if term is not None and len(term.split()) <= most and _is_balanced(term):
                yield term


def _is_balanced(term: str) -> bool:
    return all(term.count(one) == term.count(other) for one, other in ("()", "[]", "{}"))


def with_blank(sentence: str, term: str, fewest: int = FEWEST_WORDS) -> str | None:
    """Return the sentence with a blank for the term; None if the term is common, can be guessed or leaves too few
    words."""
    low = term.lower()
    fewest_letters = FEWEST_LETTERS if term.isascii() and term.isalpha() else 2
    if low in _COMMON or len(term) < fewest_letters or _YEAR.fullmatch(term) or _LINE.search(term):
        return None
    if sum(map(str.isalnum, term)) < 2:
        return None
    rest = without_term(sentence, term)
    if rest.count(" ") < 1 or len(rest) != len(sentence) - len(term) + 1 or len(words_of(rest)) < fewest:
        return None  # absent, repeated, or without enough words around it
    parts = [part for part in re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", term) if len(part) >= 4]
    parts += [part for part in re.split(r"\W+|_", low) if len(part) >= 4]
    if any(part.lower()[:5] in rest.lower() for part in parts):
        return None
    at = re.search(re.escape(term), sentence, re.IGNORECASE)
    assert at is not None
    frame = sentence[: at.start()] + BLANK + sentence[at.end() :]
    return None if _IN_CODE.search(frame) or _is_spelled_out(frame, term) else frame


def _is_spelled_out(frame: str, term: str) -> bool:
    """True if the sentence fills its own blank: the abbreviation is spelled out after it, or `100` precedes `%`."""
    if term == "100" and f"{BLANK}%" in frame:
        return True
    found = _SPELLED_OUT.search(frame)
    words = re.findall(r"\w+", found[1]) if found else []
    return bool(words) and "".join(word[0] for word in words).lower() == _letters(term)


def _letters(term: str) -> str:
    return "".join(filter(str.isalpha, term)).lower()


_IN_CODE = re.compile(
    rf"\w[.(]{BLANK}|{BLANK}\(|[/\\_@.-]{BLANK}|{BLANK}(?:[/\\_@-]|[.]\w)|\blines? {BLANK}"
    rf"|\b(?:RFC|HTTP|Python|Java|Node|ES|PHP|Ruby) {BLANK}",
    re.IGNORECASE,
)
"""Contexts of terms that are code, parts of names, well-known standards, or line numbers, which change with every
edit."""

_SPELLED_OUT = re.compile(rf"{BLANK} \(([^()]{{4,80}})\)")

_YEAR = re.compile(r"(?:19|20)\d\d")

_LINE = re.compile(r"\.\w{1,5}:\d+$")
"""Line of a file, which changes with every edit."""


def is_unique(frame: str, term: str, text: str) -> bool:
    """True if `term` is in the blank wherever the words around it occur. `text`: all texts of the session on one
    line."""
    before, _, after = frame.partition(BLANK)
    found = _in_place(before[-AROUND:], after[:AROUND], text)
    return all(contains_term(term, one) and len(one) <= len(term) + 2 for one in found)


def _in_place(before: str, after: str, text: str) -> Iterator[str]:
    """Yield each text of at most 80 characters between `before` and `after` in `text`."""
    if before or not after:
        pattern = re.escape(before) + (r"(.{1,80}?)" if after else r"(\S{1,80})") + re.escape(after)
        yield from re.findall(pattern, text)
        return
    at = 0
    while (stop := text.find(after, at + 1)) >= 0:  # not a pattern, which would search for `after` from every character
        yield text[max(at, stop - 80) : stop]
        at = stop + len(after)


FEWEST_BESIDE_AN_ERROR = 3
"""Fewest meaningful words next to a blank in an error; few suffice, because the question names the failed command."""

LONGEST_COMMAND = 100

AGENT = "agent"

AGENT_SAID = f"from an {AGENT} message"


@dataclass(frozen=True, slots=True)
class ProbeCandidate:
    """Possible question about message `index`; a larger `rank` is chosen first. `frame`, the sentence with its blank,
    must fit no other answer in the session."""

    probe: Probe
    index: int
    rank: float
    frame: str = ""


class ProbedContext:
    """Context that questions are generated from."""

    def __init__(self, shape: Shape, folder: str) -> None:
        self.shape, self.folder = shape, folder
        self.messages = shape.masked

    @cached_property
    def flat(self) -> str:
        """All texts on one line."""
        return " ".join(" ".join(text.split()) for message in self.messages for text in texts_of(message))

    @cached_property
    def paths(self) -> frozenset[str]:
        """All files that are mentioned, without the project's folder."""
        read = Mentions()
        for message in self.messages:
            for text in texts_of(message):
                read.add_paths(text, self.folder)
        facts = (plain_path(fact.text, self.folder) for fact in facts_of(self.shape) if fact.kind == "path")
        return frozenset(read.paths | set(facts))

    @cached_property
    def ends(self) -> Counter[str]:
        """Number of files by each end of their path: `a/b/c.py` counts for `c.py`, `b/c.py` and itself."""
        split = (path.split("/") for path in self._unnested)
        return Counter("/".join(parts[at:]) for parts in split for at in range(len(parts)))

    @cached_property
    def _unnested(self) -> frozenset[str]:
        """The files, each under its longest path: `c.py` and `b/c.py` may be the file `a/b/c.py`."""
        ends = {
            "/".join(parts[at:]) for path in self.paths if (parts := path.split("/")) for at in range(1, len(parts))
        }
        return frozenset(path for path in self.paths if path not in ends)

    def file(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return a path as the answer, and the shortest end of it that no other file of the session has, if any:
        `c.py` for `a/b/c.py`, or `b/c.py` next to another `c.py`."""
        plain = plain_path(normal_path(path), self.folder)
        parts = plain.split("/")
        ends = ("/".join(parts[at:]) for at in reversed(range(1, len(parts))))
        return plain, tuple(end for end in ends if self.ends[end] <= 1)[:1]


def sentence_questions(source: ProbedContext) -> Iterator[ProbeCandidate]:
    """Yield questions from rules and decisions, from other sentences of the user and the agent, and from errors."""
    yield from _rules_and_decisions(source)
    yield from _user_sentences(source)
    yield from _agent_sentences(source)
    yield from _errors(source)


def _user_sentences(source: ProbedContext) -> Iterator[ProbeCandidate]:
    superseded = superseded_texts(source.shape)
    binding = {one.text.lower() for _, one in _binding_facts(source)}
    for index, words in typed_texts(source.messages):
        for sentence in sentences(without_paste(words)):
            low = sentence.lower()
            if low not in superseded | binding and is_worth_asking(sentence, agents=False):
                yield from _blank(source, "recall", "from a user message", sentence, index, 3)


def _binding_facts(source: ProbedContext) -> list[tuple[ProbeKind, Fact]]:
    """Return the rules in force and the decisions, without answers to questions, which have a question already."""
    superseded = superseded_texts(source.shape)
    rules = [one.fact for one in standing_of(source.shape) if not one.superseded_by]
    known = {fact.text.lower() for fact in rules} | superseded
    decisions = [
        fact
        for fact in facts_of(source.shape)
        if fact.kind == "decision" and not fact.detail and fact.text.lower() not in known
    ]
    return [*(("instruction", fact) for fact in rules), *(("decision", fact) for fact in decisions)]


def _rules_and_decisions(source: ProbedContext) -> Iterator[ProbeCandidate]:
    """Yield the questions about each rule in force and each decision: with a blank, or by its first words."""
    several = _binding_facts(source)
    begins = [" ".join(fact.text.lower().split()) for _, fact in several]
    for kind, fact in several:
        who = "user" if kind == "instruction" or fact.by == "user" else AGENT
        rank = 6 if kind == "instruction" else 5 if who == "user" else 3
        noun = "rule" if kind == "instruction" else "decision"
        sentence = " ".join(fact.text.split())
        if is_worth_asking(sentence, agents=False):
            yield from _blank(source, kind, f"from a {noun} of the {who}", sentence, fact.index, rank)
        verb = "gave" if kind == "instruction" else "made"
        yield from by_beginning(
            source, kind, f"The {who} {verb} a {noun}", noun, sentence, fact.index, begins, rank - 1
        )


def _agent_sentences(source: ProbedContext) -> Iterator[ProbeCandidate]:
    binding = {fact.text.lower() for _, fact in _binding_facts(source)}
    for index, message in enumerate(source.messages):
        for sentence in sentences(message_prose(message)) if is_agent_message(message) else ():
            if sentence.lower() not in binding and is_worth_asking(sentence, agents=True):
                yield from _blank(source, "recall", AGENT_SAID, sentence, index, 1)


def _blank(
    source: ProbedContext, kind: ProbeKind, what: str, sentence: str, index: int, rank: float
) -> Iterator[ProbeCandidate]:
    """Yield at most one question: the sentence without the first term that can be left out."""
    for term in terms_of(sentence, agents=AGENT in what):
        frame = with_blank(sentence, term)
        if frame is None or (what == AGENT_SAID and not is_specific_term(term)):
            continue
        names_file = is_file(term)
        accept = source.file(term)[1] if names_file else ()
        kind = "artifact" if kind == "recall" and names_file else kind
        question = f'Fill in the blank ({what}): "{frame}"'
        words = len(words_of(frame.replace(BLANK, " ")))
        yield ProbeCandidate(
            Probe(kind, question, term, accept, source=source.messages[index].id, says=sentence),
            index,
            rank + min(words, 20) / 20,
            frame,
        )
        return


BEGINNING = 3
"""Number of first words of a sentence that the question quotes; more if none of them is meaningful, or if another
sentence begins with the same words."""


def by_beginning(
    source: ProbedContext,
    kind: ProbeKind,
    opening: str,
    noun: str,
    sentence: str,
    index: int,
    others: Collection[str],
    rank: float,
) -> Iterator[ProbeCandidate]:
    """Yield at most one question. It quotes the first words of a sentence, with which no other of `others` (lower case)
    begins, and asks for the whole sentence. The answer is judged by its sense."""
    words = sentence.split()
    for size in range(BEGINNING, len(words) // 2 + 1):
        begins, rest = " ".join(words[:size]), " ".join(words[size:])
        if words_of(begins) and sum(other.startswith(begins.lower()) for other in others) <= 1:
            break
    else:
        return
    if len(sentence) > LONGEST or len(words_of(rest)) < 3 or _LISTED.search(sentence):
        return
    question = f'{opening} that begins "{begins} …". What is the whole {noun}?'
    yield ProbeCandidate(Probe(kind, question, sentence, (), True, source.messages[index].id, sentence), index, rank)


def is_file(term: str) -> bool:
    """True for a path or file name, unlike the name of a product (`Node.js`)."""
    read = Mentions()
    read.add(term, "")
    return plain_path(term, "") in read.paths and not _PRODUCT.fullmatch(term)


_PRODUCT = re.compile(r"[A-Z][a-z]+\.js")


def _errors(source: ProbedContext) -> Iterator[ProbeCandidate]:
    for fact in facts_of(source.shape):
        if fact.kind != "error" or not is_worth_asking(fact.text, agents=False):
            continue
        command = " ".join(fact.detail.split()).strip("`")
        names_command = bool(command) and len(command) <= LONGEST_COMMAND
        for term in terms_of(fact.text, agents=True):
            frame = with_blank(fact.text, term, FEWEST_BESIDE_AN_ERROR)
            if frame is None or (names_command and contains_term(term, command)):
                continue
            of = f" of `{command}`" if names_command else ""
            question = f'Fill in the blank (from an error message{of}): "{frame}"'
            yield ProbeCandidate(
                Probe("recall", question, term, (), False, fact.message, fact.text), fact.index, 2, frame
            )
            break
