"""Which later sentence takes an earlier one's place: only where both speak of the same thing, in the same scope.

Two sentences do if they have the same words but for values (numbers, languages, days) and for words that say nothing
of their own ("from now on", "please"). One word more or less is another scope ("in answers about travel"), and then
both stay: one that is wrongly taken for replaced is lost, one that stays too many is only told twice. A sentence that
says itself that it corrects ("actually, …", "update: …") may have one other word in a word's place ("use two spaces"
for "use tabs").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.facts.wording import plain

_TONGUES = (
    r"english|german|french|spanish|italian|portuguese|chinese|mandarin|japanese|korean|russian|dutch|polish|turkish|"
    r"deutsch|englisch|französisch|chinesisch|spanisch|italienisch|anglais|français|allemand|chinois|espagnol|español|"
    r"inglés|alemán|francés|português|inglês|alemão|francês|espanhol|русск\w+|английск\w+|немецк\w+"
)
_DAYS = (
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may(?= \d)|june|july|"
    r"august|september|october|november|december|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lundi|mardi|"
    r"mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo|segunda|terça|quarta|quinta|"
    r"sexta|понедельник|вторник|сред[ау]|четверг|пятниц[ау]|суббот[ау]|воскресенье"
)
_NUMBERS = (
    r"[$€£¥]?(?<![./\\-])\d[\d,.:/-]*|one|two|three|four|five|six|seven|eight|nine|ten|ein\w{0,2}|zwei|drei|vier|fünf|acht|zehn|une?|"
    r"deux|trois|quatre|huit|dix|uno|dos|tres|cuatro|diez|dois|duas|três|dez|одн\w{1,3}|дв(?:а|ух|е)|тр(?:и|[её]х)|"
    r"четыр(?:е|[её]х)|пят[ьи]|шест[ьи]|сем[ьи]|восьм?[ьи]|девят[ьи]|десят[ьи]"
)
_CURRENCIES = r"euros?|dollars?|pounds?|yen|francs?|franken|pesos?|reais|dólares|рубл\w+|евро|доллар\w*"
# A digit in a name (file1, step-3, v2/a.py) is no value.
VALUE = re.compile(
    rf"(?<!\w)(?:{_TONGUES}|{_DAYS}|{_NUMBERS}|{_CURRENCIES})(?!\w)|中文|英文|英语|日语|日文|法语|德语|韩语|汉语|[一二两三四五六七八九十]+|"
    r"(?<![A-Za-z\d_./\\-])\d+(?!\w*\.\w)|星期[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일|日本語|英語|中国語|한국어|영어|일본어"
)
_NO = re.compile(
    r"\b(?:never|don't|do not|dont|not|no|avoid|stop|without|refrain|nicht|keine?[nrs]?|nie|niemals|ohne|ne|pas|jamais|"
    r"aucune?|sans|nunca|jamás|sin|não|sem|не|никогда|без)\b"
    r"|不要|不得|不准|不许|禁止|严禁|请勿|切勿|别|不|ない|な$|지 ?마|금지"
)
_REJECTED = re.compile(
    r"(?:\b(?:instead of|rather than|not|no longer|no more|statt|anstatt|anstelle von|nicht mehr|nicht|keine?[nrs]?|"
    r"au lieu de|plutôt que|pas de|pas|plus de|en lugar de|en vez de|em vez de|ao invés de|вместо|а не)|"
    r"而不是|而非|不再用|不用|代替)\s?([^,.;，。；!?]{1,40})"
)
_MAY = re.compile(
    r"^\W*(?:(?:ok|okay|now|alright|fine|so|ab jetzt|maintenant|ahora|agora|теперь)[, ]+){0,2}"
    r"(?:you (?:can|may)|feel free|du (?:darfst|kannst)|tu peux|vous pouvez|(?:ya )?puedes|(?:você )?pode|"
    r"(?:ты )?можешь|можно|(?:现在)?可以)(?! not| never|'t)\b"
)
"""What permits: "push without asking" then forbids nothing."""
_WITHOUT = re.compile(r"\b(?:without|ohne|sans|sin|sem|без)\b")
_LEAD = re.compile(
    r"^\W*(?:(?:(?:small |quick |another )?(?:update|correction|change(?: of plans?)?|new \w+|neue[rs]? \w+|korrektur|"
    r"änderung|nouvelle? \w+|correction|changement|nuev[oa] \w+|corrección|cambio|nov[oa] \w+|correção|mudança|"
    r"поправка|изменение|更正|更新|訂正|変更|수정|변경)(?: [^:,]{1,20})?[:：])"
    r"|(?:(?:actually|on second thought|scratch that|sorry|i was wrong|doch lieber|stattdessen|finalement|en fait|"
    r"plutôt|en realidad|mejor|na verdade|melhor|на самом деле|лучше|其实|还是|やっぱり|아니)\b[,:.]?))\s*"
)
"""How a sentence begins that corrects an earlier one."""
_WORDS = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_ENDING = re.compile(r"(?:en|es|e|n|s)$")
_EMPTY_WORDS = (
    "a an the to of in on for and or please always never don't dont do not no from now with use using be is are it "
    "that at this should must only make sure our my have has need instead rather than longer i you we ok actually "
    "going forward on henceforth onwards rule new may can now again feel free it's ok okay fine changed update "
    "correction "
    "bitte immer wieder der die das den dem und oder für mit auf in nicht ab jetzt sofort verwende benutze nutze nie "
    "darfst kannst du doch toujours tu peux maintenant jamais le la les de des du et ou en ne pas désormais utilise "
    "à partir adelante diante momento desde moment этого момента отныне впредь "
    "el los las y por favor siempre ahora usa o a os as e sempre agora use não пожалуйста всегда теперь и в на не "
    "请 的 了 要 都 用 不 别 从 现 在 起 开 始 以 后 必 须 总 是 可 禁 止 改 成 为"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_ANSWER_WORDS = (
    "answer reply respond response write speak talk me back out antwort antworte schreib sprich répond réponds réponse "
    "parl parle écri responde respuesta respond habla responda resposta отвечай отвеч 回 答 复 说 写"
)
_ANSWERS = frozenset(_ANSWER_WORDS.split())
"""Words of speaking to the person: which of them is used makes no other scope."""


@dataclass(frozen=True, slots=True)
class Sense:
    """What a sentence is about: its words without values, those of what it turns down and of what it chooses, the
    values in their order, whether it forbids, whether it only says in which language to speak, and whether it says that
    it corrects."""

    about: frozenset[str]
    turns_down: tuple[frozenset[str], ...]
    chooses: frozenset[str]
    values: tuple[str, ...]
    forbids: bool
    speaks: bool
    corrects: bool = False


def sense(text: str, *, speaks: bool = False) -> Sense:
    low = plain(text)
    lead = _LEAD.match(low)
    low = low[lead.end() :] if lead else low
    rest = _REJECTED.sub(" ", low)
    about = _content(VALUE.sub(" ", low))
    return Sense(
        about - _ANSWERS if speaks else about,
        tuple(words for match in _REJECTED.finditer(low) if (words := _content(match[1]))),
        frozenset() if _NO.search(rest) else _content(rest),
        tuple(VALUE.findall(low)),
        _NO.search(_WITHOUT.sub(" ", low) if _MAY.match(low) else low) is not None,
        speaks,
        lead is not None,
    )


def replaced(senses: Sequence[Sense], replaces: Callable[[Sense, Sense], bool]) -> list[int | None]:
    """For each the number of the last later one that replaces it, None where none does. What two share tells which are
    compared: near linear."""
    near: dict[object, list[int]] = {}
    for number, one in enumerate(senses):
        for key in ((one.about, one.speaks), *one.turns_down, *(_but_one(one) if one.corrects else ())):
            near.setdefault(key, []).append(number)
    found: list[int | None] = []
    for number, one in enumerate(senses):
        keys = ((one.about, one.speaks), one.chooses, *(frozenset((word,)) for word in one.chooses), *_but_one(one))
        later = (other for key in keys for other in near.get(key, ())[-_COMPARED:] if other > number)
        found.append(max((other for other in later if replaces(senses[other], one)), default=None))
    return found


_COMPARED = 100
"""Of those that share something the last so many are compared."""


def _but_one(one: Sense) -> Iterator[tuple[str, frozenset[str]]]:
    """What it is about, each time without one of its words."""
    return (("but one", one.about - {word}) for word in one.about)


def instead(later: Sense, one: Sense) -> bool:
    """Whether a later instruction replaces an earlier one: the same of another value, its opposite, or it turns down
    what that one chose and speaks of nothing that this one does not."""
    if later.about == one.about and later.speaks == one.speaks and (one.about or one.speaks):
        return later.values != one.values or (not one.speaks and later.forbids != one.forbids)
    if later.corrects and _one_word_else(later, one):
        return True
    return any(words <= one.chooses and one.chooses - words <= later.about for words in later.turns_down)


def _one_word_else(later: Sense, one: Sense) -> bool:
    """Whether one word stands for another, with a number of its own at most, and all else is the same; of two things
    that are forbidden both stay so."""
    same = len(later.about & one.about)
    swapped = len(later.about) == len(one.about) == same + 1 and same >= 2
    return swapped and not (later.forbids or one.forbids) and (not one.values or later.values == one.values)


def updates(later: Sense, one: Sense) -> bool:
    """Whether a later statement updates an earlier one: all the same but for one value."""
    if not one.about or later.about != one.about or later.forbids != one.forbids:
        return False
    pairs = zip(one.values, later.values, strict=False)
    return len(one.values) == len(later.values) and sum(before != after for before, after in pairs) == 1


def _content(text: str) -> frozenset[str]:
    words = (word for word in _WORDS.findall(text) if word not in _EMPTY)
    return frozenset(_ENDING.sub("", word) if len(word) > 3 else word for word in words)
