"""Apply the edits by which the Messages API cleared parts of a request before the model read it.

The response reports how much was cleared (`context_management.applied_edits`), not where; the API clears from the
oldest on, again for each request: https://platform.claude.com/docs/en/build-with-claude/context-editing
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from workbench.formats.kit.values import count_of, dict_of, list_of, text_of
from workbench.session import Message, Text, Thinking, ToolResult, ToolUse

CLEARED = "[Old tool result content cleared]"
"""Placeholder for a cleared result; the API does not report the text that it puts there."""


def apply_edits(messages: Sequence[Message], body: Any, answer: Any) -> tuple[Message, ...]:
    """Return the messages of the request `body` as the model read them, by the edits in its response `answer`."""
    requested = list_of(dict_of(dict_of(body).get("context_management")).get("edits"))
    applied = list_of(dict_of(dict_of(answer).get("context_management")).get("applied_edits"))
    edited = tuple(messages)
    for edit in map(dict_of, applied):
        kind = text_of(edit.get("type"))
        request_edit = next((one for one in map(dict_of, requested) if one.get("type") == kind), {})
        if kind.startswith("clear_tool_uses"):
            edited = _clear_results(edited, count_of(edit.get("cleared_tool_uses")), request_edit)
        elif kind.startswith("clear_thinking"):
            edited = _clear_thinking(edited, count_of(edit.get("cleared_thinking_turns")))
    return edited


def _clear_results(messages: Sequence[Message], count: int, edit: dict[str, Any]) -> tuple[Message, ...]:
    """Clear the oldest `count` results, and their calls' inputs if the edit says so; tools in `exclude_tools` are
    spared."""
    spared = [name for name in list_of(edit.get("exclude_tools")) if isinstance(name, str)]
    names = {call.id: call.name for message in messages for call in message.calls}
    results = [result.call_id for message in messages for result in message.results]
    cleared = [id for id in results if names.get(id) not in spared][:count]
    inputs = edit.get("clear_tool_inputs")
    emptied = {id for id in cleared if inputs is True or names.get(id) in list_of(inputs)}
    return tuple(_clear_blocks(message, cleared, emptied) for message in messages)


def _clear_blocks(message: Message, results: Collection[str], inputs: Collection[str]) -> Message:
    blocks = tuple(
        replace(block, content=(Text(CLEARED),))
        if isinstance(block, ToolResult) and block.call_id in results
        else replace(block, input={})
        if isinstance(block, ToolUse) and block.id in inputs
        else block
        for block in message.blocks
    )
    return message if blocks == message.blocks else replace(message, blocks=blocks)


def _clear_thinking(messages: Sequence[Message], turns: int) -> tuple[Message, ...]:
    """Remove thinking from the oldest `turns` turns that have any; a turn ends at the user's next message."""
    edited: list[Message] = []
    turn, thinking = 0, list[int]()
    for message in messages:
        turn += message.role == "user"
        if message.role == "assistant" and any(isinstance(block, Thinking) for block in message.blocks):
            if turn not in thinking:
                thinking.append(turn)
            if thinking.index(turn) < turns:
                rest = tuple(block for block in message.blocks if not isinstance(block, Thinking))
                message = replace(message, blocks=rest)
        edited.append(message)
    return tuple(edited)
