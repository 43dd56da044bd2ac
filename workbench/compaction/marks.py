"""The marks of a summary's template: fixed words that a request asks for, by which an answer's parts are known."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class TemplateMark(Struct, frozen=True):
    """Fixed words of a template, under the section `under` (its title as the request has it), "" for the whole answer.

    `how` they stand there: `opening`, at the very beginning; `label`, a name before what is said of it; `item`, before
    each thing that is done; `note`, a line of its own. `of` says what belongs to a label, in the template's words.
    """

    words: str
    how: Literal["opening", "label", "item", "note"]
    under: str = ""
    of: str = ""

    def line(self, text: str = "") -> str:
        """The mark with what is said after it."""
        match self.how:
            case "opening":
                return f"{self.words}{text}"
            case "label":
                return f"* **{self.words}**: {text}".rstrip()
            case "item":
                return f"* {self.words} {text}"
            case "note":
                return f"*{self.words}*"
