"""Causal story of messages, in the agent's own words and in order: what it found and why, how it reacted to failed or
refused calls, and how each request ended.

Content that a ledger keeps verbatim (requests, decisions, errors, files, commands, names) is not repeated: a request is
named by its beginning, and a deciding sentence is left to the decisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from workbench.base.text import clip_at_sentence, clip_at_word
from workbench.facts.calls import ToolCall, calls_in
from workbench.facts.decisions import is_decision
from workbench.facts.tools import normal_path
from workbench.facts.wording import is_agent_message, is_question, prose, sentences
from workbench.session import Message
from workbench.summarizers.fitting import SHORTEST, SummaryLine
from workbench.summarizers.labels import SummaryLabels

EVENT_CHARS = 320
"""Maximum length of an event, cut at a sentence, in characters; twice as much for the last one."""

ANCHOR_CHARS = 60
"""Maximum length of a request's name, in characters."""


class StoryEvent(Struct, frozen=True):
    """Something found, tried or ended. A higher `rank` is kept longer when room is short."""

    text: str
    message: str
    rank: float


class Chapter(Struct, frozen=True):
    """Events of one request, which `anchor` names; "" for events of an earlier summary."""

    anchor: str
    message: str
    events: tuple[StoryEvent, ...]


def story_chapters(messages: Sequence[Message], previous: str, labels: SummaryLabels) -> list[Chapter]:
    """Return the story of `messages`, after that of an earlier narrative."""
    starts = [index for index, message in enumerate(messages) if message.starts_round]
    failed, refused = _setbacks(calls_in(messages), labels)
    chapters = [*_earlier_chapters(previous)]
    for start, stop in zip([0, *starts], [*starts, len(messages)], strict=True):
        anchor = messages[start].user_text if start < len(messages) and messages[start].starts_round else ""
        ends = stop == len(messages)
        events = tuple(_events(messages, start, stop, failed, refused, ends))
        if events:
            name = labels.on.format(text=clip_at_word(" ".join(anchor.split()), ANCHOR_CHARS)) if anchor else ""
            chapters.append(Chapter(name, messages[start].id, events))
    return chapters


def story_lines(chapters: Sequence[Chapter], room: int, labels: SummaryLabels) -> list[SummaryLine]:
    """Return the chapters as lines within `room` characters: the weightiest events in order, with a mark for omitted
    ones."""
    ranked = sorted(
        ((event.rank, number, place) for number, one in enumerate(chapters) for place, event in enumerate(one.events)),
        reverse=True,
    )
    selected = {(number, place) for _, number, place in ranked}
    if selected and _char_count(lines := [*_chapter_lines(chapters, selected, labels)]) <= room:
        return lines
    selected.clear()
    named: set[int] = set()
    takes = 0
    for _, number, place in ranked:
        cost = len(chapters[number].events[place].text) + 3
        cost += 0 if number in named else len(chapters[number].anchor) + 2
        if takes + cost <= room:
            takes += cost
            selected.add((number, place))
            named.add(number)
    while selected:
        lines = [*_chapter_lines(chapters, selected, labels)]
        if _char_count(lines) <= room:
            return lines
        selected.remove(next((number, place) for _, number, place in reversed(ranked) if (number, place) in selected))
    if not ranked or room <= SHORTEST:
        return []
    event = chapters[ranked[0][1]].events[ranked[0][2]]
    return [SummaryLine(clip_at_word(event.text, room - 1), (event.message,))]


def _char_count(lines: Sequence[SummaryLine]) -> int:
    return sum(len(line.text) + 1 for line in lines)


def _chapter_lines(
    chapters: Sequence[Chapter], selected: set[tuple[int, int]], labels: SummaryLabels
) -> Iterator[SummaryLine]:
    """Yield the lines. Missing chapters are counted at their place, those of an earlier story together after it."""
    missing = 0
    for number, chapter in enumerate(chapters):
        places = [place for place in range(len(chapter.events)) if (number, place) in selected]
        if missing and chapter.anchor and (places or not chapters[number - 1].anchor):
            yield SummaryLine(labels.gap.format(n=missing))
            missing = 0
        if not places:
            missing += 1
            continue
        text, newest = chapter.anchor, -1
        for place in places:
            text += f"{' ' if text else ''}{'' if place == newest + 1 else '… '}{chapter.events[place].text}"
            newest = place
        text += "" if newest == len(chapter.events) - 1 else " …"
        ids = dict.fromkeys((chapter.message, *(chapter.events[place].message for place in places)))
        yield SummaryLine(text, tuple(one for one in ids if one))
    if missing:
        yield SummaryLine(labels.gap.format(n=missing))


def _earlier_chapters(previous: str) -> Iterator[Chapter]:
    """Yield an earlier story or summary line by line, without code and the agent's frame. Causes and open work weigh
    more."""
    lines = [line.strip() for line in prose(previous).split("\n")]
    lines = [line for line in lines if len(line) >= 12 and not _AROUND_SUMMARY.match(line)]
    for number, line in enumerate(lines):
        rank = _EARLIER + number / len(lines) / 4 + (_REASON / 2 if _FOUND.search(line) or _LEFT.search(line) else 0)
        yield Chapter("", "", (StoryEvent(clip_at_sentence(line, 2 * EVENT_CHARS), "", rank),))


_AROUND_SUMMARY = re.compile(
    r"\[…|</?\w+>|(?:\d{1,2}\. |#{1,4} )?[\w ,/&-]{3,50}:$|please continue the conversation|"
    r"if you need specific details|this session is being continued|continue (?:the conversation )?from where",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"\b(?:pending|still need|needs? to|not yet|remaining|left to do|next step|todo|blocked|current(?:ly)?|unresolved|"
    r"offen|reste à|pendiente|осталось)\b|待|未完成|下一步|残り|남은",
    re.IGNORECASE,
)


_EARLIER, _REASON, _ANSWER, _REACTION, _FINDING, _LAST = 0.2, 1.0, 2.0, 2.5, 3.0, 9.0
"""Weights of the kinds of events; newer ones weigh up to one more."""


def _setbacks(calls: Iterable[ToolCall], labels: SummaryLabels) -> tuple[set[int], dict[int, list[str]]]:
    """Return the indexes of failed results, and of refused calls with their description."""
    failed: set[int] = set()
    refused: dict[int, list[str]] = {}
    for called in calls:
        if called.ok is False and called.result_index is not None:
            if called.refused:
                what = called.actions[-1].target if called.actions else ""
                what = f" `{clip_at_word(normal_path(' '.join(what.split())), 80)}`" if what else ""
                refused.setdefault(called.result_index, []).append(labels.refused.format(what=called.call.name + what))
            else:
                failed.add(called.result_index)
    return failed, refused


def _events(
    messages: Sequence[Message], start: int, stop: int, failed: set[int], refused: dict[int, list[str]], ends: bool
) -> Iterator[StoryEvent]:
    speaking = [
        index for index in range(start, stop) if is_agent_message(messages[index]) and messages[index].text.strip()
    ]
    setback = False
    for index in range(start, stop):
        message = messages[index]
        age = index / len(messages)
        for what in refused.get(index, ()):
            yield StoryEvent(what, message.id, _FINDING + age)
        setback = setback or index in failed or index in refused
        if index not in speaking:
            continue
        last = ends and index == speaking[-1]
        answers = last or (not message.calls and index == speaking[-1])
        text, rank = _explanation(prose(message.text), setback, answers=answers, last=last)
        if text:
            yield StoryEvent(
                clip_at_sentence(text, EVENT_CHARS * (1 + last)), message.id, _LAST if last else rank + age
            )
        setback = False


def _explanation(words: str, setback: bool, *, answers: bool, last: bool) -> tuple[str, float]:
    """Return the sentences that explain something, and their weight; "" if the text only announces the next step."""
    explaining = [
        one
        for one in sentences(words)
        if _is_full_sentence(one) and (last or not is_question(one)) and not is_decision(one)
    ]
    if answers:
        return " ".join(explaining[: 6 if last else 3]), _ANSWER
    found = [place for place, one in enumerate(explaining) if _FOUND.search(one)][:2]
    if found:
        # "I see it now." needs the sentence after it.
        places = dict.fromkeys(at for place in found for at in (place, place + (len(explaining[place]) < _SHORT)))
        return " ".join(explaining[at] for at in places if at < len(explaining)), _FINDING
    if setback and explaining:
        return explaining[0], _REACTION
    because = next((one for one in explaining if _BECAUSE.search(one) and not _ANNOUNCES.match(one)), "")
    return because, _REASON


_SHORT = 45


def _is_full_sentence(sentence: str) -> bool:
    """Return whether a text is more than a heading, a row or a list item."""
    if _NO_SENTENCE.match(sentence):
        return False
    return len(sentence) >= 12 and (sentence.rstrip("*_`)\"'”").endswith(_ENDS) or len(sentence) >= 2 * _SHORT)


_ENDS = (".", "!", "?", "…", "。", "！", "？")
_NO_SENTENCE = re.compile(r"[#|]|-{3}|[`*_~=─]{3,}$|.{0,80}:$")
_ANNOUNCES = re.compile(
    r"(?:(?:now|ok|okay|good|great|alright|perfect|next|so)[,.!:—-]* )*"
    r"(?:let me|let's|i'll|i will|i'm going to|now|first)\b",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:root cause|turns out|the (?:real |actual |underlying )?(?:problem|issue|bug|reason|cause|culprit|fix) "
    r"(?:is|was)|i see (?:the problem|the issue|what|why|it now)|the real problem|that's (?:why|because)|this means|"
    r"which means|that means|failed because|fails because|didn't work|doesn't work|did not work|did not hold|"
    r"not actually|in fact|pre-existing|was written (?:before|for|expecting)|instead of|no longer|obsolete|reverted|"
    r"rolled back|ursache|der grund|liegt daran|la cause|en fait|la causa|el problema|o problema|причина|оказалось|"
    r"проблема)\b|原因|发现|其实|问题(?:是|在)|根因|原因は|問題は|원인|문제는",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"\b(?:because|since|so that|therefore|hence|due to|but|however|although|missing|wrong|failing|needs?|isn't|"
    r"doesn't|weil|denn|deshalb|aber|parce que|car|mais|donc|porque|pero|mas|потому|но|так как)\b"
    r"|因为|由于|但|所以|ので|ため|때문",
    re.IGNORECASE,
)
