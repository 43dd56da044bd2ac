"""Answers looked up, not asked: what a model that reads well and makes nothing up could say of a context, by code.

A line gives an answer where that stands in it by itself, with most of the words that the question's sentence has beside
it, and is not told wrongly there (`workbench.analysis.fact_check`): opposites, other values and lists of words give
none. What the source message itself says, where it is still there, counts as it stands. Whatever is told only in other
words is missed: a model may know more than this finds, and seldom less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.analysis.fact_check import SearchedText, fact_query
from workbench.analysis.head_index import texts_of
from workbench.analysis.needed_items import sentences, words_of
from workbench.analysis.probes.probe import NOT_KNOWN, Probe, stands_in
from workbench.base.text import clip
from workbench.session import Message

ENOUGH = 0.6
"""The share of the words beside an answer that a line must have to be the one that is asked for."""

ENOUGH_OF_A_QUESTION = 1 / 3
"""The same where nobody wrote down what is said, and the words are those of the question."""

LINE = 400
"""Characters of a line that are told."""


class Lookup:
    """The messages of a context, made ready for being asked."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._by_id = {message.id: message for message in messages}
        self._lines: list[str] = []
        self._of: list[str] = []
        self._places: dict[str, list[int]] = {}
        for message in messages:
            for text in texts_of(message):
                for line, words in sentences(text):
                    for word in words:
                        self._places.setdefault(word, []).append(len(self._lines))
                    self._lines.append(line)
                    self._of.append(message.id)
        self._texts = [text for message in messages for text in texts_of(message)]
        self._said: SearchedText | None = None

    def answer(self, probe: Probe) -> tuple[str, str]:
        """The answer, or `NOT_KNOWN`, and the line that gives it or comes nearest to it, "" where none does."""
        if probe.kind == "control":
            return NOT_KNOWN, ""
        source = self._by_id.get(probe.source)
        if source is not None and (line := _line_in(source, probe)):
            return probe.answer, line
        near = self._near(probe, words_of(probe.about))
        if probe.prose:
            return self._in_prose(probe, near)
        place = next(self._giving(probe, near), None)
        if place is not None:
            return probe.answer, clip(self._lines[place], LINE)
        return NOT_KNOWN, clip(self._lines[near[0]], LINE) if near else ""

    def source(self, probe: Probe) -> str:
        """The id of the message that tells the answer, "" where none is found."""
        if probe.prose:
            places: Iterable[int] = self._near(probe, words_of(probe.says or probe.answer))
        else:
            places = self._giving(probe, self._near(probe, words_of(probe.about)))
        return next((self._of[place] for place in places), "")

    def _giving(self, probe: Probe, near: Sequence[int]) -> Iterator[int]:
        for place in near:
            if _gives(self._lines[place], probe) and _tells_rightly(self._lines[place], probe):
                yield place

    def _in_prose(self, probe: Probe, near: Sequence[int]) -> tuple[str, str]:
        self._said = self._said or SearchedText(self._texts)
        form = fact_query("request", probe.answer)
        verdict = self._said.judge(form) if form else None
        line = clip(self._lines[near[0]], LINE) if near else ""
        return (probe.answer if verdict and verdict.presence == "full" and verdict.right else NOT_KNOWN), line

    def _near(self, probe: Probe, wanted: frozenset[str]) -> list[int]:
        """The places of the lines with enough of the words, those with most of them first."""
        share = ENOUGH if probe.says or probe.prose else ENOUGH_OF_A_QUESTION
        counts: dict[int, int] = {}
        for word in wanted:
            for place in dict.fromkeys(self._places.get(word, ())):
                counts[place] = counts.get(place, 0) + 1
        enough = [place for place, count in counts.items() if count >= share * len(wanted)]
        return sorted(enough, key=lambda place: (-counts[place], place))


def sourced(probes: Sequence[Probe], messages: Sequence[Message]) -> tuple[Probe, ...]:
    """The probes, those without a source with the message that tells the answer, where one is found: who writes a
    question by hand knows no message's id."""
    if all(probe.source or probe.kind == "control" for probe in probes):
        return tuple(probes)
    lookup = Lookup(messages)
    return tuple(
        probe if probe.source or probe.kind == "control" else replace(probe, source=lookup.source(probe))
        for probe in probes
    )


def _line_in(source: Message, probe: Probe) -> str:
    """Where the source itself gives the answer: the line that it stands in."""
    if probe.prose:
        flat = " ".join(probe.answer.removesuffix("…").split())
        told = (" ".join(text.split()) for text in texts_of(source))
        return next((clip(text, LINE) for text in told if flat in text or _has_words(text, flat)), "")
    found = [line for text in texts_of(source) for line in text.split("\n") if _gives(line, probe)]
    wanted = words_of(probe.about)
    return clip(" ".join(max(found, key=lambda line: len(words_of(line) & wanted)).split()), LINE) if found else ""


def _gives(line: str, probe: Probe) -> bool:
    """Whether a right answer stands in a line by itself; a path with slashes of either kind."""
    told = line.replace("\\\\", "/").replace("\\", "/") if "\\" in line and "/" in probe.answer else line
    return any(stands_in(form, told) for form in (probe.answer, *probe.accept))


def _has_words(text: str, wanted: str) -> bool:
    words = words_of(wanted)
    return bool(words) and len(words & words_of(text)) >= ENOUGH * len(words)


def _tells_rightly(line: str, probe: Probe) -> bool:
    form = fact_query("stated", probe.says) if probe.says else None
    verdict = SearchedText((line,)).judge(form) if form else None
    return verdict is None or verdict.presence == "none" or verdict.right
