"""Tool results as `layered` writes them to history: status, and data by the rule of the tool's kind.

A result is read as the envelope
{status, data, text, stats, error, context}; plain text, which is what most agents record, is `data`, with the status
from the record's own error flag. Other agents' tools take the rule of their kind: what a call does to files and shells
is known from `workbench.facts.tools`, the names of those that only list, search or plan stand here.
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
    """Which rule a call's result takes; `other` for an unknown tool and for a result whose call is not known."""
    if call is None:
        return "other"
    name = tool_name(call.name)
    if name in _BY_NAME:
        return _BY_NAME[name]
    actions = actions_of(call)
    return _BY_ACTION[actions[-1].kind] if actions else "other"


def reduced_envelope(call: ToolUse | None, result: ToolResult, limits: ResultLimits | None = None) -> dict[str, Any]:
    """The result as an envelope of status, data by the rule of the call's kind, and error. Never raises, whatever call
    and result hold."""
    whole = result_envelope(result)
    kind = kind_of(call)
    if whole["status"] == "error" and kind != "bash" and isinstance(whole["data"], str):
        kind = "other"  # An error message is no listing.
    given = call.input if call is not None and isinstance(call.input, dict) else {}
    use = CallFacts(call, given, whole["status"] == "error", limits or ResultLimits())
    return {**whole, "data": RULES[kind](use, whole["data"])}


def compress(call: ToolUse | None, result: ToolResult, limits: ResultLimits | None = None) -> ToolResult:
    """The result with its text `reduced_envelope`; the same object where nothing of it would go and it would not get
    shorter.

    Lines of a file and hits of a search that are over the document's limits go even where the form that the rule gives
    to the rest, such as the numbers of lines, takes more room than that; so does what an envelope holds beside status,
    data and error. Images stay as they are.
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
"""Kinds of which the document says how many lines may stay."""


def _is_cut(reduced: dict[str, Any], result: ToolResult) -> bool:
    """Whether a rule left something out, which it says with `truncated`."""
    data, before = reduced["data"], result_envelope(result)["data"]
    already = isinstance(before, dict) and before.get("truncated") is True
    return isinstance(data, dict) and data.get("truncated") is True and not already


_NEVER_SHORTER = len('{"status":"success","data":""}')


@newest_per_shape
def compressor(shape: Shape, limits: ResultLimits) -> Callable[[int], Message]:
    """The message at an index with its tool results compressed, each by its tool's kind; the same object where that
    changes nothing. A changed message keeps its id; it has no `source`, for no record holds its new words.

    Each is made when it is first asked for, and kept while the limits stay the same.
    """
    return cache(lambda index: _compressed(shape, index, limits))


def _compressed(shape: Shape, index: int, limits: ResultLimits) -> Message:
    """A result whose call is not there stays: which rule it takes cannot be told."""
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
    """How many tokens compressing saves; it may cost some, where what stays gets line numbers."""
    return f"{grouped(abs(saved))} tokens {'less' if saved >= 0 else 'more'}"
