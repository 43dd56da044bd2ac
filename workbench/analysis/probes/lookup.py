"""Answers to probes by text search, without a model.

A line gives an answer if it contains the answer by itself and most words of the question's sentence, and does not state
it wrongly (`workbench.analysis.fact_check`): opposites, other values and word lists give no answer. In the source
message, if still there, any line with the answer counts; of a tool result also those of its call, if the result still
has the words of the question. Paraphrases are missed, so a model may know more than the search finds, and rarely less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from workbench.analysis.fact_check import SearchedText, fact_query
from workbench.analysis.head_index import texts_of
from workbench.analysis.mentions import sentences, words_of
from workbench.analysis.probes.probe import NOT_KNOWN, Probe, contains_term
from workbench.base.text import clip
from workbench.session import Message

ENOUGH = 0.6
"""Share of the words next to an answer that a line must have."""

ENOUGH_OF_A_QUESTION = 1 / 3
"""Share of the question's words that a line must have if the sentence with the answer is unknown."""

LINE = 400
"""Characters of a line that are shown."""


class Lookup:
    """Messages of a context, prepared for search."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._by_id = {message.id: message for message in messages}
        self._callers = {call.id: message for message in messages for call in message.calls}
        self._lines: list[str] = []
        self._message_ids: list[str] = []
        self._places: dict[str, list[int]] = {}
        for message in messages:
            for text in texts_of(message):
                for line, words in sentences(text):
                    for word in words:
                        self._places.setdefault(word, []).append(len(self._lines))
                    self._lines.append(line)
                    self._message_ids.append(message.id)
        self._texts = [text for message in messages for text in texts_of(message)]
        self._searched_text: SearchedText | None = None

    def answer(self, probe: Probe) -> tuple[str, str]:
        """Return (answer or `NOT_KNOWN`, line that gives it or comes nearest, "" for none)."""
        if probe.kind == "control":
            return NOT_KNOWN, ""
        source = self._by_id.get(probe.source)
        if source is not None and (line := _line_in(source, probe) or self._line_in_call(source, probe)):
            return probe.answer, line
        near = self._near(probe, words_of(probe.about))
        if probe.prose:
            return self._in_prose(probe, near)
        place = next(self._answer_lines(probe, near), None)
        if place is not None:
            return probe.answer, clip(self._lines[place], LINE)
        return NOT_KNOWN, clip(self._lines[near[0]], LINE) if near else ""

    def _line_in_call(self, source: Message, probe: Probe) -> str:
        """Return the line with the answer in the call of a result, such as the file that it read; only if the result
        still has the question's words, "" without one."""
        near = words_of(probe.about)
        for result in source.results if near and not probe.prose else ():
            called = self._callers.get(result.call_id)
            if called and any(near <= words_of(line) for line in result.text.split("\n")):
                return _line_in(called, probe)
        return ""

    def source(self, probe: Probe) -> str:
        """Return the id of the message with the answer, "" if none is found."""
        if probe.prose:
            places: Iterable[int] = self._near(probe, words_of(probe.says or probe.answer))
        else:
            places = self._answer_lines(probe, self._near(probe, words_of(probe.about)))
        return next((self._message_ids[place] for place in places), "")

    def _answer_lines(self, probe: Probe, near: Sequence[int]) -> Iterator[int]:
        for place in near:
            if _has_answer(self._lines[place], probe) and _is_correct(self._lines[place], probe):
                yield place

    def _in_prose(self, probe: Probe, near: Sequence[int]) -> tuple[str, str]:
        self._searched_text = self._searched_text or SearchedText(self._texts)
        form = fact_query("request", probe.answer)
        verdict = self._searched_text.judge(form) if form else None
        line = clip(self._lines[near[0]], LINE) if near else ""
        return (probe.answer if verdict and verdict.presence == "full" and verdict.right else NOT_KNOWN), line

    def _near(self, probe: Probe, query_words: frozenset[str]) -> list[int]:
        """Return indexes of the lines with enough of the words, best first."""
        share = ENOUGH if probe.says or probe.prose else ENOUGH_OF_A_QUESTION
        counts: dict[int, int] = {}
        for word in query_words:
            for place in dict.fromkeys(self._places.get(word, ())):
                counts[place] = counts.get(place, 0) + 1
        enough = [place for place, count in counts.items() if count >= share * len(query_words)]
        return sorted(enough, key=lambda place: (-counts[place], place))


def with_sources(probes: Sequence[Probe], messages: Sequence[Message]) -> tuple[Probe, ...]:
    """Return the probes with missing sources filled in, if found. Hand-written questions have no message id."""
    if all(probe.source or probe.kind == "control" for probe in probes):
        return tuple(probes)
    lookup = Lookup(messages)
    return tuple(
        probe if probe.source or probe.kind == "control" else replace(probe, source=lookup.source(probe))
        for probe in probes
    )


def _line_in(source: Message, probe: Probe) -> str:
    """Return the line of the source that gives the answer; "" for none."""
    if probe.prose:
        flat = " ".join(probe.answer.removesuffix("…").split())
        flat_texts = (" ".join(text.split()) for text in texts_of(source))
        return next((clip(text, LINE) for text in flat_texts if flat in text or _has_words(text, flat)), "")
    found = [line for text in texts_of(source) for line in text.split("\n") if _has_answer(line, probe)]
    near_words = words_of(probe.about)
    return clip(" ".join(max(found, key=lambda line: len(words_of(line) & near_words)).split()), LINE) if found else ""


def _has_answer(line: str, probe: Probe) -> bool:
    """True if a line contains a right answer by itself. Backslashes match the slashes of a path."""
    normalized = line.replace("\\\\", "/").replace("\\", "/") if "\\" in line and "/" in probe.answer else line
    return any(contains_term(form, normalized) for form in (probe.answer, *probe.accept))


def _has_words(text: str, phrase: str) -> bool:
    words = words_of(phrase)
    return bool(words) and len(words & words_of(text)) >= ENOUGH * len(words)


def _is_correct(line: str, probe: Probe) -> bool:
    form = fact_query("stated", probe.says) if probe.says else None
    verdict = SearchedText((line,)).judge(form) if form else None
    return verdict is None or verdict.presence == "none" or verdict.right
