"""Files of probes: `NAME.probes.toml` next to the session, to read and edit by hand.

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
from pathlib import Path
from typing import Any

import tomlkit

from workbench.analysis.probes.probe import KINDS, Probe
from workbench.base.errors import BadInput
from workbench.base.files import reason, write_atomically
from workbench.base.reading import read_file
from workbench.session import Session

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
        said = re.compile(rf"[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*=")
        places = (at for at in range(first, stop) if key and said.match(self._lines[at]))
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
