"""What an agent needed again of what it had been told: by expressions of this file's own, none of the workbench's.

An item stands in the head of a session (what came before the compaction), the agent uses it afterwards in a call or a
text of its own, and nobody has told it in between. Six kinds:

    path      a file by name or by path, the folder of the project taken off
    command   a line run in a shell, one for each part of `a && b; c`, without what it is piped into; run again just so.
              What only looks (ls, cat, grep) is none: the agent needs the path in it
    number    one that is no coincidence: a unit, a fraction or four digits, and a word beside it in both places alike
    id        hashes, uuids, tickets, `#12`, ports, versions
    decision  a sentence of the agent or the user that says so ("let's go with", "instead of"), a third of whose words
              stand in one sentence of the agent's afterwards
    stated    any sentence that the user wrote, half of whose words do

What the agent was told is every user message and every result of a tool; a file's mere name in a listing tells its
path. The project's folder and what the system prompt says are told with every call.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from msgspec import Struct

from workbench.base.memory import remembered
from workbench.base.values import fields_in
from workbench.session import Message, Text, Thinking, ToolResult, ToolUse

Kind = Literal["path", "command", "number", "id", "decision", "stated"]
KINDS: tuple[Kind, ...] = get_args(Kind)

LONG_VALUE = 400
"""A longer value of a call is the content of a file: what stands in it is written, not remembered."""

USED: dict[Kind, float] = {"decision": 0.35, "stated": 0.5}
KEPT = 0.6
"""The share of a sentence's words that one sentence must have to use it, and to hold it."""

FEWEST_WORDS: dict[Kind, int] = {"decision": 3, "stated": 4}
LONGEST_SENTENCE = 300

_URL = re.compile(r"\b[a-z][a-z+]{1,9}://[^\s<>\"'`)\]]+")
_GUTTER = re.compile(r"(?m)^[^\S\n]*\d+\s?(?:[\t→|:│]|(?= {2}))")
_ENDS = (
    "py pyi ts tsx js jsx mjs cjs go rs md mdx rst json jsonl ndjson yml yaml toml sh bash css scss html htm txt "
    "sql java kt rb php c h cc cpp hpp cs swift cfg ini lock vue svelte ex exs env log csv tsv xml proto ipynb "
    "gradle tf conf svg png jpg jpeg gif pdf zip gz db sqlite lua zig nix prisma graphql patch diff snap tmpl j2 "
    "f f90 m r jl dart scala pl"
)
_EXTENSION = "|".join(sorted(_ENDS.split(), key=len, reverse=True))
_PATH = re.compile(
    rf"(?<![\w/.@~$%+-])(?:~?/)?(?:(?:\[[\w.-]{{1,99}}\]|[\w.@+-]){{1,99}}/){{0,40}}"
    rf"(?:(?:\[[\w.-]{{1,99}}\]|[\w@+-])[\w.@+-]*\.(?:{_EXTENSION})|Makefile|Dockerfile)(?![\w/(-]|\.\w)"
)
_ID = re.compile(
    r"(?<!\w)(?=[\da-fA-Zv#])(?:"  # true of every id, and soon told of most places that are none
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|(?<![\w/.#-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?![\w-])"
    r"|\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b(?!-)"
    r"|(?<![\w&/#])#\d{1,6}\b"
    r"|(?<![\w.])v?\d{1,4}\.\d{1,4}\.\d{1,6}(?:[-+.](?:rc|alpha|beta|dev|post)[\w.]*)?(?![\w.]*\d)"
    r"|(?<=localhost:)\d{2,5}\b|(?<=0\.0\.0\.0:)\d{2,5}\b|(?<=127\.0\.0\.1:)\d{2,5}\b|(?<=[Pp]ort )\d{2,5}\b"
    r"|(?<=[Pp]ort=)\d{2,5}\b|(?<=PORT=)\d{2,5}\b|(?<=--port )\d{2,5}\b)"
)
_HEX = re.compile(r"[0-9a-f]{7,40}")
_STANDARDS = re.compile(r"(?:UTF|SHA|ISO|RFC|CVE|GPT|HTTP|TLS|AES|RSA|MD|X|H|UTC|GMT|ES|IPV)-\d+", re.IGNORECASE)
_UNIT = (
    r"(?:%|percent\b|ms\b|µs\b|ns\b|s\b|sec(?:onds?)?\b|min(?:utes?)?\b|hours?\b|h\b|days?\b|weeks?\b|[KMGT]i?B\b|"
    r"bytes?\b|px\b|tokens?\b|lines?\b|tests?\b|rows?\b|files?\b|dollars?\b|EUR\b|USD\b|€|km\b|kg\b|m\b|MHz\b|GHz\b|"
    r"chars?\b|characters?\b|requests?\b|users?\b|errors?\b|passed\b|failed\b|个|条|行)"
)
_NUMBER = re.compile(
    rf"(?=[$€£\d])(?<![\w.,:/#\\+@-])[$€£]?(\d{{1,3}}(?:[,_]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w.]*\d)(?!,\d)"
    rf"(?=(\s?{_UNIT})|[^\w:/-]|[:.](?!\w)|$)"
)
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[。！？]|\n+|(?<=;)\s")
_DECIDED = re.compile(
    r"\b(?:decided?|decision|let'?s (?:go|use|keep|do|stick|call|make|try)|go(?:ing)? with|stick with"
    r"|switch(?:ed|ing)? to|we(?:'ll| will| should) (?:use|keep|go)|I(?:'ll| will) go with"
    r"|(?:we|I) cho(?:se|ose)|was chosen|prefer|agreed|settled on|opt(?:ed)? (?:for|to)|won'?t (?:use|do)"
    r"|entschieden|nehmen wir|lieber|stattdessen)\b|决定|改用|采用|选择|而不是"
    r"|\b(?:use|using|go|keep|put|make|store|write|queue|add|let'?s|we|I|will|should)\b[^.]*"
    r"\b(?:instead of|rather than)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\?\s*$|\b(?:let me know|would you (?:like|prefer)|do you (?:want|prefer)|please choose)\b", re.IGNORECASE
)
"""What only offers a choice decides nothing."""
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LONG_FENCE = re.compile(r"```\w*\n(?:(?!```).){400,}(?:```|\Z)", re.DOTALL)
_SHELL_FENCE = re.compile(r"```(?:bash|sh|shell|console|mswea_bash_command)\n((?:(?!```).)*)```", re.DOTALL)
_TAG = re.compile(r"<(\w+)>")
_LOOKS = (
    "ls cat head tail sed grep rg find cd echo wc pwd mkdir rm cp mv which sleep export source touch awk sort "
    "uniq tree true false set env printf read exit view xargs cut tr ps kill jq stat file du df type test [ for "
    "while do done if then else fi less more nl date bat fd ag tee chmod ln unset wait"
)
_LOOKING = frozenset(_LOOKS.split())
_COMMON_NAMES = (
    "package.json README.md readme.md Makefile CHANGELOG.md Dockerfile tsconfig.json pyproject.toml setup.py "
    "index.html index.ts index.js __init__.py Cargo.toml go.mod CLAUDE.md AGENTS.md SKILL.md main.py"
)
_EVERYWHERE = frozenset(_COMMON_NAMES.split())
"""Names that an agent need not be told."""
_GIT = "status diff log add show branch commit checkout stash rev-parse fetch pull"
_KNOWN_GIT = frozenset(_GIT.split())
_PLACES = re.compile(r"offset|limit|timeout|line|range|start|end|page|count|max|wait|yield|id$", re.IGNORECASE)
_COMMAND_KEYS = ("command", "cmd", "commands", "script")
_EMPTY_WORDS = (
    "this that with from have will when what which there their they them then than into your just also been were "
    "would should could about after before where while these those some such only more most very here each other "
    "make made does done like need want please user file files code"
)
_STOP = frozenset(_EMPTY_WORDS.split())


class Item(Struct, frozen=True):
    """Something needed. `forms`: any of these, standing by itself, holds it; a sentence is held by its `words`."""

    kind: Kind
    text: str
    forms: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


@dataclass
class Found:
    """What stands in some texts, by kind; numbers and ids with the words beside them."""

    paths: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    numbers: dict[str, set[str]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)

    def read(self, text: str, cwd: str) -> None:
        text = _GUTTER.sub("", _URL.sub(" ", text))
        self.paths.update(plain_path(match[0], cwd) for match in _PATH.finditer(text))
        for match in _ID.finditer(text):
            if not _STANDARDS.fullmatch(match[0]):
                self.ids.setdefault(match[0].removeprefix("v"), set()).update(_beside(text, match))
        for match in _NUMBER.finditer(text):
            if _specific(match[1], match[2] or ""):
                self.numbers.setdefault(_plain_number(match[1]), set()).update(_beside(text, match))


def needed(head: Sequence[Message], later: Sequence[Message], cwd: str = "", always: str = "") -> tuple[Item, ...]:
    """The items of `head` that the agent's messages among `later` use before anybody tells them again, by first use.
    `always` is what the model is told with every call."""
    if not later:  # nothing can have been used: the whole head need not be read
        return ()
    known, told = Found(), Found()
    told.read(always, cwd)
    for message in head:
        for text in texts(message):
            known.read(text, cwd)
        known.commands.update(commands(message))
    names = {_name(path) for path in known.paths}
    told_names = {_name(path) for path in told.paths} | _folders(cwd)
    found: dict[tuple[Kind, str], Item] = {}
    spoken = _Sentences(head)
    heard: list[str] = []
    for message in later:
        if message.role != "assistant":
            _tell(message, told, told_names, cwd)
            heard += texts(message)
            spoken.tell(message)
            continue
        used = Found()
        for text in texts(message, longest=LONG_VALUE):
            used.read(text, cwd)
        for path in sorted(used.paths):
            known_here = path in known.paths or ("/" not in path and path in names)
            if known_here and path not in _EVERYWHERE and _name(path) not in told_names:
                found.setdefault(("path", path), Item("path", path, (path,)))
                told_names.add(_name(path))
        for command in sorted(commands(message) & known.commands):
            if any(command in text for text in heard):
                continue
            found.setdefault(("command", command), Item("command", command, (command,)))
        for kind, uses, stated, again in (
            ("number", used.numbers, known.numbers, told.numbers),
            ("id", used.ids, known.ids, told.ids),
        ):
            for key in sorted(uses.keys() & stated.keys() - again.keys()):
                if uses[key] & stated[key] or (kind == "id" and len(key) >= 7):
                    forms = _spellings(key) if kind == "number" else (key,)
                    found.setdefault((kind, key), Item(kind, key, forms))  # type: ignore[arg-type]
        for item in spoken.used(message):
            found.setdefault((item.kind, item.text), item)
    return tuple(found.values())


class _Sentences:
    """The decisions and the user's sentences of a head, and which of them are used or told again."""

    def __init__(self, head: Sequence[Message]) -> None:
        often: Counter[str] = Counter()
        items: dict[tuple[Kind, str], Item] = {}
        for message in head:
            said = message.said if message.role != "assistant" else message.text
            often.update({word for text in texts(message) for word in words_of(text)})
            for sentence, words in sentences(_FENCE.sub(" ", said)):
                kinds: list[Kind] = ["decision"] if _DECIDED.search(sentence) and not _ASKS.search(sentence) else []
                kinds += ["stated"] if message.role != "assistant" else []
                for kind in kinds if len(sentence) <= LONGEST_SENTENCE else ():
                    if len(words) >= FEWEST_WORDS[kind]:
                        items.setdefault((kind, sentence), Item(kind, sentence, words=words))
        self._waiting = list(items.values())
        rare = max(3, len(head) // 20)
        self._telling = [frozenset(word for word in one.words if often[word] <= rare) for one in self._waiting]

    def tell(self, message: Message) -> None:
        heard = [words for text in texts(message) for _, words in sentences(text)]
        self._take(heard)

    def used(self, message: Message) -> list[Item]:
        spoken = [words for text in texts(message, longest=LONG_VALUE) for _, words in sentences(text)]
        return self._take(spoken)

    def _take(self, spoken: Sequence[frozenset[str]]) -> list[Item]:
        """What these sentences hold is no longer waited for. Each must have a word of it that is rare."""
        by_word: dict[str, list[int]] = {}
        for number, words in enumerate(spoken):
            for word in words:
                by_word.setdefault(word, []).append(number)
        taken: list[int] = []
        for at, (item, rare) in enumerate(zip(self._waiting, self._telling, strict=True)):
            places = {number for word in rare for number in by_word.get(word, ())}
            least = max(FEWEST_WORDS[item.kind] - 1, USED[item.kind] * len(item.words))
            if any(len(item.words & spoken[number]) >= least for number in places):
                taken.append(at)
        found = [self._waiting[at] for at in taken]
        for at in reversed(taken):
            del self._waiting[at], self._telling[at]
        return found


class Holding:
    """What a compacted context says, made ready for being asked whether it holds an item."""

    def __init__(self, parts: Iterable[str], cwd: str = "") -> None:
        raw = "\n".join(parts)
        self._text = raw.replace(f"{cwd}/", "") if cwd else raw
        self._flat = " ".join(self._text.split())

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """Numbers of the sentences that have a word. Names are found without it: most sessions need nothing else."""
        found: dict[str, list[int]] = {}
        for number, (_, words) in enumerate(sentences(self._text)):
            for word in words:
                found.setdefault(word, []).append(number)
        return found

    def holds(self, item: Item) -> bool:
        if item.words:
            counts = Counter(number for word in item.words for number in self._by_word.get(word, ()))
            return any(count >= KEPT * len(item.words) for count in counts.values())
        if item.kind == "path" and self._joined(item.text):
            return True
        begins = item.kind == "number" or (item.kind == "id" and _HEX.fullmatch(item.text) is not None)
        return any(_stands(form, self._flat, begins) for form in item.forms)

    def _joined(self, path: str) -> bool:
        """A file told by its name in a line that has its folder: `src/: a.py, b.py`."""
        folder, _, name = path.rpartition("/")
        lines = self._text.split("\n") if folder and name in self._text else ()
        return any(_stands(name, line) and folder in line for line in lines if name in line)


def _stands(form: str, text: str, begins: bool = False) -> bool:
    """Whether it stands there by itself: no longer word, number or name around it; of a hash the beginning is enough,
    and a number may have its unit behind it."""
    at = text.find(form)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(form) : at + len(form) + 1]
        longer = after.isalnum() and form[-1].isalnum()
        if begins and form.replace(",", "").replace(".", "").isdigit():
            longer = after.isdigit()
        elif begins:
            longer = False
        if not (before.isalnum() and form[0].isalnum()) and not longer:
            return True
        at = text.find(form, at + 1)
    return False


def _tagged(text: str, wanted: Callable[[str, int], bool]) -> Iterator[tuple[int, int, int, int]]:
    """Where a tag begins, what stands in it begins and ends, and its closing mark ends, of those that are `wanted` by
    their name and by how many characters stand in them; none lies in another. A tag that nothing closes is none."""
    at, unclosed = 0, set[str]()
    while found := _TAG.search(text, at):
        at, name = found.end(), found[1]
        end = -1 if name in unclosed else text.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
        elif wanted(name, end - at):
            yield found.start(), at, end, (at := end + len(name) + 3)


def _without_long_tags(text: str) -> str:
    """A text without what an agent that calls its tools in words writes into a file."""
    kept, at = "", 0
    for start, _, _, stop in _tagged(text, lambda _, size: size >= LONG_VALUE):
        kept += text[at:start] + " "
        at = stop
    return kept + text[at:]


def texts(message: Message, longest: int = 0) -> Iterator[str]:
    """What a message says: texts, thoughts, results and the values of calls, no longer than `longest` if that is set.
    Of what the agent used, the places that it gives a tool to look at are no numbers that it knew."""
    for block in message.blocks:
        match block:
            case Text(text):
                yield _LONG_FENCE.sub(" ", _without_long_tags(text)) if longest else text
            case Thinking(text) if text and not longest:
                yield text
            case ToolUse(_, _, given):
                for key, given_value in fields_in(given):
                    if given_value is None or isinstance(given_value, bool):
                        continue
                    value = str(given_value)
                    if not longest or (len(value) <= longest and not (_PLACES.search(key) and value.isdigit())):
                        yield value
            case ToolResult():
                yield block.text


def commands(message: Message) -> set[str]:
    """The lines that a message runs in a shell: by the calls' inputs, or in a fence of its text."""
    lines: list[str] = []
    for call in message.calls:
        given = call.input if isinstance(call.input, dict) else {}
        for key in _COMMAND_KEYS:
            value = given.get(key)
            if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
                value = value[-1] if "-lc" in value[:2] or "-c" in value[:2] else " ".join(value)
            if isinstance(value, str):
                lines.append(value)
    if message.role == "assistant":
        lines += _SHELL_FENCE.findall(message.text)
        spans = _tagged(message.text, lambda name, _: name in ("command", "cmd"))
        lines += [message.text[start:stop] for _, start, stop, _ in spans]
    return {one for line in lines for one in _parts(line) if _worth(one)}


def _parts(line: str) -> Iterator[str]:
    """The commands of a shell line, each without what it is piped into or written to."""
    line = line.split("<<", 1)[0]
    quote, piped, now = "", False, ""
    index = 0
    while index < len(line):
        char = line[index]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in ";\n" or line.startswith(("&&", "||"), index):
            yield _core(now)
            now, piped = "", False
            index += 1 if char in ";\n" else 2
            continue
        elif char == "|":
            piped = True
        if not piped:
            now += char
        index += 1
    yield _core(now)


def _core(command: str) -> str:
    command = re.sub(r"\s\d?>{1,2}&?\s*\S+|\s<\s\S+", "", " ".join(command.split()))
    return re.sub(r"^(?:timeout \d+\w? |time |sudo |\( ?)+", "", command).rstrip(" &)")


def _worth(command: str) -> bool:
    words = command.split()
    if len(words) < 2 or len(command) > LONG_VALUE or words[0] in _LOOKING or words[0].startswith(("#", "-", "$", "}")):
        return False
    return not (words[0] == "git" and words[1] in _KNOWN_GIT)


def plain_path(path: str, cwd: str) -> str:
    """Without the project's folder and what says "here"."""
    if cwd and path.startswith(cwd + "/"):
        path = path[len(cwd) + 1 :]
    while path.startswith("./"):
        path = path[2:]
    return path


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folders(cwd: str) -> set[str]:
    return {part for part in cwd.split("/") if part}


def _tell(message: Message, told: Found, names: set[str], cwd: str) -> None:
    for text in texts(message):
        before = len(told.paths)
        told.read(text, cwd)
        if len(told.paths) != before:
            names.update(map(_name, told.paths))


def _beside(text: str, match: re.Match[str]) -> set[str]:
    """The words of the line near a match: what a number is of."""
    start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 60)
    end = text.find("\n", match.end())
    return set(words_of(text[start : min(end if end >= 0 else len(text), match.end() + 60)]))


def _specific(number: str, unit: str) -> bool:
    digits = re.sub(r"\D", "", number)
    if "." in number:
        return 2 <= len(digits) <= 12
    if unit.strip():
        return 2 <= len(digits) <= 12
    return 4 <= len(digits) <= 12 and not re.fullmatch(r"(?:19|20)\d\d", number)


def _plain_number(number: str) -> str:
    return re.sub(r"[,_]", "", number)


def _spellings(number: str) -> tuple[str, ...]:
    whole, dot, fraction = number.partition(".")
    return tuple(dict.fromkeys([number, *(f"{int(whole):,}".replace(",", by) + dot + fraction for by in ",_ \u202f")]))


@remembered(20_000)
def words_of(text: str) -> frozenset[str]:
    """The words of a text that say something, cut to six letters for their endings."""
    return frozenset(word[:6] for word in _WORD.findall(text.lower()) if word not in _STOP)


def sentences(text: str) -> list[tuple[str, frozenset[str]]]:
    """Each sentence or line of a text that has words, with these."""
    return [(one.strip(), words) for one in _SENTENCE.split(text) if one and (words := words_of(one))]
