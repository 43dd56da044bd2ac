"""Probe: a question about a session with one exact answer and its source message; the grading of replies; its file.

Probes are kept in `NAME.probes.toml` next to the session, to read and edit by hand:

    [[probe]]
    kind = "decision"
    question = "Which queue was chosen?"
    answer = "NATS"
    accept = ["nats.io"]        # as right as the answer
    source = "msg_12"           # message with the answer
    says = "We go with NATS."   # sentence with the answer

Required: `kind`, `question` and, except for a control, `answer`. With `prose = true` the answer is judged by its sense.
Without a `source` the message with the answer is searched for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import tomlkit

from workbench.base.errors import BadInput
from workbench.base.files import reason, write_atomically
from workbench.base.reading import read_file
from workbench.session import Session

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
    `used`: the session used the answer later."""

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
    """Grade a reply without a model, prose like any other; a judge may later accept prose that is "wrong" here."""
    if reply is None or not reply.strip():
        return "unanswered"
    unknown = is_not_known(reply)
    if probe.kind == "control":
        return "exact" if unknown else "wrong"
    if reply.strip() == probe.answer:
        return "exact"
    if unknown and _normalized(reply) not in map(_normalized, (probe.answer, *probe.accept)):
        return "not known"
    alike = any(_is_alike(reply, right) for right in (probe.answer, *probe.accept))
    return "alike" if alike and not _names_another_file(reply, probe) else "wrong"


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
    reply_text, answer = _normalized(reply), _normalized(right)
    if not answer:
        return False
    if reply_text == answer or _digits(reply_text) == _digits(answer) or _same_file(reply_text, answer):
        return True
    if len(reply_text.split()) > len(answer.split()) + LONGER or re.search(
        r"\bor\b|\bnot\b", reply_text.replace(answer, " ")
    ):
        return False
    return contains_term(answer, reply_text)


def _same_file(reply: str, answer: str) -> bool:
    """True if a path ends with the answer. Shorter ends of the answer are right only if the probe accepts them: another
    file may end so too."""
    return " " not in reply and ("." in answer or "/" in answer) and reply.endswith(f"/{answer.lstrip('./')}")


def _names_another_file(reply: str, probe: Probe) -> bool:
    """True if a reply has an accepted end of the answer's path in another folder: `docs/a.py` for `src/a.py`."""
    replied, answer = _normalized(reply), _normalized(probe.answer)
    for end in map(_normalized, probe.accept):
        if not answer.endswith(f"/{end}"):
            continue
        found = re.findall(rf"[^\s`'\"()]*/{re.escape(end)}(?!\w)", replied)
        if any(not f"/{one}".endswith(f"/{answer}") and not answer.endswith(f"/{one.lstrip('/')}") for one in found):
            return True
    return False


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


SUFFIX = ".probes.toml"

_TEXTS = ("kind", "question", "answer", "source", "says")

_FLAGS = ("prose", "used")

_FIELDS = (*_TEXTS, "accept", *_FLAGS)

_HEAD = re.compile(r"^[ \t]*\[\[[ \t]*[\"']?probe[\"']?[ \t]*\]\]")


def probes_path(session: Session) -> Path | None:
    """Return the path of the probes of a session, with its part's name if the file has several; None without a file."""
    if session.path is None:
        return None
    part = _ODD.sub("-", session.facts.part)[:64]
    return session.path.with_name((session.path.stem or session.path.name) + (f".{part}" if part else "") + SUFFIX)


_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def read_probes(path: Path) -> tuple[Probe, ...]:
    """Read the probes of a file, in order. Raises BadInput, with the line, for an invalid file."""
    try:
        text = read_file(path).decode("utf-8-sig")
        document = tomllib.loads(text)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read: {reason(error)}; `cwb retention FILE --ask --write` makes one."
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}, line {line}: not UTF-8; save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path}: not valid TOML: {error}; correct it, or create the file again.") from None
    if stray := [name for name in document if name != "probe"]:
        line = _line_of(text, stray[0])
        raise BadInput(f"{path}, line {line}: {stray[0]!r} is unknown; each question is a table [[probe]].")
    tables = document.get("probe", [])
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        raise BadInput(f"{path}: it has no question; each is a table [[probe]] with kind, question and answer.")
    lines = _Lines(path, text, len(tables))
    probes = tuple(_probe(lines, number, table) for number, table in enumerate(tables))
    first_places: dict[str, int] = {}
    for number, probe in enumerate(probes):
        if (before := first_places.setdefault(probe.question, number)) != number:
            first = lines.of(before, "question")
            raise BadInput(f"{lines.at(number, 'question')}: same question as line {first}; remove one of them.")
    return probes


class _Lines:
    """Line numbers of tables and keys, for error messages."""

    def __init__(self, path: Path, text: str, tables: int) -> None:
        self._path, self._lines = path, text.split("\n")
        heads = [number for number, line in enumerate(self._lines) if _HEAD.match(line)]
        self._heads = [*heads, *[0] * (tables - len(heads)), len(self._lines)]

    def of(self, number: int, key: str = "") -> int:
        """Return the line, from 1, of a key of table `number`; of the table if the key is not found."""
        first, stop = self._heads[number], self._heads[number + 1]
        assignment = re.compile(rf"[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*=")
        places = (at for at in range(first, stop) if key and assignment.match(self._lines[at]))
        return next(places, first) + 1

    def at(self, number: int, key: str = "") -> str:
        return f"{self._path}, line {self.of(number, key)}"


def _probe(lines: _Lines, number: int, table: dict[str, Any]) -> Probe:
    for name, value in table.items():
        place = lines.at(number, name)
        if name not in _FIELDS:
            raise BadInput(f"{place}: a probe has no {name!r}; it has {', '.join(_FIELDS)}.")
        if name in _TEXTS and not isinstance(value, str):
            raise BadInput(f"{place}: {name} is a text; put it in quotes.")
        if name in _FLAGS and not isinstance(value, bool):
            raise BadInput(f"{place}: {name} is true or false.")
        if name == "accept" and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            raise BadInput(f'{place}: accept is a list of texts, as in ["src/a.py", "a.py"].')
    if table.get("kind") not in KINDS:
        raise BadInput(f"{lines.at(number, 'kind')}: kind is one of {', '.join(KINDS)}.")
    if not table.get("question", "").strip():
        raise BadInput(f"{lines.at(number, 'question')}: there is no question; write one.")
    control, answer = table["kind"] == "control", table.get("answer", "").strip()
    if control == bool(answer):
        wrong = "a control has no answer; remove it" if control else "there is no answer; write one"
        raise BadInput(f"{lines.at(number, 'answer')}: {wrong}.")
    return Probe(
        table["kind"],
        table["question"].strip(),
        answer,
        tuple(table.get("accept", ())),
        table.get("prose", False),
        table.get("source", ""),
        table.get("says", ""),
        table.get("used", False),
    )


def _line_of(text: str, name: str) -> int:
    return next((number for number, line in enumerate(text.split("\n"), 1) if name in line), 1)


def probes_toml(probes: Sequence[Probe]) -> str:
    """Return the text that `read_probes` reads back. Lone surrogates become `?`."""
    document = tomlkit.document()
    document.add(tomlkit.comment("Questions about the session next to this file; change, remove or add any."))
    tables = tomlkit.aot()
    for probe in probes:
        table = tomlkit.table()
        for name, value in _values(probe):
            table[name] = value
        tables.append(table)
    document["probe"] = tables
    return tomlkit.dumps(document)


def _values(probe: Probe) -> Iterator[tuple[str, Any]]:
    for name in _FIELDS:
        value = getattr(probe, name)
        if isinstance(value, str):
            value = value.encode("utf-8", "replace").decode()
        if value:
            yield name, list(value) if name == "accept" else value


def write_probes(path: Path, probes: Sequence[Probe]) -> None:
    """Write a new file of probes. Raises BadInput if it exists, because it may have been edited."""
    if path.exists():
        raise BadInput(f"{path} exists; edit its questions, or delete it to create new ones.")
    data = probes_toml(probes).encode()
    write_atomically(path, data, overwrite=False, verify=lambda written: tomllib.loads(written.decode()))
