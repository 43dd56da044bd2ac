"""The palette: what can be done on the screen in front, found by its name, by what its help says, or by another word
that people use for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.types import IgnoreReturnCallbackType

NAMED, TOLD, MEANT = 1.0, 0.6, 0.5
"""What a word counts that begins one of the name, of the words beside it, of the help."""
SCATTERED = 0.4
"""What the letters of all that was typed count at most, found one after another in the name."""
SMALL = {
    "a", "an", "and", "are", "be", "can", "do", "does", "don", "for", "get", "has", "have", "how", "i", "in", "is",
    "it", "me", "my", "of", "on", "see", "show", "so", "t", "that", "the", "there", "this", "to", "too", "use",
    "want", "was",
}  # fmt: skip
"""Words of a question that say nothing of what is looked for."""
NOT_NOW = 0.9
"""What a command that cannot be done now counts beside one that can."""


@dataclass(frozen=True, slots=True)
class Command:
    """`also`: words that it is looked for by beside those of its name and its help. Where it cannot be done now
    (`can`), running it says why."""

    name: str
    help: str
    run: IgnoreReturnCallbackType
    key: str = ""
    also: str = ""
    can: bool = True

    @property
    def title(self) -> str:
        return f"{self.name} ({self.key})" if self.key else self.name


def score(command: Command, query: str) -> float:
    """How well the words of the query begin words of the command, on average, up to 1; less where some begin none,
    and 0 where all do. Small words count where there are no others."""
    places = [(worth, _words(text)) for worth, text in
              ((NAMED, command.name), (TOLD, command.also), (MEANT, command.help))]  # fmt: skip
    asked = _words(query)
    telling = {word for word in asked if word not in SMALL} or {*asked}
    worths = [max((worth for worth, words in places if _begins(word, words)), default=0.0) for word in telling]
    if not worths:
        return 0.0
    many = len(worths)
    return sum(worths) / many * sum(map(bool, worths)) / many * (1 if command.can else NOT_NOW)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _begins(word: str, words: Iterable[str]) -> bool:
    """Whether it begins one of them; a word of more than four letters also without the ending it has here."""
    stems = tuple(_stems(word))
    return any(each.startswith(stems) for each in words)


def _stems(word: str) -> Iterator[str]:
    yield word
    for ending in ("s", "ed", "ing"):
        if len(word) > 4 and word.endswith(ending):
            stem = word.removesuffix(ending)
            yield stem[:-1] if stem[-1] == stem[-2] else stem  # pinning


class Palette(Provider):
    """Commands are those of the application for the screen in front."""

    @property
    def commands(self) -> Iterator[Command]:
        found: Iterator[Command] = self.app.commands(self.screen)  # type: ignore[attr-defined]
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
