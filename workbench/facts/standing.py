"""Standing instructions: what a user's sentence sets for the work beyond the request it stands in, why it is taken for
one, and which later one replaced it.

An ordinary request is none ("fix the parser"), nor is a statement with a strong word ("the build always fails"). Rules
look at how a sentence is built: a prohibition, a rule from now on, a language or a format to keep, a limit, a restraint
on how a request is done, a preference. Each has its reason, which is shown. English, German, French, Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.facts.answers import typed
from workbench.facts.fact import Fact
from workbench.facts.pasted import passages
from workbench.facts.standing_rules import GATE, LANGUAGE, MIND, PROHIBITION, RULE, WAY, grammar, languages_of
from workbench.facts.wording import LONGEST_SENTENCE, Line, is_question, lines, plain, sentence_spans, sentences
from workbench.session import Message


def reason_of(sentence: str) -> str:
    """Why a user's sentence is taken for a standing instruction; "" where it is none."""
    if len(sentence) > LONGEST_SENTENCE:
        return ""
    low = plain(_QUOTED.sub("“…”", sentence))
    if not low or _DATA.search(low):
        return ""
    asked = is_question(sentence)
    reasons = (grammar(language).reason(low, asked=asked) for language in languages_of(low))
    return next(filter(None, reasons), "")


_QUOTED = re.compile(
    r"\"[^\"]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|「[^」\n]{1,200}」|`[^`\n]{1,200}`|(?<!\w)'[^'\n]{2,200}'(?!\w)"
)
"""What others say: nothing in it is asked for."""
_DATA = re.compile(r"[{};]$|\)\s?;|=>")
"""A line of code."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An instruction, why it is taken for one, and the later one that replaced it: the latest wins."""

    fact: Fact
    reason: str
    superseded_by: Fact | None = None


PIN_REASON = "marked with <Pin>"
_PIN = re.compile(r"<Pin>(.*?)</Pin>", re.DOTALL | re.IGNORECASE)


def standing(messages: Sequence[Message]) -> tuple[Standing, ...]:
    """The user's standing instructions in order, `<Pin>` passages among them; one that is said again stands where it
    was said last. `superseded_by` is the instruction that replaced it."""
    found: dict[str, Standing] = {}
    for index, words in typed(messages):
        for text, reason in (*said_in(words), *_releases(words)):
            found.pop(text.lower(), None)
            found[text.lower()] = Standing(Fact("instruction", text, messages[index].id, index), reason)
    return tuple(one for one in _superseded(list(found.values())) if one.reason != _RELEASED)


_RELEASED = "takes a prohibition back"


def _releases(words: str) -> Iterator[tuple[str, str]]:
    """Sentences that are no instruction and take one back."""
    for sentence in sentences(words):
        if len(sentence) <= LONGEST_SENTENCE and RELEASE.search(plain(sentence)) and not reason_of(sentence):
            yield sentence, _RELEASED


def said_in(words: str) -> Iterator[tuple[str, str]]:
    """The instructions in a user's own words with their reasons, in order, each as it stands there. What they pasted
    gives none, nor does a request for a summary of the conversation."""
    for passage in _PIN.findall(words):
        if text := passage.strip():
            yield text, PIN_REASON
    if is_compaction_prompt(words):
        return
    typed = _PIN.sub("\n", words)
    for passage in passages(typed):
        if passage.own:
            yield from _set(typed[passage.start : passage.stop])


def is_compaction_prompt(words: str) -> bool:
    """Whether a message is an agent's own request for a summary, as some record it among the user's."""
    return len(words) >= 400 and _SUMMARIZE.search(words[:600].lower()) is not None


_SUMMARIZE = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|handoff|hand-off|compact(?:ion|ed)?|checkpoint)\b[^.]{0,120}\b(?:conversation|session|"
    r"so far|context|history|previous actions|another (?:language )?model)\b"
    r"|(?:总结|摘要|压缩).{0,30}(?:对话|会话|上下文)"
)


@dataclass(slots=True)
class _Set:
    """Where an instruction begins and ends, and why it is one."""

    start: int
    stop: int
    reason: str


_LEADS = frozenset((RULE, PROHIBITION, GATE, MIND, LANGUAGE))
"""What a line that ends with a colon can make of the list below it."""

LONGEST_OWN = 2_500
"""In a text of more characters, a plan or a report, a mere way of working ("use …") is a part of what is to be done."""


def _set(text: str) -> Iterator[tuple[str, str]]:
    """The instructions of one passage. Under a line that announces rules every item of the list is one; a sentence that
    leans on the one before it ("Never exceed it.") takes that along."""
    made: list[_Set] = []
    head: _Set | None = None
    under, items = "", 0
    for line in lines(text):
        if not line.bullet:
            under, items, head = "", 0, None
        if line.heading and _announces_rules(text[line.start : line.stop]):
            under = RULE
            continue
        found = list(_in_line(text, line))
        if line.bullet and under:
            found = found or [_Set(line.start, line.stop, under)] * (line.stop - line.start <= LONGEST_SENTENCE)
            items += 1
            if head is not None and items == 1:
                made.remove(head)
        made += (one for one in found if one.reason != WAY or len(text) <= LONGEST_OWN)
        if made and found and not line.bullet and found[-1].reason in _LEADS and text[line.stop - 1] in ":：":
            under, head = found[-1].reason, found[-1]
    for one in made:
        yield text[one.start : one.stop], one.reason


def _announces_rules(heading: str) -> bool:
    """Whether the items below a heading are rules: it says so ("Ground rules:")."""
    low = plain(heading)
    return len(low) <= 60 and any(grammar(language).has("heading", low) for language in languages_of(low))


def _in_line(text: str, line: Line) -> Iterator[_Set]:
    before: tuple[int, int] | None = None
    last: _Set | None = None
    for start, stop in sentence_spans(text, line):
        sentence = text[start:stop].strip()
        if reason := reason_of(sentence):
            if before is not None and _leans(sentence) and stop - before[0] <= LONGEST_SENTENCE:
                if last is not None and last.stop == before[1]:
                    last.stop = stop
                else:
                    last = _Set(before[0], stop, reason)
                    yield last
            else:
                last = _Set(start, stop, reason)
                yield last
        before = start, stop


def _leans(sentence: str) -> bool:
    """Whether one of its first words stands for something said before."""
    low = plain(sentence)
    return any(grammar(language).has("leans", low) for language in languages_of(low))


RELEASE = re.compile(
    r"\byou (?:may|can) (?:now |again )?\w|\bit(?:'s| is) (?:ok|okay|fine|allowed) (?:now )?to \w|\bfeel free to \w"
    r"|\b(?:forget|ignore|drop) (?:what i said|the rule|my rule|the restriction)\b"
    r"|\bdu (?:darfst|kannst) (?:\S{1,30} ){0,3}(?:jetzt|wieder|doch)\b|\btu peux (?:maintenant|désormais|de nouveau)\b"
    r"|现在可以|可以.{1,20}了(?:[。.!！]|$)"
)
"""What takes a prohibition back."""
SPOKEN = (
    r"(?:english|german|french|spanish|italian|portuguese|chinese|mandarin|japanese|korean|russian|dutch|polish|"
    r"turkish|deutsch|englisch|französisch|chinesisch|spanisch|italienisch|anglais|français|allemand|chinois|espagnol)"
)
_VALUE = re.compile(
    rf"\b(?:{SPOKEN}|\d[\d,.]*|one|two|three|four|five|six|eight|ten|ein\w{{0,2}}|zwei|drei|vier|acht|zehn|"
    rf"une?|deux|trois|"
    r"quatre|huit|dix)\b|中文|英文|英语|日语|日文|法语|德语|韩语|汉语|[一二两三四五六八十]"
)
_NO = re.compile(
    r"\b(?:never|don't|do not|dont|not|no|avoid|stop|without|refrain|nicht|keine?[nrs]?|nie|niemals|ohne|ne|pas|jamais|"
    r"aucune?|sans)\b|不要|不得|不准|不许|禁止|严禁|请勿|切勿|别|不"
)
_REJECTED = re.compile(
    r"(?:\b(?:instead of|rather than|not|no longer|no more|statt|anstatt|anstelle von|nicht mehr|nicht|"
    r"keine?[nrs]?|au lieu "
    r"de|plutôt que|pas de|pas|plus de)|而不是|而非|不再用|不用|代替)\s?([^,.;，。；!?]{1,40})"
)
_WORDS = re.compile(r"[\u4e00-\u9fff]|[^\W_]+")
_ENDING = re.compile(r"(?:en|es|e|n|s)$")
_EMPTY_WORDS = (
    "a an the to of in on for and or please always never don't dont do not no from now with use using be is it that "
    "this should must only make sure instead rather than longer i you we ok actually going forward on "
    "bitte immer der die das den dem und oder für mit auf in nicht ab jetzt sofort verwende benutze nutze toujours "
    "may can now again feel free it's ok okay fine darfst kannst du doch tu peux maintenant 现 可 "
    "jamais le la les de des du et ou en ne pas désormais utilise "
    "请 的 了 要 都 用 不 别 从 现 在 起 开 始 以 后 必 须 总 是"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())

ALIKE = 0.7
"""Two instructions of this share of words in common speak of the same thing."""

COMMON = 300
"""A word in more instructions than this tells nothing of what one is about."""


@dataclass(frozen=True, slots=True)
class _Sense:
    """What an instruction is about: its words without values (numbers, languages), those of what it turns down, those
    of what it chooses, the values, and whether it forbids."""

    about: frozenset[str]
    turns_down: tuple[frozenset[str], ...]
    chooses: frozenset[str]
    values: tuple[str, ...]
    forbids: bool


def _sense(text: str) -> _Sense:
    low = plain(text)
    rest = _REJECTED.sub(" ", low)
    return _Sense(
        _content(_VALUE.sub(" ", low)),
        tuple(words for match in _REJECTED.finditer(low) if (words := _content(match[1]))),
        frozenset() if _NO.search(rest) else _content(rest),
        tuple(sorted(_VALUE.findall(low))),
        bool(_NO.search(low)),
    )


def _superseded(several: list[Standing]) -> tuple[Standing, ...]:
    senses = [_sense(one.fact.text) for one in several]
    by_word: dict[str, list[int]] = {}
    for number, sense in enumerate(senses):
        for word in sense.about.union(*sense.turns_down):
            by_word.setdefault(word, []).append(number)
    languages = [number for number, one in enumerate(several) if one.reason == LANGUAGE]
    out: list[Standing] = []
    for number, (one, sense) in enumerate(zip(several, senses, strict=True)):
        rows = [row for word in sense.about | sense.chooses if len(row := by_word.get(word, [])) <= COMMON]
        near = {other for row in rows for other in row if other > number}
        later = max((other for other in near if _replaces(senses[other], sense)), default=-1)
        if one.reason == LANGUAGE and languages[-1] > number:
            later = max(later, languages[-1])
        elsewhere = later >= 0 and several[later].fact.index != one.fact.index
        out.append(Standing(one.fact, one.reason, several[later].fact if elsewhere else None))
    return tuple(out)


def _replaces(later: _Sense, one: _Sense) -> bool:
    """Whether the later instruction takes the earlier one's place: it turns down what that one chose, or says the same
    of another value, or the opposite. (Of two that set the language, the later one always does.)"""
    if any(words <= one.chooses for words in later.turns_down):
        return True
    both = later.about | one.about
    if not both or len(later.about & one.about) < ALIKE * len(both):
        return False
    return later.values != one.values or later.forbids != one.forbids


def _content(text: str) -> frozenset[str]:
    words = (word for word in _WORDS.findall(text) if word not in _EMPTY)
    return frozenset(_ENDING.sub("", word) if len(word) > 3 else word for word in words)
