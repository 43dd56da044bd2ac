"""The command palette: commands of the screen in front, found by name, help or synonym."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.types import IgnoreReturnCallbackType

IN_NAME, IN_SYNONYMS, IN_HELP = 1.0, 0.6, 0.5
"""Score of a query word that begins a word of the name, of the synonyms, of the help."""
SCATTERED = 0.4
"""Highest score of a query of which only the letters occur in the name, in their order."""
SMALL = {
    "a", "an", "and", "are", "be", "can", "do", "does", "don", "for", "get", "has", "have", "how", "i", "in", "is",
    "it", "me", "my", "of", "on", "see", "show", "so", "t", "that", "the", "there", "this", "to", "too", "use",
    "want", "was",
}  # fmt: skip
"""Words of a question that do not describe a command."""
NOT_NOW = 0.9
"""Factor of a command that is off now."""


@dataclass(frozen=True, slots=True)
class PaletteCommand:
    """Command of the palette. `also` are synonyms to find it by. `can`: False if it is off; running it says why."""

    name: str
    help: str
    run: IgnoreReturnCallbackType
    key: str = ""
    also: str = ""
    can: bool = True

    @property
    def title(self) -> str:
        return f"{self.name} ({self.key})" if self.key else self.name


def score(command: PaletteCommand, query: str) -> float:
    """Match of a query with a command, from 0 to 1: the mean score of the query's words, less if some match nothing.
    Small words count only if there are no others."""
    places = [(worth, _words(text)) for worth, text in
              ((IN_NAME, command.name), (IN_SYNONYMS, command.also), (IN_HELP, command.help))]  # fmt: skip
    typed = _words(query)
    telling = {word for word in typed if word not in SMALL} or {*typed}
    worths = [max((worth for worth, words in places if _begins(word, words)), default=0.0) for word in telling]
    if not worths:
        return 0.0
    many = len(worths)
    return sum(worths) / many * sum(map(bool, worths)) / many * (1 if command.can else NOT_NOW)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _begins(word: str, words: Iterable[str]) -> bool:
    """True if `word` begins one of `words`; a word of more than four letters also without its ending."""
    stems = tuple(_stems(word))
    return any(each.startswith(stems) for each in words)


def _stems(word: str) -> Iterator[str]:
    yield word
    for ending in ("s", "ed", "ing"):
        if len(word) > 4 and word.endswith(ending):
            stem = word.removesuffix(ending)
            yield stem[:-1] if stem[-1] == stem[-2] else stem  # pinning


class Palette(Provider):
    """Provider of the application's commands for the screen in front."""

    @property
    def commands(self) -> Iterator[PaletteCommand]:
        found: Iterator[PaletteCommand] = self.app.commands(self.screen)  # type: ignore[attr-defined]
        return found

    async def discover(self) -> Hits:
        for one in self.commands:
            if not one.can:
                continue
            yield DiscoveryHit(one.title, one.run, help=one.help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for one in self.commands:
            worth = score(one, query)
            scattered = matcher.match(one.title)
            if worth or scattered:
                shown = matcher.highlight(one.title) if scattered else Content(one.title)
                yield Hit(max(worth, SCATTERED * min(scattered, 1.0)), shown, one.run, one.title, one.help)
