"""Waste in a context by stated rules, with messages and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from workbench.analysis.why.breakdown import block_tokens
from workbench.base.text import counted
from workbench.compaction.context import Context
from workbench.compaction.shape_calls import calls_of
from workbench.facts.calls import ToolCall
from workbench.facts.tools import PATH_KEYS
from workbench.session import Message, ToolResult, ToolUse
from workbench.tokens.visible import visible_parts

WORTH = 200
"""Tokens below which a result is not reported as unused."""

ANSWERS = 3
"""Fewest answers that must follow a result before it is judged."""

NEWS = 3
"""Fewest new words of a result that can be judged."""

UNUSED_RULE = (
    f"A tool result counts as never referred to if it has at least {NEWS} new words (6 letters or more) and none of "
    f"them occurs in the answers, reasoning or calls after it (at least {ANSWERS})."
)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{5,79}")
_SCANNED = 64_000
"""First characters of a text that are searched for words."""

_BASE64 = re.compile(r"[A-Za-z0-9+/]{256,}={0,2}")
_LOG_LINE = re.compile(
    r"^\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:"
    r"|(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE)\b)"
)
_CUT = re.compile(
    r"\d[\d, ]* ?(?:more )?(?:lines?|char(?:acter)?s?|tokens?|bytes|rows|matches) "
    r"(?:were |was |are )?(?:truncated|omitted|elided|clipped|hidden|not shown|left out)"
    r"|(?:output|results?|file list|content|response|file)(?: content)? (?:was |were |is |are |has been )?"
    r"(?:truncated|clipped|too (?:large|long)|limited to)|<response clipped>"
    r"|(?:[\[(…]|\.{3}) ?(?:truncated|clipped|\d+ characters cut)\b(?! ?[:=?])|old tool result content cleared",
    re.IGNORECASE,
)
_EDGE = 400

_CUT_WORDS = (
    "truncated", "omitted", "elided", "clipped", "hidden", "not shown", "left out", "too l", "limited to", " cut",
    "cleared",
)  # fmt: skip
"""Every match of `_CUT` has one of these words; a search for them first is many times faster."""


class FileView(Struct, frozen=True):
    """View of a file. `message` and `index` are those of the result; `by` is the index of a later message that shows
    all of it again, or None."""

    message: str
    index: int
    tokens: int
    by: int | None


class Reread(Struct, frozen=True):
    """File that was viewed more than once."""

    path: str
    reads: tuple[FileView, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all views."""
        return sum(read.tokens for read in self.reads)

    @property
    def repeated(self) -> tuple[FileView, ...]:
        """Views whose content a later view shows again."""
        return tuple(read for read in self.reads if read.by is not None)


class Spot(Struct, frozen=True):
    """Waste in a message: `tokens` of message `message`, at `index`; `note` describes it."""

    message: str
    index: int
    tokens: int
    note: str


class Waste(Struct, frozen=True):
    """All waste by kind. A message may occur in several."""

    rereads: tuple[Reread, ...]
    unused: tuple[Spot, ...]
    base64: tuple[Spot, ...]
    logs: tuple[Spot, ...]
    cut: tuple[Spot, ...]


def find_waste(context: Context) -> Waste:
    """Return the waste of a context."""
    return Waste(
        rereads(context),
        unused(context),
        base64_spots(context),
        log_spots(context),
        cut_spots(context),
    )


def rereads(context: Context) -> tuple[Reread, ...]:
    """Return files viewed more than once, most expensive first.

    A view is repeated by a later one of the same file with the same input, or of the whole file.
    """
    views: dict[str, list[ToolCall]] = {}
    for one in calls_of(context.shape):
        paths = {action.target for action in one.actions if action.kind == "viewed"}
        if len(paths) == 1 and one.result is not None and one.ok is not False:
            views.setdefault(paths.pop(), []).append(one)
    found = [Reread(path, tuple(_file_views(context, ones))) for path, ones in views.items() if len(ones) > 1]
    return tuple(sorted(found, key=lambda one: (-one.tokens, one.path)))


def _file_views(context: Context, ones: list[ToolCall]) -> Iterator[FileView]:
    for number, one in enumerate(ones):
        if one.result is None or one.result_index is None:
            continue
        later = (two for two in ones[number + 1 :] if two.call.input == one.call.input or _is_whole_file(two.call))
        by = next((two.result_index for two in later), None)
        id = context.messages[one.result_index].id
        yield FileView(id, one.result_index, block_tokens(context, one.result_index, one.result), by)


def _is_whole_file(call: ToolUse) -> bool:
    return isinstance(call.input, dict) and set(call.input) <= {*PATH_KEYS, "command", "type"}


def unused(context: Context) -> tuple[Spot, ...]:
    """Return results whose new words nothing uses later (`UNUSED_RULE`), in order. Hidden reasoning cannot be
    checked."""
    messages = context.messages
    first: dict[str, int] = {}
    news: dict[int, int] = {}
    used: set[int] = set()
    answers = 0
    answered_at: dict[int, int] = {}
    for index, message in enumerate(messages):
        is_answer = message.role == "assistant"
        answers += is_answer and message.kind == "normal"
        for word in _words(message):
            at = first.setdefault(word, index)
            if at == index:
                news[index] = news.get(index, 0) + 1
            elif is_answer and messages[at].results:
                used.add(at)
        if message.results:
            answered_at[index] = answers
    tokens = context.layout.sizes.tokens
    return tuple(
        Spot(messages[index].id, index, tokens[index], f"{news[index]} new words, none used later")
        for index, before in answered_at.items()
        if news.get(index, 0) >= NEWS and index not in used and tokens[index] >= WORTH and answers - before >= ANSWERS
    )


def _words(message: Message) -> set[str]:
    texts = [part for part in visible_parts(message) if isinstance(part, str)]
    return {word for text in texts for word in _WORD.findall(text[:_SCANNED])}


def base64_spots(context: Context) -> tuple[Spot, ...]:
    """Return texts and results with long base64: encoded files that a model can hardly read."""
    found = []
    for index, message in enumerate(context.messages):
        texts = (text for text in visible_parts(message) if isinstance(text, str) and len(text) >= 256)
        chars = sum(len(run) for text in texts for run in _base64_runs(text))
        if chars:
            found.append(_spot(context, index, chars, f"{chars} characters of base64"))
    return tuple(found)


def _base64_runs(text: str) -> Iterator[str]:
    for run in _BASE64.findall(text):
        sample = run[:200]
        mixed = any(map(str.isdigit, sample)) and any(map(str.islower, sample)) and any(map(str.isupper, sample))
        if mixed and len(set(sample)) > 16:
            yield run


def log_spots(context: Context) -> tuple[Spot, ...]:
    """Return results of at least 40 lines, of which at least 60 % begin with a time or a log level."""
    found = []
    for index, message in enumerate(context.messages):
        for result in message.results:
            lines = result.text.split("\n") if len(result.text) > 1_000 else []
            logged = sum(1 for line in lines if _LOG_LINE.match(line))
            if len(lines) >= 40 and logged * 10 >= len(lines) * 6:
                found.append(
                    Spot(message.id, index, block_tokens(context, index, result), f"{counted(logged, 'line')} of log")
                )
    return tuple(found)


def _truncation_notice(text: str) -> re.Match[str] | None:
    """Return the notice in a result that it was cut, None without one."""
    low = text.lower()
    if not any(word in low for word in _CUT_WORDS):
        return None
    found = _CUT.search(text[:_EDGE]) or _CUT.search(text[-_EDGE:])
    return found or (_CUT_MIDDLE.search(text) if len(text) > 2 * _EDGE else None)


def cut_spots(context: Context) -> tuple[Spot, ...]:
    """Return results that were cut before the model saw them: those with a notice, and those "cut silently": several
    results of one tool with different ends have exactly the same length, which is the tool's longest and at least 2 000
    characters."""
    longest: dict[str, list[tuple[int, int, ToolResult]]] = {}
    found: dict[int, Spot] = {}
    for one in calls_of(context.shape):
        if one.result is None or one.result_index is None:
            continue
        text = one.result.text
        longest.setdefault(one.call.name, []).append((len(text), one.result_index, one.result))
        if marker := _truncation_notice(text):
            id, tokens = context.messages[one.result_index].id, block_tokens(context, one.result_index, one.result)
            found[one.result_index] = Spot(id, one.result_index, tokens, f"it says: {' '.join(marker[0].split())}")
    for name, ones in longest.items():
        most = max(length for length, _, _ in ones)
        alike = [(index, result) for length, index, result in ones if length == most and length >= 2_000]
        if len({result.text[-200:] for _, result in alike}) > 1:
            for index, result in alike:
                note = f"cut silently: {len(alike)} results of {name} have just {most} characters"
                found.setdefault(
                    index, Spot(context.messages[index].id, index, block_tokens(context, index, result), note)
                )
    return tuple(found[index] for index in sorted(found))


_CUT_MIDDLE = re.compile(
    r"^[\[(.… ]{1,6}\d[\d,]* (?:lines?|char(?:acter)?s?|tokens?) (?:truncated|omitted|elided)", re.MULTILINE | re.I
)


def _spot(context: Context, index: int, chars: int, note: str) -> Spot:
    whole = context.shape.chars[index + 1] - context.shape.chars[index]
    tokens = context.layout.sizes.tokens[index] * chars // whole if whole else 0
    return Spot(context.messages[index].id, index, tokens, note)
