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

Tested with Claude Code 2.1.330: all requests in its files, and what it sent after resuming sessions of 2.1.17 to
2.1.330 and exports of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from workbench.formats.claude_code.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format, RecordRepair, Skimmed, TriggerSetting
from workbench.formats.machine import Machine, Place, Program


def _codec() -> Codec:
    from workbench.formats.claude_code import newest, read, relatives, requests, rules, write
    from workbench.formats.kit.mark import EXPORT_NOTE
    from workbench.formats.kit.note import in_first_line

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
        request_texts=relatives.request_texts,
        relatives=relatives.relatives,
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
    program=Program("claude-code", "claude", ("cli.js", "claude", "claude.exe"), "<example>\n<analysis>\n", "tagged"),
)
