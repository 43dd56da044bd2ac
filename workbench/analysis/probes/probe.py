"""Probe: a question about a session with one exact answer and its source message; and the grading of replies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

ProbeKind = Literal["recall", "artifact", "continuation", "decision", "instruction", "control"]
KINDS: tuple[ProbeKind, ...] = get_args(ProbeKind)
"""Kinds: `recall` asks for a value, name or error, `artifact` for a file, `continuation` for the state of the work,
`decision` for a decision, `instruction` for a rule of the user. A `control` has no answer, and "not known" is right."""

NOT_KNOWN = "not known"
"""Answer if the context does not say."""

BLANK = "____"


@dataclass(frozen=True, slots=True)
class Probe:
    """One question. `answer` is the right answer, "" for a control; each of `accept` is also right. `prose`: answers
    are judged by their sense. `source` is the id of the message with the answer, `says` the sentence or line there.
    `used`: the session needed the answer later."""

    kind: ProbeKind
    question: str
    answer: str
    accept: tuple[str, ...] = ()
    prose: bool = False
    source: str = ""
    says: str = ""
    used: bool = False

    @property
    def about(self) -> str:
        """Text around the answer, whose words identify a line with the answer."""
        return without_term(self.says or self.question, self.answer)


Mark = Literal["exact", "alike", "judged", "wrong", "not known", "unanswered"]
"""Grade of a reply. `alike`: equal except for case, quotes and the like; `judged`: a judge found the sense right;
`unanswered`: no reply."""

RIGHT: frozenset[Mark] = frozenset({"exact", "alike", "judged"})


def mark_reply(probe: Probe, reply: str | None) -> Mark:
    """Grade a reply without a model. Prose must match verbatim; a judge may accept other replies later."""
    if reply is None or not reply.strip():
        return "unanswered"
    unknown = is_not_known(reply)
    if probe.kind == "control":
        return "exact" if unknown else "wrong"
    if reply.strip() == probe.answer:
        return "exact"
    if unknown and _normalized(reply) not in map(_normalized, (probe.answer, *probe.accept)):
        return "not known"
    return "alike" if any(_is_alike(reply, right) for right in (probe.answer, *probe.accept)) else "wrong"


def is_not_known(reply: str) -> bool:
    """True for a reply that declines to answer."""
    return _UNKNOWN.match(_normalized(reply)) is not None


_UNKNOWN = re.compile(
    r"(?:it is |this is |that is |i )?(?:do )?"
    r"(?:not known|unknown|don't know|not know|not stated|not mentioned|n/a|na$)\b"
)
LONGER = 8
"""Most extra words of a reply around the answer: "the file is src/a.py"."""


def _is_alike(reply: str, right: str) -> bool:
    given, answer = _normalized(reply), _normalized(right)
    if not answer:
        return False
    if given == answer or _digits(given) == _digits(answer) or _same_file(given, answer):
        return True
    if len(given.split()) > len(answer.split()) + LONGER or re.search(r"\bor\b|\bnot\b", given.replace(answer, " ")):
        return False
    return contains_term(answer, given)


def _same_file(reply: str, answer: str) -> bool:
    """True if one path ends with the other; a reply without a folder must be the whole answer."""
    if " " in reply or not ("." in answer or "/" in answer):
        return False
    return reply.endswith(f"/{answer.lstrip('./')}") or ("/" in reply and answer.endswith(f"/{reply.lstrip('./')}"))


def _digits(text: str) -> str:
    return re.sub(r"(?<=\d)[,_ \u202f](?=\d{3}\b)", "", text)


def _normalized(text: str) -> str:
    """Return a text in lower case on one line, without emphasis and surrounding quotes and punctuation."""
    flat = " ".join(text.replace("’", "'").replace("**", "").replace("`", "").lower().split())
    return flat.strip(" \"'“”«».,;:!?()[]*").removeprefix("./").removeprefix("the ")


def contains_term(term: str, text: str) -> bool:
    """True if a term occurs by itself, in any case: not within a longer word or number."""
    return _by_itself(term).search(text) is not None


def without_term(text: str, term: str) -> str:
    """Return a text without a term that occurs by itself."""
    return _by_itself(term).sub(" ", text) if term else text


def _by_itself(term: str) -> re.Pattern[str]:
    before = r"(?<![\w])" if term[:1].isalnum() or term[:1] == "_" else ""
    after = r"(?!\w|[.,]\d)" if term[-1:].isalnum() or term[-1:] == "_" else ""
    return re.compile(before + re.escape(term) + after, re.IGNORECASE)
