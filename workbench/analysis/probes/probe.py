"""What a probe is: a question about a session that has one exact answer, the message that gives it, and what counts as
the same answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

ProbeKind = Literal["recall", "artifact", "continuation", "decision", "instruction", "control"]
KINDS: tuple[ProbeKind, ...] = get_args(ProbeKind)
"""`recall`: a value, a name, an error that was told; `artifact`: which file it is; `continuation`: where the work
stands; `decision`: what was settled; `instruction`: what the user set for good; `control`: nothing tells it, and the
right answer is that it is not known."""

NOT_KNOWN = "not known"
"""What is to be answered where the context does not tell."""

BLANK = "____"


@dataclass(frozen=True, slots=True)
class Probe:
    """One question. `answer` is the right one, "" of a control; each of `accept` is as right. `prose`: the answer is
    said in sentences, and its sense counts. `source` is the id of the message that tells it, `says` the sentence or
    line there, with the answer in it. `used`: the rest of the session really needed it."""

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
        """What a line that gives the answer says beside it."""
        return standing_out(self.says or self.question, self.answer)


Mark = Literal["exact", "alike", "judged", "wrong", "not known", "unanswered"]
"""How a reply stands to the right answer. `alike`: the same but for case, quotes and the like; `judged`: a judge found
the sense right; `unanswered`: no reply came."""

RIGHT: frozenset[Mark] = frozenset({"exact", "alike", "judged"})


def marked(probe: Probe, reply: str | None) -> Mark:
    """By code alone: of prose only its very words are right, and a judge may be asked of the rest."""
    if reply is None or not reply.strip():
        return "unanswered"
    unknown = is_not_known(reply)
    if probe.kind == "control":
        return "exact" if unknown else "wrong"
    if reply.strip() == probe.answer:
        return "exact"
    if unknown and _bare(reply) not in map(_bare, (probe.answer, *probe.accept)):
        return "not known"
    return "alike" if any(_alike(reply, right) for right in (probe.answer, *probe.accept)) else "wrong"


def is_not_known(reply: str) -> bool:
    return _UNKNOWN.match(_bare(reply)) is not None


_UNKNOWN = re.compile(
    r"(?:it is |this is |that is |i )?(?:do )?"
    r"(?:not known|unknown|don't know|not know|not stated|not mentioned|n/a|na$)\b"
)
LONGER = 8
"""In a reply of so many words more the answer may stand: "the file is src/a.py"."""


def _alike(reply: str, right: str) -> bool:
    said, wanted = _bare(reply), _bare(right)
    if not wanted:
        return False
    if said == wanted or _digits(said) == _digits(wanted) or _same_file(said, wanted):
        return True
    if len(said.split()) > len(wanted.split()) + LONGER or re.search(r"\bor\b|\bnot\b", said.replace(wanted, " ")):
        return False
    return stands_in(wanted, said)


def _same_file(said: str, wanted: str) -> bool:
    """A path told from further up is the same, and one from further down while it has a folder."""
    if " " in said or not ("." in wanted or "/" in wanted):
        return False
    return said.endswith(f"/{wanted.lstrip('./')}") or ("/" in said and wanted.endswith(f"/{said.lstrip('./')}"))


def _digits(text: str) -> str:
    return re.sub(r"(?<=\d)[,_ \u202f](?=\d{3}\b)", "", text)


def _bare(text: str) -> str:
    """In lower case, on one line, without quotes and marks around it."""
    flat = " ".join(text.replace("’", "'").replace("**", "").replace("`", "").lower().split())
    return flat.strip(" \"'“”«».,;:!?()[]*").removeprefix("./").removeprefix("the ")


def stands_in(term: str, text: str) -> bool:
    """Whether a term stands in a text by itself, in whatever case: no part of a longer word or number."""
    return _by_itself(term).search(text) is not None


def standing_out(text: str, term: str) -> str:
    """A text without a term that stands in it by itself."""
    return _by_itself(term).sub(" ", text) if term else text


def _by_itself(term: str) -> re.Pattern[str]:
    before = r"(?<![\w])" if term[:1].isalnum() or term[:1] == "_" else ""
    after = r"(?!\w|[.,]\d)" if term[-1:].isalnum() or term[-1:] == "_" else ""
    return re.compile(before + re.escape(term) + after, re.IGNORECASE)
