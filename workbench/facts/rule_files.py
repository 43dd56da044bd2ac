"""Rule files such as CLAUDE.md and AGENTS.md: where a session records them, and the rules in them.

An agent sends such a file in its system prompt or next to the user's words (`_FRAMES`), or reads it with a tool. Each
sentence is judged by itself: the file is written to instruct, so its length and layout are no sign against a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.calls import calls_in
from workbench.facts.fences import without_fences
from workbench.facts.shell import views
from workbench.facts.standing import rule_reason
from workbench.facts.tools import normal_path
from workbench.facts.wording import sentences
from workbench.session import Message, Text, ToolUse

_NAME = re.compile(
    r"(?:^|[\\/])(?:(?:CLAUDE|CLAUDE\.local|AGENTS|AGENTS\.override|GEMINI|QWEN|copilot-instructions|"
    r"[\w.-]+\.instructions)\.md|\.(?:cursor|windsurf|cline)rules|"
    r"\.(?:claude|cursor|windsurf|roo)[\\/]rules[\\/][^\n]{1,200}\.mdc?|\.clinerules[\\/][^\n]{1,200}\.md)$"
)


def is_rule_file(path: str) -> bool:
    """Return whether agents read the file of this path as rules: CLAUDE.md, AGENTS.md, .cursor/rules/x.mdc, …"""
    return _NAME.search(path) is not None


class RuleFile(Struct, frozen=True):
    """Record of a rule file: in message `index`, or in the system prompt if that is None. `path` is as recorded;
    `text` has no line numbers and may be a part of the file. `sent`: the agent sent it unasked, with or without a path.
    """

    path: str
    index: int | None
    text: str
    sent: bool = True

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules in the text, each once, on one line."""
        return rules_of(self.text)


# --- records ----------------------------------------------------------------------------------------------------------

_FRAMES = (
    # Claude Code, in a reminder.
    (
        "Contents of ",
        re.compile(
            r"^Contents of (?P<path>[^\n]+?)(?: \([^\n]*\))?:\n\n(?P<text>.*?)(?=^Contents of |^\s*</system-reminder>|"
            r"^# (?:important-instruction-reminders|currentDate|gitStatus|userEmail)$|"
            r"^\s*IMPORTANT: this context may or may not|\Z)",
            re.MULTILINE | re.DOTALL,
        ),
    ),
    # Codex, in a user message; `path` is the folder.
    (
        "# AGENTS.md instructions",
        re.compile(
            r"^# AGENTS\.md instructions(?: for (?P<folder>[^\n]+))?\s+<INSTRUCTIONS>(?P<text>.*?)</INSTRUCTIONS>",
            re.MULTILINE | re.DOTALL,
        ),
    ),
    # Codex before October 2025.
    ("<user_instructions>", re.compile(r"<user_instructions>(?P<text>.*?)</user_instructions>", re.DOTALL)),
    # Copilot CLI, in the system prompt. It names the path of an imported file only.
    (
        "<custom_instruction>",
        re.compile(
            r"<custom_instruction>(?:\s*@\S+\s+<imported_custom_instruction source=\"(?P<path>[^\"]+)\">)?"
            r"(?P<text>.*?)</custom_instruction>",
            re.DOTALL,
        ),
    ),
    # pi, in the system prompt, recorded since 1.6.
    (
        "<project_instructions path=",
        re.compile(
            r"<project_instructions path=\"(?P<path>[^\"\n]+)\">(?P<text>.*?)</project_instructions>", re.DOTALL
        ),
    ),
    # Gemini CLI, in the system prompt or its memory.
    (
        "--- Context from: ",
        re.compile(
            r"^--- Context from: (?P<path>[^\n]+?) ---\n(?P<text>.*?)^--- End of Context from: ",
            re.MULTILINE | re.DOTALL,
        ),
    ),
)
"""A text that each form contains, and the form in which an agent sends the file."""

_UNNAMED = {"<user_instructions>": "AGENTS.md", "<custom_instruction>": "custom_instruction"}


def files_in_text(text: str, index: int | None = None) -> Iterator[RuleFile]:
    """Yield the rule files that an agent put into a text: a system prompt, or its addition to a user message."""
    for sign, form in _FRAMES:
        if sign not in text:
            continue
        for number, found in enumerate(form.finditer(text), 1):
            named = found.groupdict()
            path = named.get("path") or ""
            if sign == "# AGENTS.md instructions":
                path = f"{named['folder'].rstrip('/')}/AGENTS.md" if named["folder"] else "AGENTS.md"
            elif not path:
                path = f"{_UNNAMED[sign]}{f' {number}' if number > 1 else ''}"
            elif not is_rule_file(path):
                continue
            yield RuleFile(path, index, found["text"].strip("\n"))


def rule_files(messages: Sequence[Message]) -> tuple[RuleFile, ...]:
    """Return the rule files in messages, in order: those that the agent sent, and the results of reading one. A summary
    has none, nor have the user's own words."""
    found = [
        one
        for index, message in enumerate(messages)
        if message.role in ("user", "system", "tool") and message.kind in ("normal", "meta")
        for block in message.blocks
        if isinstance(block, Text) and (block.injected or message.kind == "meta" or message.role == "system")
        for one in files_in_text(block.text, index)
    ]
    return tuple(sorted((*found, *_read(messages)), key=lambda one: one.index or 0))


def _read(messages: Sequence[Message]) -> Iterator[RuleFile]:
    """Yield the results of calls that read one rule file and nothing else."""
    if not any(_may_read(block) for message in messages for block in message.blocks if isinstance(block, ToolUse)):
        return
    for called in calls_in(messages):
        if called.result is None or called.result_index is None or called.ok is False or not _may_read(called.call):
            continue
        shown = [one.target for one in called.actions if one.kind == "viewed"]
        shown += [path for one in called.actions if one.kind == "command" for path in views(one.target)]
        paths = {normal_path(path) for path in shown}
        if len(paths) == 1 and is_rule_file(path := paths.pop()):
            text = _REMINDER.sub("", called.result.text)
            yield RuleFile(path, called.result_index, _without_numbers(text), sent=False)


def _may_read(call: ToolUse) -> bool:
    values = call.input.values() if isinstance(call.input, dict) else (call.input,)
    return any(_HINT.search(str(value)) for value in values)


_HINT = re.compile(r"\.mdc?\b|rules\b")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_NUMBER = re.compile(r"^[ \t]*\d{1,6}(?:→|\t|\||: ?)", re.MULTILINE)


def _without_numbers(text: str) -> str:
    """Return a tool's result without line numbers, if at least half of its lines have them."""
    return _NUMBER.sub("", text) if 2 * len(_NUMBER.findall(text)) >= text.count("\n") + 1 else text


# --- rules ------------------------------------------------------------------------------------------------------------

_FRONT_MATTER = re.compile(r"\A\s*---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ x]\][ \t]+)?")


@session_cache(256)
def rules_of(text: str) -> tuple[str, ...]:
    """Return the rules in the text of a rule file, each once, in order and on one line. Headings, code, comments,
    tables and front matter have none. Cached: the same file is sent again and again."""
    found = (one for part in _paragraphs(text) for one in sentences(part) if rule_reason(one))
    return tuple(dict.fromkeys(found))


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, each on one line, as Markdown joins them."""
    plain = without_fences(_COMMENT.sub("", _FRONT_MATTER.sub("", text.replace("\r\n", "\n"), count=1)))
    part: list[str] = []
    for line in (*plain.split("\n"), ""):
        item = _ITEM.match(line)
        bare = line[item.end() :].strip() if item else line.strip()
        if item or not bare or bare[0] in "#|<":
            if part:
                yield " ".join(part)
            part = []
        if bare and bare[0] not in "#|<>":
            part.append(bare)
