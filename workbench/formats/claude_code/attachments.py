"""Messages made from `attachment` lines: text that Claude Code sends with a user prompt or a tool result.

Since 2.1.2xx `rendered` holds the exact text sent. Older lines hold the attachment's data only: the text sent is
known for hooks and rule files (`_TEXTS`); for other types (`_DATA`) Claude Code adds unknown wording, and only the
data is shown here. Unknown attachments become opaque blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.formats.kit.blocks import as_text, from_anthropic
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.session import Block, Kind, Opaque, Text

SNAPSHOT = "prompt_snapshot"
"""Attachment type with the system prompt and tools that apply from this line on."""

_NEVER_SENT = frozenset(
    [SNAPSHOT, "already_read_file", "autocheckpointing", "background_task_status", "command_permissions",
     "context_efficiency", "edited_image_file", "hook_cancelled", "hook_error_during_execution",
     "hook_non_blocking_error", "hook_permission_decision", "hook_system_message", "structured_output", "todo",
     "task_progress", "ultramemory"]
)  # fmt: skip
"""Types that no version of Claude Code sends."""

_FROM_HOOKS = ("SessionStart", "UserPromptSubmit")
"""Hook events whose output goes to the model."""


def kind_and_blocks(value: dict[str, Any]) -> tuple[Kind, list[Block]]:
    """Return kind and blocks of the user message that an attachment line adds; no blocks if nothing is sent."""
    raw = value.get("attachment")
    attachment = dict_of(raw)
    rendered = value.get("rendered")
    type = text_of(attachment.get("type"))
    if isinstance(rendered, list):
        blocks = [block for one in rendered for block in from_anthropic(dict_of(one).get("content"))]
        return _with_prompt(attachment, blocks) if type == "queued_command" else ("meta", _as_injected(blocks))
    if type in _NEVER_SENT:
        return "meta", []
    if type == "queued_command":
        return _with_prompt(attachment, [*from_anthropic(attachment.get("prompt"))])
    if known := _TEXTS.get(type):
        text = known(attachment)
        return "meta", [Text(_reminder(text), injected=True)] if text else []
    if data := _data(attachment.get(_DATA.get(type, ""))):
        return "meta", [Text(data, injected=True)]
    return "meta", [Opaque("attachment", raw)]


def _as_injected(blocks: list[Block]) -> list[Block]:
    return [Text(block.text, injected=True) if isinstance(block, Text) else block for block in blocks]


def _with_prompt(attachment: dict[str, Any], blocks: list[Block]) -> tuple[Kind, list[Block]]:
    """Return a prompt that was queued while the agent worked, split into the user's words and Claude Code's text. A
    message from another agent or a task is queued the same way and becomes meta."""
    origin = text_of(dict_of(attachment.get("origin")).get("kind"))
    if attachment.get("commandMode") == "task-notification" or origin not in ("", "human") or attachment.get("isMeta"):
        return "meta", _as_injected(blocks)
    user_text = "\n".join(block.text for block in from_anthropic(attachment.get("prompt")) if isinstance(block, Text))
    split: list[Block] = []
    for block in blocks:
        if not isinstance(block, Text):
            split.append(block)
            continue
        before, own, after = block.text.partition(user_text) if user_text.strip() else (block.text, "", "")
        pieces = (Text(before, injected=True), Text(own), Text(after, injected=True))
        split += [piece for piece in pieces if piece.text.strip()]
    return "normal", split


def _data(value: Any) -> str:
    inner = value.get("content") if isinstance(value, dict) else value
    return "\n".join(one for one in list_of(inner) if isinstance(one, str)) or text_of(inner)


def _reminder(text: str) -> str:
    return f"<system-reminder>\n{text}\n</system-reminder>"


def _hook_output(attachment: dict[str, Any]) -> str:
    content = text_of(attachment.get("content"))
    is_sent = content and attachment.get("hookEvent") in _FROM_HOOKS
    return f"{_hook_name(attachment)} hook success: {content}" if is_sent else ""


def _hook_context(attachment: dict[str, Any]) -> str:
    content = attachment.get("content")
    text = "\n".join(map(as_text, list_of(content))) or text_of(content)
    return f"{_hook_name(attachment)} hook additional context: {text}" if text else ""


def _hook_blocked(attachment: dict[str, Any]) -> str:
    error = dict_of(attachment.get("blockingError"))
    detail = f"{text_of(error.get('command'))!r}: {text_of(error.get('blockingError'))}"
    return f"{_hook_name(attachment)} hook blocking error from command: {detail}"


def _rule_file(attachment: dict[str, Any]) -> str:
    """Return the text sent for a CLAUDE.md or rule of a folder that the agent entered, as version 2.0 sends it."""
    sent = dict_of(attachment.get("content"))
    path, content = text_of(sent.get("path")), text_of(sent.get("content"))
    return f"Contents of {path}:\n\n{content}" if path and content else content


def _hook_name(attachment: dict[str, Any]) -> str:
    return text_of(attachment.get("hookName"))


_TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "hook_success": _hook_output,
    "hook_additional_context": _hook_context,
    "hook_blocking_error": _hook_blocked,
    "nested_memory": _rule_file,
}

_DATA = {
    "agent_listing_delta": "addedLines",
    "date_change": "newDate",
    "deferred_tools_delta": "addedLines",
    "edited_text_file": "snippet",
    "mcp_instructions_delta": "addedBlocks",
    "silent_turn_reminder": "text",
    "skill_listing": "content",
    "total_tokens_reminder": "text",
}
"""Key of an attachment's data, by attachment type."""
