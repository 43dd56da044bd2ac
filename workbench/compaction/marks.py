"""Fixed words that a summary template requires, by which the parts of an answer are recognized."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class TemplateMark(Struct, frozen=True):
    """Fixed words of a template in the section `under` (its title as in the request), "" for the whole answer.

    `how` they are used: `opening`, at the very beginning; `label`, a name before its text; `item`, before each finished
    thing; `note`, on a line of its own. `of`: what belongs to a label, in the template's words.
    """

    words: str
    how: Literal["opening", "label", "item", "note"]
    under: str = ""
    of: str = ""

    def line(self, text: str = "") -> str:
        """The mark with text after it."""
        match self.how:
            case "opening":
                return f"{self.words}{text}"
            case "label":
                return f"* **{self.words}**: {text}".rstrip()
            case "item":
                return f"* {self.words} {text}"
            case "note":
                return f"*{self.words}*"
