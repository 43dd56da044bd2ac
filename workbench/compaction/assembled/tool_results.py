"""Compress tool results for the history of `layered`: status, and data by the rule of the tool's kind.

A result is read as the envelope {status, data, text, stats, error, context}. Plain text, which most agents record, is
`data`, with the status from the record's own error flag. A tool of another agent gets the rule of its kind:
`workbench.facts.tools` knows effects of calls on files and shells; names of tools that only list, search or plan are
listed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from workbench.base.figures import grouped
from workbench.base.values import json_text
from workbench.compaction.assembled.tool_result_rules import RULES, CallFacts, ResultLimits, ToolKind
from workbench.compaction.shape import Shape, newest_per_shape
from workbench.facts.envelope import envelope_is_partial, result_envelope, text_of
from workbench.facts.tools import ActionKind, actions_of, tool_name
from workbench.session import Block, Media, Message, Text, ToolResult, ToolUse
from workbench.session.masked import cut_blocks

__all__ = ["ResultLimits", "ToolKind", "compress", "compressor", "kind_of", "reduced_envelope", "saved_in_words"]

_BY_NAME: dict[str, ToolKind] = {
    **dict.fromkeys(("ls", "list_dir", "list_directory", "list_files", "list", "tree", "readdir"), "ls"),
    **dict.fromkeys(("glob", "find_files", "file_search", "find", "find_file", "search_file_names", "fd"), "glob"),
    **dict.fromkeys(("grep", "grep_search", "search_files", "search_file_content", "rg", "ripgrep"), "grep"),
    **dict.fromkeys(("search_dir", "search_file", "search_code", "code_search", "grep_files"), "grep"),
    **dict.fromkeys(("todowrite", "todo_write", "update_plan", "write_todos", "manage_todo_list"), "todo"),
    **dict.fromkeys(("task_tracker", "update_todo_list"), "todo"),
}
_BY_ACTION: dict[ActionKind, ToolKind] = {
    "viewed": "read",
    "modified": "edit",
    "deleted": "edit",
    "reverted": "edit",
    "created": "write",
    "command": "bash",
}


def kind_of(call: ToolUse | None) -> ToolKind:
    """Kind of a call, which selects the rule; `other` for an unknown tool or call."""
    if call is None:
        return "other"
    name = tool_name(call.name)
    if name in _BY_NAME:
        return _BY_NAME[name]
    actions = actions_of(call)
    return _BY_ACTION[actions[-1].kind] if actions else "other"


def reduced_envelope(call: ToolUse | None, result: ToolResult, limits: ResultLimits | None = None) -> dict[str, Any]:
    """Result as an envelope of status, data by the rule of the call's kind, and error. Never raises, whatever the call
    and the result contain."""
    whole = result_envelope(result)
    kind = kind_of(call)
    if whole["status"] == "error" and kind != "bash" and isinstance(whole["data"], str):
        kind = "other"  # An error message is not a listing.
    arguments = call.input if call is not None and isinstance(call.input, dict) else {}
    use = CallFacts(call, arguments, whole["status"] == "error", limits or ResultLimits())
    return {**whole, "data": RULES[kind](use, whole["data"])}


def compress(call: ToolUse | None, result: ToolResult, limits: ResultLimits | None = None) -> ToolResult:
    """Result with its text reduced; the same object if nothing is removed and it would not get shorter.

    Lines of a file and hits of a search over the document's limits are removed even if the result then takes more room,
    because of line numbers for example. All parts of an envelope except status, data and error are removed as well.
    Images stay.
    """
    text = text_of(result)
    if len(text) <= _NEVER_SHORTER:
        return result
    reduced = reduced_envelope(call, result, limits)
    short = json_text(reduced)
    always = envelope_is_partial(result) or (kind_of(call) in COUNTED and _is_cut(reduced, result))
    if short == text or (len(short) >= len(text) and not always):
        return result
    media = tuple(part for part in result.content if isinstance(part, Media))
    return ToolResult(result.call_id, (Text(short), *media), result.is_error)


COUNTED = ("read", "grep", "glob")
"""Kinds for which the document limits the number of lines."""


def _is_cut(reduced: dict[str, Any], result: ToolResult) -> bool:
    """True if a rule omitted something, which it marks with `truncated`."""
    data, before = reduced["data"], result_envelope(result)["data"]
    already = isinstance(before, dict) and before.get("truncated") is True
    return isinstance(data, dict) and data.get("truncated") is True and not already


_NEVER_SHORTER = len('{"status":"success","data":""}')


@newest_per_shape
def compressor(shape: Shape, limits: ResultLimits) -> Callable[[int], Message]:
    """Function that returns the message at an index with its tool results compressed by kind of tool; the same object
    if nothing changes. A changed message keeps its id and has no `source`, because no record has its new text.

    Each message is computed on demand, and cached while the limits stay the same.
    """
    return cache(lambda index: _compressed(shape, index, limits))


def _compressed(shape: Shape, index: int, limits: ResultLimits) -> Message:
    """Compress a message. A result without its call stays unchanged, because its kind is unknown."""
    message = shape.messages[index]
    if message.kind == "summary" or message.role not in ("tool", "user"):
        return message

    def shorter(block: Block) -> Block:
        if not isinstance(block, ToolResult):
            return block
        call = shape.call_of(index, block.call_id)
        return block if call is None else shape.once(compress, (call, block), limits)

    blocks = cut_blocks(message, shorter, shape.masked_at(index))
    changed = any(new is not old for new, old in zip(blocks, message.blocks, strict=True))
    return replace(message, blocks=blocks, source=()) if changed else message


def saved_in_words(saved: int) -> str:
    """Tokens saved by compressing, in words; line numbers may make the result larger."""
    return f"{grouped(abs(saved))} tokens {'less' if saved >= 0 else 'more'}"
