"""Items that an agent needed again after a compaction. The patterns are independent of `workbench.facts`.

An item occurs in the head (the messages before the compaction), and the agent uses it later in a call or text of its
own before anybody states it again. Six kinds:

    path      file by name or path, without the project's folder
    command   line run in a shell, one per part of `a && b; c`, without what it is piped into; run again identically.
              Commands that only look (ls, cat, grep) do not count: the agent needs the path in them
    number    specific number: unit, fraction or four digits, and a common word near it in both places
    id        hashes, uuids, tickets, `#12`, ports, versions
    decision  sentence of the agent or the user that decides ("let's go with", "instead of"), a third of whose words
              occur in one later sentence of the agent
    stated    any sentence of the user, half of whose words occur in one later sentence of the agent

User messages and tool results state items; a file's name in a listing states its path. The system prompt and the
project's folder are sent with every call, so their items never count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.base.values import fields_in
from workbench.session import Message, Text, Thinking, ToolResult, ToolUse

Kind = Literal["path", "command", "number", "id", "decision", "stated"]
KINDS: tuple[Kind, ...] = get_args(Kind)

LONG_VALUE = 400
"""Longest value of a call that is searched, in characters. Longer values are file content, which needs no memory."""

USED: dict[Kind, float] = {"decision": 0.35, "stated": 0.5}
ENOUGH = 0.6
"""Share of a sentence's words that one sentence must have to keep it."""

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
    r"(?<!\w)(?=[\da-fA-Zv#])(?:"  # a quick test that most other places fail
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
"""A sentence that only offers a choice decides nothing."""
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
"""File names that occur in most projects, and are no needed items."""
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
    """Needed item. A name or number is kept if one of `forms` occurs by itself, a sentence if enough of its `words`
    occur."""

    kind: Kind
    text: str
    forms: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


@dataclass
class Mentions:
    """Paths, commands, numbers and ids of texts; numbers and ids map to the words near them."""

    paths: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    numbers: dict[str, set[str]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)

    def add(self, text: str, cwd: str) -> None:
        """Add the mentions of a text."""
        text = _GUTTER.sub("", _URL.sub(" ", text))
        self.paths.update(plain_path(match[0], cwd) for match in _PATH.finditer(text))
        for match in _ID.finditer(text):
            if not _STANDARDS.fullmatch(match[0]):
                self.ids.setdefault(match[0].removeprefix("v"), set()).update(_words_near(text, match))
        for match in _NUMBER.finditer(text):
            if _is_specific_number(match[1], match[2] or ""):
                self.numbers.setdefault(_plain_number(match[1]), set()).update(_words_near(text, match))


def needed_items(
    head: Sequence[Message], later: Sequence[Message], cwd: str = "", system: str = ""
) -> tuple[Item, ...]:
    """Return the items of `head` that the agent uses in `later` before anybody states them again, in order of first
    use. Items in `system`, the prompt of every call, are left out."""
    if not later:  # do not read the head for nothing
        return ()
    known, told = Mentions(), Mentions()
    told.add(system, cwd)
    for message in head:
        for text in texts(message):
            known.add(text, cwd)
        known.commands.update(commands(message))
    names = {_name(path) for path in known.paths}
    told_names = {_name(path) for path in told.paths} | _folders(cwd)
    found: dict[tuple[Kind, str], Item] = {}
    open_sentences = _OpenSentences(head)
    stated_texts: list[str] = []
    for message in later:
        if message.role != "assistant":
            _read_message(message, told, told_names, cwd)
            stated_texts += texts(message)
            open_sentences.hear(message)
            continue
        used = Mentions()
        for text in texts(message, longest=LONG_VALUE):
            used.add(text, cwd)
        for path in sorted(used.paths):
            known_here = path in known.paths or ("/" not in path and path in names)
            if known_here and path not in _EVERYWHERE and _name(path) not in told_names:
                found.setdefault(("path", path), Item("path", path, (path,)))
                told_names.add(_name(path))
        for command in sorted(commands(message) & known.commands):
            if any(command in text for text in stated_texts):
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
        for item in open_sentences.used(message):
            found.setdefault((item.kind, item.text), item)
    return tuple(found.values())


class _OpenSentences:
    """Decisions and user sentences of a head that are neither used nor stated again so far."""

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

    def hear(self, message: Message) -> None:
        """Remove sentences that a message states again."""
        word_sets = [words for text in texts(message) for _, words in sentences(text)]
        self._remove_matching(word_sets)

    def used(self, message: Message) -> list[Item]:
        """Remove and return sentences that a message of the agent uses."""
        word_sets = [words for text in texts(message, longest=LONG_VALUE) for _, words in sentences(text)]
        return self._remove_matching(word_sets)

    def _remove_matching(self, word_sets: Sequence[frozenset[str]]) -> list[Item]:
        """Remove and return sentences that match one of `word_sets`, the words of other sentences. A match shares a
        rare word."""
        by_word: dict[str, list[int]] = {}
        for number, words in enumerate(word_sets):
            for word in words:
                by_word.setdefault(word, []).append(number)
        matched: list[int] = []
        for at, (item, rare) in enumerate(zip(self._waiting, self._telling, strict=True)):
            places = {number for word in rare for number in by_word.get(word, ())}
            least = max(FEWEST_WORDS[item.kind] - 1, USED[item.kind] * len(item.words))
            if any(len(item.words & word_sets[number]) >= least for number in places):
                matched.append(at)
        found = [self._waiting[at] for at in matched]
        for at in reversed(matched):
            del self._waiting[at], self._telling[at]
        return found


class ItemSearch:
    """Texts of a compacted context, prepared for search."""

    def __init__(self, parts: Iterable[str], cwd: str = "") -> None:
        raw = "\n".join(parts)
        self._text = raw.replace(f"{cwd}/", "") if cwd else raw
        self._flat = " ".join(self._text.split())

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """Indexes of the sentences with each word. Computed on first use, because most sessions only look up names."""
        found: dict[str, list[int]] = {}
        for number, (_, words) in enumerate(sentences(self._text)):
            for word in words:
                found.setdefault(word, []).append(number)
        return found

    def holds(self, item: Item) -> bool:
        """True if the texts keep an item."""
        if item.words:
            counts = Counter(number for word in item.words for number in self._by_word.get(word, ()))
            return any(count >= ENOUGH * len(item.words) for count in counts.values())
        if item.kind == "path" and self._is_in_folder_line(item.text):
            return True
        begins = item.kind == "number" or (item.kind == "id" and _HEX.fullmatch(item.text) is not None)
        return any(_contains(form, self._flat, begins) for form in item.forms)

    def _is_in_folder_line(self, path: str) -> bool:
        """True for a file that is named in a line with its folder: `src/: a.py, b.py`."""
        folder, _, name = path.rpartition("/")
        lines = self._text.split("\n") if folder and name in self._text else ()
        return any(_contains(name, line) and folder in line for line in lines if name in line)


def _contains(form: str, text: str, begins: bool = False) -> bool:
    """True if the form occurs by itself, not within a longer word, number or name. The beginning of a hash is enough,
    and a unit may follow a number."""
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


def _tag_spans(text: str, accept: Callable[[str, int], bool]) -> Iterator[tuple[int, int, int, int]]:
    """Yield (start, stop, content start, content stop) of each tag that `accept(name, content length)` accepts. Spans
    do not nest; unclosed tags are skipped."""
    at, unclosed = 0, set[str]()
    while found := _TAG.search(text, at):
        at, name = found.end(), found[1]
        end = -1 if name in unclosed else text.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
        elif accept(name, end - at):
            yield found.start(), at, end, (at := end + len(name) + 3)


def _without_long_tags(text: str) -> str:
    """Return a text without long tags: agents that write calls as text put file contents in them."""
    kept, at = "", 0
    for start, _, _, stop in _tag_spans(text, lambda _, size: size >= LONG_VALUE):
        kept += text[at:start] + " "
        at = stop
    return kept + text[at:]


def texts(message: Message, longest: int = 0) -> Iterator[str]:
    """Yield texts, reasoning, results and values of calls of a message, no longer than `longest` if set. With
    `longest`, the positions that a call passes to a tool (offset, limit) are left out."""
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
    """Return the shell commands of a message: from inputs of calls, or from fences and tags in its text."""
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
        spans = _tag_spans(message.text, lambda name, _: name in ("command", "cmd"))
        lines += [message.text[start:stop] for _, start, stop, _ in spans]
    return {one for line in lines for one in _shell_commands(line) if _is_specific_command(one)}


def _shell_commands(line: str) -> Iterator[str]:
    """Yield the commands of a shell line, without pipes and redirections."""
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
            yield _without_redirections(now)
            now, piped = "", False
            index += 1 if char in ";\n" else 2
            continue
        elif char == "|":
            piped = True
        if not piped:
            now += char
        index += 1
    yield _without_redirections(now)


def _without_redirections(command: str) -> str:
    command = re.sub(r"\s\d?>{1,2}&?\s*\S+|\s<\s\S+", "", " ".join(command.split()))
    return re.sub(r"^(?:timeout \d+\w? |time |sudo |\( ?)+", "", command).rstrip(" &)")


def _is_specific_command(command: str) -> bool:
    words = command.split()
    if len(words) < 2 or len(command) > LONG_VALUE or words[0] in _LOOKING or words[0].startswith(("#", "-", "$", "}")):
        return False
    return not (words[0] == "git" and words[1] in _KNOWN_GIT)


def plain_path(path: str, cwd: str) -> str:
    """Return a path without the project's folder and a leading "./"."""
    if cwd and path.startswith(cwd + "/"):
        path = path[len(cwd) + 1 :]
    while path.startswith("./"):
        path = path[2:]
    return path


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folders(cwd: str) -> set[str]:
    return {part for part in cwd.split("/") if part}


def _read_message(message: Message, mentions: Mentions, names: set[str], cwd: str) -> None:
    for text in texts(message):
        before = len(mentions.paths)
        mentions.add(text, cwd)
        if len(mentions.paths) != before:
            names.update(map(_name, mentions.paths))


def _words_near(text: str, match: re.Match[str]) -> set[str]:
    """Return the words near a match on its line, which show the meaning of a number."""
    start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 60)
    end = text.find("\n", match.end())
    return set(words_of(text[start : min(end if end >= 0 else len(text), match.end() + 60)]))


def _is_specific_number(number: str, unit: str) -> bool:
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


@session_cache(20_000)
def words_of(text: str) -> frozenset[str]:
    """Return the meaningful words of a text, cut to six letters to ignore endings."""
    return frozenset(word[:6] for word in _WORD.findall(text.lower()) if word not in _STOP)


def sentences(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return each sentence or line that has words, with its words."""
    return [(one.strip(), words) for one in _SENTENCE.split(text) if one and (words := words_of(one))]
