"""Sentences that the user typed, in order, with a note in the place of each paste."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from workbench.base.figures import grouped
from workbench.facts.pastes import Passage, passages
from workbench.facts.wording import lines, sentence_spans

SHOWN_OF_PASTE = 120
"""Characters of a paste that its note quotes: its beginning on one line."""


PartKind = Literal["typed", "note", "document"]


class TypedPart(Struct, frozen=True):
    """A sentence that the user typed, the note on a paste, or a sentence of a pasted document, on one line. `start`,
    `stop`: its place in the text."""

    text: str
    start: int
    stop: int
    kind: PartKind = "typed"


def typed_parts(text: str) -> Iterator[TypedPart]:
    """Yield the sentences of a user's text, without quoted lines and tables. A paste gives a note; a pasted document,
    which may be a plan to follow, gives its sentences as well."""
    for passage in passages(text):
        if not passage.own and (note := _note(text, passage)):
            yield TypedPart(note, passage.start, passage.stop, "note")
        if passage.own or passage.sort == "document":
            whole = text[passage.start : passage.stop]
            for line in lines(whole):
                for start, stop in sentence_spans(whole, line):
                    words = " ".join(whole[start:stop].split())
                    kind: PartKind = "typed" if passage.own else "document"
                    yield TypedPart(words, passage.start + start, passage.start + stop, kind)


def is_note(words: str) -> bool:
    """Return whether a text on one line is, or ends with, the note on a paste that is not shown completely."""
    return words.endswith("]") and "[… " in words


def _note(text: str, paste: Passage) -> str:
    """Beginning of a paste on one line, with its size and source if it is cut; "" for blanks."""
    whole = text[paste.start : paste.stop]
    words = " ".join(whole[: 4 * SHOWN_OF_PASTE].split())
    if not words or len(whole) <= SHOWN_OF_PASTE:
        return words
    source = f" from {paste.source}" if paste.source else ""
    return f"{words[:SHOWN_OF_PASTE]} [… {grouped(paste.size)} characters of {paste.sort}{source}]"
