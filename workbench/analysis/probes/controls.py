"""Control questions: nothing in the session answers them, so any answer to one is made up.

They combine the session's own words in ways that do not occur in it: a code name from the parts of two names, a thing
from nouns that are never in the same sentence. A reader who knows only the style of the session cannot tell them
from questions that have an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from workbench.analysis.mentions import words_of
from workbench.analysis.probes.probe import BLANK, Probe
from workbench.facts.pastes import without_paste
from workbench.facts.wording import is_agent_message, message_prose, sentences
from workbench.session import Message

_OF_NAMES = (
    "In which file did the agent define `{name}`?",
    "Which file did the agent change right after it had renamed `{name}`?",
    "Which command did the agent run to test `{name}`?",
)

_OF_THINGS = (
    'Fill in the blank (from a user message): "Keep the {thing} below ' + BLANK + '."',
    'The agent asked: "Where should the {thing} be kept?" What did the user answer?',
    "Which number did the user give for the {thing}?",
    "What did the agent decide to use for the {thing}?",
    'Fill in the blank (from a rule of the user): "Before you change the {thing}, ask ' + BLANK + '."',
    "What did the user say last about the {thing}?",
    'Fill in the blank (from an agent message): "The {thing} is now ' + BLANK + '."',
)

MOST_CONTROLS = len(_OF_NAMES) + len(_OF_THINGS)

_NAME = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]{3,})+|[a-z]+(?:[A-Z][a-z0-9]{2,})+|(?:[A-Z][a-z0-9]{2,}){2,})\b")

_WORD = re.compile(r"[^\W\d_]{4,14}")

TRIED = 40
"""Number of names and of nouns that are combined: the most frequent ones."""


def controls(messages: Sequence[Message], text: str, count: int, *, named: bool) -> Iterator[Probe]:
    """Yield `count` controls, at most `MOST_CONTROLS`; fewer if the session has too few words to combine. `text` is the
    whole context; `named`: ask about code names too. Deterministic."""
    names, things = _absent_names(text) if named else (), _absent_things(messages, text)
    of_names = [template.format(name=name) for template, name in zip(_OF_NAMES, names, strict=False)]
    of_things = [template.format(thing=thing) for template, thing in zip(_OF_THINGS, things, strict=False)]
    mixed = [question for pair in zip(of_names, of_things, strict=False) for question in pair]
    least = min(len(of_names), len(of_things))
    for question in [*mixed, *of_names[least:], *of_things[least:]][:count]:
        yield Probe("control", question, "")


def _absent_names(text: str) -> Iterator[str]:
    """Yield names that begin as one code name of the session and end as another, and occur nowhere in it."""
    found = [name for name, _ in Counter(_NAME.findall(text)).most_common(TRIED)]
    low = text.lower()
    for snake in (False, True):
        alike = [name for name in found if ("_" in name) == snake]
        used: set[str] = set()
        for one in alike:
            for other in alike:
                name = _joined(one, other, snake=snake)
                if name and not used & {one, other} and name.lower() not in low and _plain(name) not in low:
                    used |= {one, other}
                    yield name


def _joined(one: str, other: str, *, snake: bool) -> str:
    parts = [name.split("_") if snake else re.findall(r"[A-Z]?[a-z0-9]+", name) for name in (one, other)]
    begin, end = parts[0][0], parts[1][-1]
    return f"{begin}_{end}" if snake and begin != end else f"{begin}{end}" if begin.lower() != end.lower() else ""


def _plain(name: str) -> str:
    return " ".join(re.findall(r"[A-Z]?[a-z0-9]+", name)).lower()


_NOUN = re.compile(
    r"\b(?:the|an?|this|your|our|my|each|every|no|der|die|das|den|dem|eine?|le|la|les|une?|el|los|las|una) "
    r"(?P<noun>[^\W\d_]{4,14})(?=[.,;:!?)]|$| (?:of|is|was|are|to|in|on|at|for|from|with|and|or|that|will|has|can)\b)",
    re.IGNORECASE,
)
"""Noun after an article and before a preposition, a verb or the end."""


def _absent_things(messages: Sequence[Message], text: str) -> Iterator[str]:
    """Yield pairs of nouns that the session says, but never in one sentence."""
    places: dict[str, set[int]] = {}
    number = 0
    for message in messages:
        prose = message_prose(message) if is_agent_message(message) else without_paste(message.user_text)
        for sentence in sentences(prose):
            number += 1
            for word in {word.lower() for word in _WORD.findall(sentence)}:
                places.setdefault(word, set()).add(number)
    nouns = Counter(match["noun"].lower() for match in _NOUN.finditer(text))
    common = [noun for noun, _ in nouns.most_common(TRIED) if noun in places and words_of(noun)]
    low, used = text.lower(), set[str]()
    for one in common:
        for other in common:
            if {one, other} & used or one == other or places[one] & places[other] or f"{one} {other}" in low:
                continue
            used |= {one, other}
            yield f"{one} {other}"
