"""Paths, commands, numbers and ids that messages mention, and their sentences.

Used for the items that a session needed later, for rework and for probes. The patterns are independent of
`workbench.facts`, so that a measure of kept facts does not judge itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from workbench.base.session_caches import session_cache
from workbench.base.values import fields_in
from workbench.session import Message, Text, Thinking, ToolResult, ToolUse

LONG_VALUE = 400
"""Longest value of a call that is searched, in characters. Longer values are file contents, not to be remembered."""

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

_LONG_FENCE = re.compile(r"```\w*\n(?:(?!```).){400,}(?:```|\Z)", re.DOTALL)

_SHELL_FENCE = re.compile(r"```(?:bash|sh|shell|console|mswea_bash_command)\n((?:(?!```).)*)```", re.DOTALL)

_TAG = re.compile(r"<(\w+)>")

_LOOKS = (
    "ls cat head tail sed grep rg find cd echo wc pwd mkdir rm cp mv which sleep export source touch awk sort "
    "uniq tree true false set env printf read exit view xargs cut tr ps kill jq stat file du df type test [ for "
    "while do done if then else fi less more nl date bat fd ag tee chmod ln unset wait"
)

_LOOKING = frozenset(_LOOKS.split())

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


@dataclass
class Mentions:
    """Paths, commands, numbers and ids of texts; numbers and ids map to the words near them."""

    paths: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    numbers: dict[str, set[str]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)

    def add(self, text: str, cwd: str) -> None:
        """Add the mentions of a text."""
        text = self.add_paths(text, cwd)
        for match in _ID.finditer(text):
            if not _STANDARDS.fullmatch(match[0]):
                self.ids.setdefault(match[0].removeprefix("v"), set()).update(_words_near(text, match))
        for match in _NUMBER.finditer(text):
            if _is_specific_number(match[1], match[2] or ""):
                self.numbers.setdefault(_plain_number(match[1]), set()).update(_words_near(text, match))

    def add_paths(self, text: str, cwd: str) -> str:
        """Add only the paths of a text. Return the text without addresses and line numbers."""
        text = _GUTTER.sub("", _URL.sub(" ", text))
        self.paths.update(plain_path(match[0], cwd) for match in _PATH.finditer(text))
        return text


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
    """Yield texts, reasoning, results and values of calls of a message. If `longest` is set, reasoning, long fences and
    tags, longer values, and positions that a call passes to a tool (offset, limit) are left out."""
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
        arguments = call.input if isinstance(call.input, dict) else {}
        for key in _COMMAND_KEYS:
            value = arguments.get(key)
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


def file_name(path: str) -> str:
    """Return the last part of a path."""
    return path.rpartition("/")[2]


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


@session_cache(20_000)
def words_of(text: str) -> frozenset[str]:
    """Return the meaningful words of a text, cut to six letters to ignore endings."""
    return frozenset(word[:6] for word in _WORD.findall(text.lower()) if word not in _STOP)


def sentences(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return each sentence or line that has words, with its words."""
    return [(one.strip(), words) for one in _SENTENCE.split(text) if one and (words := words_of(one))]
