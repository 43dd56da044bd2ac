"""Messages of real sessions with every fact in them labelled by hand, and how well `find` does on them.

A file of `tests/facts/labelled/` holds short quotes of one session (its source and licence beside it):

- `stretches`: messages in a row, with every fact that a reader finds in them as (message, kind, text);
- `users`: all of the user's own messages, with the standing instructions among their sentences;
- `failures`: calls that did not succeed, with what went wrong ("" where nothing did: a search without a hit).

What counts: a request is any message of the user's that wants something or answers a question, applause is none. An
instruction holds beyond the request it stands in; how that is to be done is a part of the request. A decision settles
a choice. An identifier is an id at its first mention, a name of code or of a branch at its second. A number is one that
a reader would miss.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.facts.all_facts import find_facts
from workbench.facts.fact import FactKind
from workbench.facts.pastes import passages
from workbench.facts.wording import lines, sentence_spans
from workbench.session import Block, Message, Text, ToolResult, ToolUse

HERE = Path(__file__).with_name("labelled")

Found = tuple[str, str]
"""Message and text."""


@dataclass
class Score:
    """Counts of one kind: labelled and found, found and not labelled, labelled and not found."""

    right: int = 0
    wrong: list[Found] = field(default_factory=list)
    missed: list[Found] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / (self.right + len(self.wrong) or 1)

    @property
    def recall(self) -> float:
        return self.right / (self.right + len(self.missed) or 1)

    @property
    def labelled(self) -> int:
        return self.right + len(self.missed)


def scores(names: Iterable[str]) -> dict[str, Score]:
    """By kind, over the files named."""
    total: dict[str, Score] = {}
    for name in names:
        data = json.loads((HERE / f"{name}.json").read_text("utf-8"))
        for kind, found, labelled in _compared(data):
            _count(total.setdefault(kind, Score()), kind, found, labelled)
    return total


def _compared(data: dict[str, Any]) -> Iterator[tuple[FactKind, list[Found], list[Found]]]:
    for stretch in data["stretches"]:
        facts = find_facts([_message(one) for one in stretch["messages"]])
        kinds: list[FactKind] = ["request", "decision", "path", "command", "error", "identifier", "number", "url"]
        for kind in kinds:
            found = list(dict.fromkeys((fact.message, fact.text) for fact in facts if fact.kind == kind))
            yield kind, found, [(id, text) for id, one, text in stretch["facts"] if one == kind]
    for user in data["users"]:
        facts = find_facts([_message({**user, "role": "user"})])
        found = [(fact.message, fact.text) for fact in facts if fact.kind == "instruction"]
        yield "instruction", found, [(user["id"], text) for text in user["instructions"]]
    for failure in data.get("failures", ()):
        call = {"id": "1", **failure["call"]}
        answer = {"id": "1", "text": failure["text"], "error": failure.get("is_error", False)}
        messages = [
            _message({"id": "call", "role": "assistant", "calls": [call]}),
            _message({"id": failure["id"], "role": "tool", "results": [answer]}),
        ]
        found = [(fact.message, fact.text) for fact in find_facts(messages) if fact.kind == "error"]
        yield "error", found, [(failure["id"], failure["error"])] if failure["error"] else []


def _message(one: dict[str, Any]) -> Message:
    blocks: list[Block] = [Text(one["text"])] if "text" in one else []
    blocks += [ToolUse(call["id"], call["name"], call["input"]) for call in one.get("calls", ())]
    blocks += [
        ToolResult(answer["id"], (Text(answer["text"]),), answer.get("error", False))
        for answer in one.get("results", ())
    ]
    return Message(one["id"], one["role"], tuple(blocks), one.get("kind", "normal"))


def _count(score: Score, kind: FactKind, found: Sequence[Found], labelled: Sequence[Found]) -> None:
    left = list(labelled)
    for one in found:
        hit = next((label for label in left if _same(kind, one, label)), None)
        if hit is None:
            score.wrong.append(one)
        else:
            left.remove(hit)
            score.right += 1
    score.missed.extend(left)


def _same(kind: FactKind, found: Found, label: Found) -> bool:
    """A path may be labelled by its end (`=` before it: it is all of it), a command by its beginning, an error by a
    part or by several that will do; an identifier by its text alone."""
    (at, text), (where, said) = found, label
    match kind:
        case "identifier":
            return text == said
        case "request":
            return at == where
        case "path":
            return at == where and (text == said[1:] if said[0] == "=" else text == said or text.endswith("/" + said))
        case "command":
            return at == where and " ".join(text.split()).startswith(said)
        case "error":
            return at == where and any(part in text for part in said.split("|"))
        case "number":
            return at == where and (said in text or text in said)
        case "instruction":  # which takes along the sentence that it leans on
            return at == where and " ".join(text.split()).strip("\"'*").endswith(" ".join(said.split()).strip("\"'*"))
    return at == where and " ".join(text.split()).strip("\"'") == " ".join(said.split()).strip("\"'")


# --- pastes -----------------------------------------------------------------------------------------------------------

PASTES = Path(__file__).with_name("labelled_pastes.json")
"""Invented user messages of each class at its borders; `⟦…⟧` marks what is pasted."""


@dataclass
class PasteScore:
    """Typed sentences and those not found to be typed; characters of pastes and of those not found."""

    typed: int = 0
    lost: list[str] = field(default_factory=list)
    pasted_chars: int = 0
    missed_chars: int = 0


def marked_pastes(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Text without its marks, and the spans that they marked."""
    plain, spans = "", []
    for part in text.split("⟦"):
        pasted, mark, rest = part.partition("⟧")
        if mark:
            spans.append((len(plain), len(plain) + len(pasted)))
        plain += pasted + rest
    return plain, spans


def paste_scores() -> PasteScore:
    score = PasteScore()
    for one in json.loads(PASTES.read_text("utf-8")):
        text, spans = marked_pastes(one["text"])
        pasted = {at for start, stop in spans for at in range(start, stop) if not text[at].isspace()}
        found = {at for part in passages(text) if not part.own for at in range(part.start, part.stop)}
        score.pasted_chars += len(pasted)
        score.missed_chars += len(pasted - found)
        for line in lines(text):
            for start, stop in sentence_spans(text, line):
                typed = {at for at in range(start, stop) if not text[at].isspace()} - pasted
                score.typed += bool(typed)
                score.lost += [text[start:stop]] if typed & found else []
    return score
