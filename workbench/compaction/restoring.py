"""Restore files that the agent read, after a summary, with the content of the newest tool result.

Claude Code and qwen-code read the files from disk again. A recorded session has no disk, so the recorded content is
used, with a note if an edit came later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from msgspec import Struct

from workbench.compaction.context import Context
from workbench.compaction.language import Language
from workbench.compaction.outcome import NewMessage
from workbench.compaction.shape_calls import actions_at
from workbench.facts.tools import actions_of
from workbench.session import Message, Span, Text


class FileRead(Struct, frozen=True):
    """A file as message `result` shows it. `edited`: the session changed it later."""

    path: str
    content: str
    result: int
    edited: bool


class RestoreLimits(Struct, frozen=True):
    """Most files to restore, most tokens of each (a larger file is only named), and most tokens of all together."""

    files: int
    tokens_each: int
    tokens: int


class RestoredFile(Struct, frozen=True):
    """Message that restores a file; `whole` is false if it only names the file."""

    piece: NewMessage
    whole: bool


def newest_reads(context: Context) -> Iterator[FileRead]:
    """Files read in the context, newest first, each once. Failed and empty reads are skipped."""
    layout, messages = context.layout, context.messages
    touched: set[str] = set()
    seen: set[str] = set()
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        touched.update(
            a.target for a in actions_at(layout.shape, index) if a.kind in ("created", "modified", "deleted")
        )
        for result in reversed(message.results):
            if result.is_error or not result.text.strip():
                continue
            call = layout.shape.call_of(index, result.call_id)
            paths = [a.target for a in actions_of(call) if a.kind == "viewed"] if call is not None else []
            if len(paths) == 1 and paths[0] not in seen:
                seen.add(paths[0])
                yield FileRead(paths[0], result.text, index, paths[0] in touched)


class RestoreWords(Struct, frozen=True):
    """Words around the path of a restored file."""

    restore_files: str
    too_large: str
    edited: str


WORDS: Mapping[Language, RestoreWords] = {
    "en": RestoreWords("[Restored file]", "[File read earlier, not restored: too large]", "(edited after it was read)"),
    "zh": RestoreWords("[恢复的文件]", "[先前读取的文件，过大而未恢复]", "（读取之后被修改过）"),
}


def restore_files(
    context: Context, allowance: RestoreLimits, language: Language, staying: Collection[int]
) -> list[RestoredFile]:
    """One message per file within the limits, newest first; none for files whose recorded read is among `staying`."""
    meter, words = context.layout.sizes.meter, WORDS[language]
    out: list[RestoredFile] = []
    left = allowance.tokens
    reads = (read for read in newest_reads(context) if read.result not in staying)
    for read in islice(reads, allowance.files):
        named = f"{read.path} {words.edited}" if read.edited else read.path
        text = f"{words.restore_files} {named}\n{read.content}"
        cost = meter.text_tokens(text)
        whole = cost <= min(allowance.tokens_each, left)
        if not whole:
            text = f"{words.too_large} {named}"
            cost = meter.text_tokens(text)
            if cost > left:
                break
        left -= cost
        name = f"restored-{context.messages[read.result].id}-{len(out)}"
        message = Message(name, "user", (Text(text),), kind="meta")
        out.append(RestoredFile(NewMessage(message, (Span(read.result, read.result + 1),)), whole))
    return out
