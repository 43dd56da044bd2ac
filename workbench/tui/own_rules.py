"""A screen's own rules of style, read when it is first shown; and what they are looked up by.

Textual reads all rules there are anew then, and styles every screen again. What a screen says is about itself alone.
"""

from __future__ import annotations

from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

SOURCES = 512
"""More than there are screens and kinds of widgets: what was read once is not read again when one more comes."""

# By its place, as Textual has it, too, but without a call of Python for every rule and every widget that is styled.
RuleSet.__hash__ = object.__hash__  # type: ignore[method-assign]


def read_own_rules(sheet: Stylesheet, screen: Screen[Any]) -> None:
    known = len(sheet.source)
    for path in screen.css_path:
        if not sheet.has_source(str(path)):
            sheet.read(path)
    if screen.CSS:
        name = type(screen).__name__
        scope = screen._css_type_name if screen.SCOPED_CSS else ""
        sheet.add_source(screen.CSS, read_from=(type(screen).__module__, f"{name}.CSS"), scope=scope)
    if len(sheet.source) > known:
        sheet._parse_cache.grow(SOURCES)
        sheet.parse()
        sheet.update(screen)
