"""A sentence with a blank in it: the way to a question whose answer is one term, word for word.

A blank is left only where the rest says enough to know which sentence is meant, does not give the term away, and stands
nowhere in the session with another term in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.analysis.needed_items import words_of
from workbench.analysis.probes.probe import BLANK, standing_out, stands_in

FEWEST_WORDS = 5
"""So many words of weight must stand beside the blank."""

FEWEST_LETTERS = 4
"""Of a Latin word: a shorter one is soon guessed."""

LONGEST = 320
"""Characters of a sentence that is asked about."""

AROUND = 60
"""So many characters on either side say which place it is, where the whole text is searched for it."""

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
"""By the sort of a term, the most telling first: so many words one has at most."""
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
    "setup.cfg requirements.txt font-medium font-bold collections.abc os.path"
)
_COMMON = frozenset(_COMMON_TERMS.split())
"""What anybody would guess."""

_OF_SESSION = re.compile(r"\d|_|/|\w\.\w|\w-\w|[a-z][A-Z]\w*[a-z][A-Z]|\w \w|^--")


def is_telling_term(term: str) -> bool:
    """Whether a term is of this session more than of everybody's trade: it has a digit, several parts or words."""
    return _OF_SESSION.search(term) is not None


_NARRATES = re.compile(
    r"^\W*(?:let me|let's|let us|now|next|first|i(?:'|’)ll|i(?:'|’)m|i am|we(?:'|’)re|i will|i need|i want|i should|"
    r"i can|i see|perfect|great|good|excellent|okay|ok|looking at|checking|wait|hmm|actually,|so |then|also|alright)\b",
    re.IGNORECASE,
)
"""How an agent begins to speak of the step that it takes: nothing that anybody would ask for later."""

_LISTED = re.compile(
    r"[|{}<>\\;↑↓─│•✓✗]|=>|->|\bdef |\bimport |https?://|\d:\d\d:\d\d| {3}"
    r"|^\S+:\d+:|^\[[A-Z]+\]|^-{2,}|^\S+[$#%] |@\S+ \S+ [%$#] "
)
"""Code, tables, logs and markup read as sentences are none."""


def is_telling(sentence: str, *, agents: bool) -> bool:
    """Whether a sentence says something to ask about."""
    if not 30 <= len(sentence) <= LONGEST or "\n" in sentence or _LISTED.search(sentence):
        return False
    if BLANK in sentence or sentence.rstrip("*_ ").endswith((":", "?", "…")) or sentence.count("`") % 2:
        return False
    return not (agents and _NARRATES.search(sentence))


def terms_of(sentence: str, *, agents: bool) -> Iterator[str]:
    """The terms that could be left blank, the most telling sort first: code, paths, options, ids, names, quotations,
    numbers, and what a person writes as a proper name."""
    found = list(_TERMS.finditer(sentence))
    for sort, most in MOST_WORDS.items():
        for match in found if sort != "proper" or not agents else ():
            term = match["in"] if sort == "quoted" and match[sort] else match[sort]
            if term is not None and len(term.split()) <= most and _is_balanced(term):
                yield term


def _is_balanced(term: str) -> bool:
    return all(term.count(one) == term.count(other) for one, other in ("()", "[]", "{}"))


def blanked(sentence: str, term: str, fewest: int = FEWEST_WORDS) -> str | None:
    """The sentence with a blank for the term; None where that is no good question by itself."""
    low = term.lower()
    fewest_letters = FEWEST_LETTERS if term.isascii() and term.isalpha() else 2
    if low in _COMMON or len(term) < fewest_letters or _YEAR.fullmatch(term) or not any(map(str.isalnum, term)):
        return None
    rest = standing_out(sentence, term)
    if rest.count(" ") < 1 or len(rest) != len(sentence) - len(term) + 1 or len(words_of(rest)) < fewest:
        return None  # it stands there not at all or several times, or nothing much beside it
    parts = [part for part in re.split(r"[^a-z0-9]+|(?<=[a-z])(?=[A-Z])", term) if len(part) >= 4]
    parts += [part for part in re.split(r"\W+|_", low) if len(part) >= 4]
    if any(part.lower()[:5] in rest.lower() for part in parts):
        return None
    at = re.search(re.escape(term), sentence, re.IGNORECASE)
    assert at is not None
    frame = sentence[: at.start()] + BLANK + sentence[at.end() :]
    return None if _IN_CODE.search(frame) or _is_spelled_out(frame, term) else frame


def _is_spelled_out(frame: str, term: str) -> bool:
    """Whether the words of which an abbreviation is made stand behind it, or it is all of a hundred."""
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
"""What a language's own words surround is code, and a standard's number known to everybody; a part of a name is no
term; and the number of a line is another one after every edit."""
_SPELLED_OUT = re.compile(rf"{BLANK} \(([^()]{{4,80}})\)")
_YEAR = re.compile(r"(?:19|20)\d\d")


def is_alone(frame: str, term: str, text: str) -> bool:
    """Whether every place of `text` (on one line) that reads as the words around the blank has the same term there."""
    before, _, after = frame.partition(BLANK)
    found = _in_place(before[-AROUND:], after[:AROUND], text)
    return all(stands_in(term, one) and len(one) <= len(term) + 2 for one in found)


def _in_place(before: str, after: str, text: str) -> Iterator[str]:
    """What stands in `text` between the words on either side, 80 characters of it at most."""
    if before or not after:
        pattern = re.escape(before) + (r"(.{1,80}?)" if after else r"(\S{1,80})") + re.escape(after)
        yield from re.findall(pattern, text)
        return
    at = 0
    while (stop := text.find(after, at + 1)) >= 0:  # an expression would look for `after` from every character on
        yield text[max(at, stop - 80) : stop]
        at = stop + len(after)
