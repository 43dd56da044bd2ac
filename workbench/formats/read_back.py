"""Comparison of a written session with the promised messages, as the format's own reader returns them.

Normally, the messages are equal, block by block. Another format may have fewer kinds of messages and blocks: then every
word must occur, in order and from the same speaker, and no others. Blocks that are not words (reasoning,
format-specific blocks, calls and results as such) may be missing as often as the writer declared their loss.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Literal, get_args

from msgspec import Struct

from workbench.base.text import clip_at_word
from workbench.base.values import json_text
from workbench.formats.kit.blocks import is_compaction
from workbench.formats.loss import Loss, LossKind, count_losses
from workbench.session import (
    Block,
    Media,
    Message,
    Opaque,
    Session,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    leading_system,
)

Shapes = list[tuple[str, str, tuple[Block, ...]]]

FILLER = 100
"""Longest run of undeclared characters that a writer may add: labels and marks around rendered text."""


def shape(messages: Iterable[Message]) -> Shapes:
    """Return what an export must preserve: roles, kinds and blocks."""
    return [(message.role, message.kind, message.blocks) for message in messages]


def shapes_of_joined_results(messages: Iterable[Message]) -> Shapes:
    """Return the `shape` with adjacent results in one message, because many formats have one record for each."""
    runs = groupby(messages, key=lambda m: (m.role, m.kind) if m.role == "tool" else (m.id, ""))
    groups = [list(run) for _, run in runs]
    return [(run[0].role, run[0].kind, tuple(block for m in run for block in m.blocks)) for run in groups]


def difference(source: Session, promised: Sequence[Message], found: Session, losses: Sequence[Loss] = ()) -> str:
    """Describe the first difference between the messages promised from `source` and the session `found`; "" if there is
    none. `losses` are those that the writer declared."""
    written = found.context()
    if shapes_of_joined_results(promised) == shapes_of_joined_results(written):
        return ""
    return _lost_blocks(promised, written, losses) or _words_differ(source, promised, found, losses)


# --- blocks without words -------------------------------------------------------------------------------------------

_AS_TEXT = (LossKind.CALLS_AS_TEXT, LossKind.RESULTS_AS_TEXT, LossKind.ORPHAN_RESULTS)
_SORTS: tuple[tuple[type[Block], str, tuple[LossKind, ...]], ...] = (
    (Opaque, "format-specific blocks", (LossKind.UNKNOWN_BLOCKS, LossKind.BLOCKS_AS_TEXT)),
    (Media, "images or documents", (LossKind.MEDIA,)),
    (ToolUse, "calls", (LossKind.CALLS_AS_TEXT,)),
    (ToolResult, "results", (LossKind.RESULTS_AS_TEXT, LossKind.ORPHAN_RESULTS)),
)
"""Types of blocks, their names, and the losses that explain a missing one."""


def _lost_blocks(promised: Sequence[Message], found: Sequence[Message], losses: Sequence[Loss]) -> str:
    promised_counts, found_counts = _counted(promised), _counted(found)
    for sort, name, kinds in _SORTS:
        declared = count_losses(losses, *kinds)
        if promised_counts[sort] - found_counts[sort] > declared:
            return f"it has {found_counts[sort]} of {promised_counts[sort]} {name}{_declared(declared)}"
    return _lost_reasoning(promised, found, count_losses(losses, LossKind.REASONING))


def _lost_reasoning(promised: Sequence[Message], found: Sequence[Message], declared: int) -> str:
    """Describe reasoning that is missing beyond the declared losses. Without declared losses, `_words_differ`
    compares reasoning in words. Otherwise a block is lost if it is neither found unchanged nor within one that a
    reader joined."""
    promised_texts, found_texts = _reasoning(promised), _reasoning(found)
    joined = " ".join((found_texts - promised_texts).elements())
    missing = {
        words: times - (joined.count(words) if words else 0) for words, times in (promised_texts - found_texts).items()
    }
    lost = sum(max(0, times) for words, times in missing.items() if declared or not words)
    if lost <= declared:
        return ""
    total, name = (promised_texts.total(), "reasoning") if declared else (promised_texts[""], "reasoning without words")
    return f"it has {total - lost} of {total} blocks of {name}{_declared(declared)}"


def _reasoning(messages: Sequence[Message]) -> Counter[str]:
    blocks = (block for message in messages if message.kind != "boundary" for block in message.blocks)
    return Counter(_on_one_line(block.text, False) for block in blocks if isinstance(block, Thinking))


def _declared(count: int) -> str:
    return f", and {count} declared as lost" if count else ""


def _counted(messages: Sequence[Message]) -> Counter[type[Block]]:
    """Count blocks by type; summaries in words are compared as words."""
    blocks = [block for message in messages if message.kind != "boundary" for block in message.blocks]
    counts = Counter(type(block) for block in blocks if not isinstance(block, Opaque) or not any(_block_texts(block)))
    counts[Media] += sum(isinstance(part, Media) for m in messages for r in m.results for part in r.content)
    return counts


# --- words ----------------------------------------------------------------------------------------------------------

Speaker = Literal["agent", "others"]


class _Words(Struct, frozen=True):
    """Words of message `number`, on one line."""

    text: str
    speaker: Speaker
    number: int


def _words_differ(source: Session, promised: Sequence[Message], found: Session, losses: Sequence[Loss]) -> str:
    """Return the first difference in words, "" if there is none. Each promised text must follow the one before it, and
    no other text may remain. Results may be anywhere, because a format may store them separately. Longer ones are
    matched first, because a shorter one may be a part of them."""
    as_text = count_losses(losses, *_AS_TEXT) > 0
    thoughts = not count_losses(losses, LossKind.REASONING)
    whole = [_with_joined_texts(message) for message in found.context()]
    all_words, answers = list(_words(whole, as_text, thoughts)), _results(whole, as_text)
    results = _results(promised, as_text)
    text = " ".join(words.text for words in all_words)
    said_by = {speaker: _words_of_speaker(all_words, speaker) for speaker in get_args(Speaker)}
    lead = leading_system(promised)
    left_out = count_losses(losses, LossKind.SYSTEM_MESSAGES) >= sum(bool(one.text) for one in promised[:lead])
    prompts = [source.system, *(message.text for message in promised[:lead])]
    allowed = [_on_one_line(one, as_text) for one in prompts]
    inserted = Counter[str]()
    for loss in losses:
        if loss.inserted:
            inserted[_on_one_line(loss.inserted, as_text)] += loss.count
    prompt = _on_one_line(found.system, as_text)
    matched: list[tuple[int, int]] = [(0, 0)]
    at = 0
    for words in _words(promised, as_text, thoughts):
        if words.number <= lead and (left_out or words.text in prompt):
            continue
        place = said_by[words.speaker].find(words.text, at)
        if place < 0:
            return f"message {words.number} changed or is missing: {_quoted(words.text)}"
        at = place + len(words.text)
        matched.append((place, at))
    of_results: list[tuple[int, int]] = []
    begun = [start for start, _ in matched]
    for missing, times in sorted((results - answers).items(), key=lambda one: -len(one[0])):
        free = (place for place in _places(text, missing) if matched[bisect_right(begun, place) - 1][1] <= place)
        places = [place for place in free if not any(start <= place < stop for start, stop in of_results)]
        if len(places) < times or not as_text:
            return f"a tool result is missing: {_quoted(missing)}"
        of_results.extend((place, place + len(missing)) for place in places[:times])
    added = answers - results
    unanswered = count_losses(losses, LossKind.UNANSWERED_CALLS, LossKind.INTERRUPTED_CALLS)
    for extra in added:
        if len(extra) > FILLER or added.total() > unanswered:
            return f"it has an unexpected tool result: {_quoted(extra)}"
    for extra in _unmatched_text(text, [*matched, *of_results]):
        for one in filter(None, allowed):
            extra = extra.replace(one, "")
        for one, times in inserted.items():
            here = min(extra.count(one), times)
            extra, inserted[one] = extra.replace(one, "", here), times - here
        if len(extra) > FILLER:
            return f"it has unexpected text: {_quoted(extra)}"
    return ""


def _words(messages: Sequence[Message], as_text: bool, thoughts: bool) -> Iterator[_Words]:
    for number, message in enumerate(messages, 1):
        if message.kind == "boundary":
            continue
        speaker: Speaker = "agent" if message.role == "assistant" else "others"
        for block in message.blocks:
            if isinstance(block, Thinking) and not thoughts:
                continue
            for line in filter(None, (_on_one_line(text, as_text) for text in _block_texts(block))):
                yield _Words(line, speaker, number)


def _with_joined_texts(message: Message) -> Message:
    """Return the message with each run of texts joined, if its reader separated the user's words from injected ones:
    other formats do not."""
    if not any(isinstance(block, Text) and block.injected for block in message.blocks):
        return message
    runs = groupby(message.blocks, key=lambda block: isinstance(block, Text))
    texts = ((list(run), is_text) for is_text, run in runs)
    joined = ([Text("".join(b.text for b in run if isinstance(b, Text)))] if is_text else run for run, is_text in texts)
    return replace(message, blocks=tuple(block for run in joined for block in run))


def _results(messages: Sequence[Message], as_text: bool) -> Counter[str]:
    texts = (_on_one_line(result.text, as_text) for message in messages for result in message.results)
    return Counter(filter(None, texts))


def _block_texts(block: Block) -> Iterator[str]:
    match block:
        case Text() | Thinking():
            yield block.text
        case ToolUse():
            yield block.name
            yield from _leaves(block.input)
        case Media():
            yield block.placeholder
        case Opaque(_, raw):  # the Messages API's own summary, read as text
            yield raw["content"] if is_compaction(raw) and isinstance(raw.get("content"), str) else ""
        case ToolResult():
            pass


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value if isinstance(value, str) else json_text(value)


def _on_one_line(text: str, as_text: bool) -> str:
    """Return the text without line ends, and without JSON escapes if calls became text."""
    return " ".join((_ESCAPE.sub(_unescaped, text) if as_text else text).split())


_ESCAPE = re.compile(r"\\+(?:([nrtf])|(b)|u([0-9a-fA-F]{4}))?")


def _unescaped(escape: re.Match[str]) -> str:
    blank, back, code = escape.groups()
    return " " if blank else "\b" if back else chr(int(code, 16)) if code else ""


def _words_of_speaker(all_words: Sequence[_Words], speaker: Speaker) -> str:
    """Return the words of one speaker at their positions among all words."""
    return " ".join(words.text if words.speaker == speaker else "\0" * len(words.text) for words in all_words)


def _places(text: str, words: str) -> Iterator[int]:
    """Yield the start of each occurrence."""
    at = 0
    while (at := text.find(words, at)) >= 0:
        yield at
        at += len(words)


def _unmatched_text(text: str, matched: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield the text between the matched spans."""
    at = 0
    for start, stop in [*sorted(matched), (len(text), len(text))]:
        yield text[at:start].strip()
        at = max(at, stop)


def _quoted(text: str) -> str:
    return f"“{clip_at_word(text, 60)}”"
