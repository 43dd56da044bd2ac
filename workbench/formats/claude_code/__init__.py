"""Claude Code sessions: `~/.claude/projects/<folder>/<session>.jsonl`, the web export `{"loglines": […]}`, and what
`claude -p` prints.

The file does not say which lines are sent to the model:
- Claude Code filters API error lines (`isApiErrorMessage`) out before a call. They are in the file view and the branch
  but in no epoch, like messages with unreadable content. `SessionFacts.api_errors` lists them and the retried errors.
- System lines are not messages, except `local_command` (sent as a user message) and recorded compactions: `events`
  describes what each removes, `epochs` applies it.
- An attachment is a separate user message if any of it is sent; a `prompt_snapshot` holds the system prompt and tools.
- Sub-agent lines are in the file view only, unless the file holds nothing else: then the sub-agent is the session.
  `read_part` reads one sub-agent from the session's file or from a file next to it.
`requests` rebuilds the requests that the newest versions record.

Tested with Claude Code 2.1.330: all requests in its files, and the requests that it sent after it resumed sessions of
2.1.17 to 2.1.330 and exports of these sessions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.formats.format import Codec, CompactCommand, Format, RecordRepair, Skimmed, TriggerSetting
from workbench.formats.kit.values import dict_of, list_of, text_of
from workbench.formats.look import Look
from workbench.formats.machine import Machine, Place, Program

ID = "claude-code"
KEYS = frozenset(
    [
        "cwd",
        "gitBranch",
        "isSidechain",
        "message",
        "parentUuid",
        "sessionId",
        "timestamp",
        "type",
        "userType",
        "uuid",
        "version",
    ]
)

_LINKED = ("user", "assistant", "system", "attachment", "progress")
_FIRST = 5
"""Lines searched for the first answer of iFlow CLI."""

_IFLOWS_ID = re.compile(r"response-\d{13}(?:-|$)")
WEB_EXPORT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"loglines"\s*:')


def recognise(look: Look) -> str:
    """Return why a file is a session, "" if it is not. All lines of `look` are checked: a file may begin with any
    type."""
    if WEB_EXPORT.match(look.head):
        return "a JSON object with loglines, as exported by Claude Code on the web"
    if any(is_iflows(dict_of(record.value)) for record in look.records[:_FIRST]):
        return ""
    for record in look.records:
        if isinstance(record.value, dict) and _is_line(record.value):
            return f"line {record.line} is a {record.value['type']} line of Claude Code"
        if isinstance(record.value, dict) and is_printed(record.value):
            return f"line {record.line} is a {record.value['type']} line, as claude -p prints them with stream-json"
    if any(is_printed(one) for one in list_of(look.document) if isinstance(one, dict)):
        return "a list of messages, as claude -p --verbose prints them with json"
    return ""


def _is_qwens(value: dict[str, Any]) -> bool:
    """Return True for a line of Qwen Code, which links lines the same way but has parts in its messages."""
    return "systemPayload" in value or "parts" in dict_of(value.get("message"))


def is_iflows(value: dict[str, Any]) -> bool:
    """Return True if iFlow CLI wrote the line. It uses Claude Code's keys, but its tool results hold parts of Google's
    API and the ids of its assistant messages are times."""
    body = dict_of(value.get("message"))
    if value.get("type") == "assistant":
        return _IFLOWS_ID.match(text_of(body.get("id"))) is not None
    results = (dict_of(dict_of(block).get("content")) for block in list_of(body.get("content")))
    return any("responseParts" in result for result in results)


def _is_line(value: dict[str, Any]) -> bool:
    type = value.get("type")
    if type in _LINKED and not _is_qwens(value):
        return "uuid" in value and ("sessionId" in value or "parentUuid" in value)
    return (
        (type == "summary" and "leafUuid" in value)
        or (type == "file-history-snapshot" and "snapshot" in value)
        or (
            type in ("queue-operation", "last-prompt", "mode", "permission-mode", "custom-title")
            and "sessionId" in value
        )
    )


def is_printed(value: Mapping[str, Any]) -> bool:
    """Return True for a line that `claude -p` printed."""
    if not isinstance(value.get("session_id"), str) or "sessionId" in value:
        return False
    match value.get("type"):
        case "user" | "assistant" | "stream_event":
            return "parent_tool_use_id" in value or (isinstance(value.get("message"), dict) and "role" not in value)
        case "system":
            return isinstance(value.get("subtype"), str)
        case "result":
            return "total_cost_usd" in value or "num_turns" in value
    return False


def _codec() -> Codec:
    from workbench.formats.claude_code import newest, read, requests, rules, write
    from workbench.formats.kit.marks import EXPORT_NOTE, in_first_line

    return Codec(
        read.read,
        write.write,
        rules.validate,
        addressed=write.addressed,
        read_part=read.read_part,
        requests=requests.requests,
        note=in_first_line(EXPORT_NOTE),
        skim=_skim,
        alone=lambda line: True,
        newest=newest.newest,
        by_line=read.by_line,
        repair=_repair,
        branches=read.branches,
        request_texts=requests.request_texts,
        relatives=read.relatives,
    )


def _skim(path: Path, data: bytes) -> Skimmed | None:
    """Read the usage only; the module is imported on the first call, because only audits need it."""
    from workbench.formats.claude_code.skim import skim

    return skim(path, data)


def _repair() -> RecordRepair:
    """Return the repair of this format's records; its modules are imported on the first call."""
    from workbench.formats.claude_code import repair

    return RecordRepair(repair.records, repair.context)


def _places(machine: Machine) -> Iterator[Place]:
    moved = machine.named("CLAUDE_CONFIG_DIR")
    config = machine.first("XDG_CONFIG_HOME", otherwise=machine.home / ".config")
    for folder in [moved] if moved else [machine.home / ".claude", config / "claude"]:
        # A sub-agent's file belongs to the session that called it.
        yield Place("Claude Code", ID, folder / "projects", ("*/*.jsonl",), except_for="agent-*")


def _setting(trigger: int, window: int) -> str:
    """Return the setting for a trigger: a percentage of the window minus 20 000 tokens for the summary. Claude Code
    ignores a percentage above its default threshold."""
    percent = max(1, min(100, 100 * trigger // max(window - 20_000, 1)))
    return f"set CLAUDE_AUTOCOMPACT_PCT_OVERRIDE={percent} in its environment"


FORMAT = Format(
    ID,
    "Claude Code",
    recognise,
    _codec,
    api="anthropic-messages",
    keys=KEYS,
    preset="claude-code",
    places=_places,
    trigger_setting=TriggerSetting(_setting, lambda window: window - 33_000),
    compact_command=CompactCommand("Claude Code", takes_instruction=True),
    program=Program("claude-code", "claude", ("cli.js", "claude", "claude.exe"), "<example>\n<analysis>\n", "tagged"),
)
