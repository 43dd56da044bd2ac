"""Claude Code from npm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from interop.compare import Allowance, by_unit, texts_in_one, without
from interop.homes import Home, Package
from interop.server.script import Call
from interop.tool import Tool, compact_with_instruction, with_tools
from interop.units import Unit, Units

_OPTIONS = ("--model", "claude-sonnet-4-5", "--allowedTools", "Read", "Bash")


def _read(path: str) -> Call:
    return Call("Bash", {"command": f"cat {path}", "description": "Print a file"})


def _env(home: Home) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": home.server.url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }


def _make(home: Home, prompts: Sequence[str]) -> Path:
    home.run("claude", "-p", prompts[0], *_OPTIONS)
    path = home.only(".claude/projects/*/*.jsonl")
    for prompt in prompts[1:]:
        _again(home, path, prompt)
    return path


def _again(home: Home, path: Path, prompt: str) -> None:
    home.run("claude", "-p", prompt, "--resume", path.stem, *_OPTIONS)


def _compact_with_instruction(home: Home, path: Path) -> Path:
    return compact_with_instruction(home, path, _again)


def _compact(home: Home, path: Path) -> Path:
    home.run("claude", "-p", "/compact", "--resume", path.stem, *_OPTIONS)
    return path


def _over_limit(home: Home, path: Path) -> Path:
    """The answer says that its prompt took more than the threshold, so that Claude Code compacts before the next."""
    limit = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "200000"}
    prompt = f"Look once more. [[tokens 170000]] {_read('notes.md')} [[then]] [[say Nothing new.]]"
    home.run("claude", "-p", prompt, "--resume", path.stem, *_OPTIONS, env=limit)
    return path


def _refused(home: Home, path: Path) -> Path:
    """The API says that it is too long, as long as more than six answers stand before the prompt."""
    _again(home, path, "One thing more. [[too long 6]]")
    return path


_REMINDER = re.compile(r"\s*(<system-reminder>.*?</system-reminder>)\s*", re.DOTALL)


def _turns(units: Units) -> Iterator[list[Unit]]:
    """What stands between two of the agent's units, and each run of these."""
    return (list(run) for _, run in groupby(units, key=lambda unit: unit.role == "assistant"))


def _reminders_first(units: Units) -> Units:
    """Each turn's reminders before its words and results, in the order of their texts, and no space behind these."""
    said: list[Unit] = []
    for turn in _turns(units):
        if turn[0].role == "assistant":
            said += turn
            continue
        reminders = sorted(found for unit in turn for found in _REMINDER.findall(unit.text))
        said += [Unit("user", "text", text) for text in reminders]
        plain = [replace(unit, text=_REMINDER.sub("", unit.text).rstrip()) for unit in turn]
        said += [unit for unit in plain if unit.text or unit.kind == "result"]
    return tuple(said)


def _one_break_less(units: Units) -> Units:
    """Texts without the line break that parts them from the next one in the same message."""
    pairs = zip(units, (*units[1:], None), strict=True)
    return tuple(
        replace(unit, text=unit.text.removesuffix("\n")) if then and unit.role == then.role == "user" else unit
        for unit, then in pairs
    )


def _is_blank(unit: Unit) -> bool:
    return unit.kind == "text" and not unit.text.strip()


def _is_reasoning(unit: Unit) -> bool:
    return unit.kind == "reasoning"


def _renamed(unit: Unit) -> Unit:
    old = unit.kind == "call" and unit.text.startswith("Task {")
    return replace(unit, text=f"Agent {unit.text.removeprefix('Task ')}") if old else unit


def _tokens_left(unit: Unit) -> bool:
    return unit.text.startswith("<system-reminder>\n<total_tokens>")


_ALLOWED = (
    Allowance("line breaks", "Texts in one message are separated by one more line break.", sent=_one_break_less),
    Allowance(
        "no response",
        "“No response requested.” is sent after a user message that was never answered.",
        sent=without(lambda unit: unit == Unit("assistant", "text", "No response requested.")),
    ),
    Allowance("blank texts", "Texts with only white space are not sent.", shown=without(_is_blank)),
    Allowance(
        "reasoning",
        "Reasoning of a model other than the current one is not sent.",
        sent=without(_is_reasoning),
        shown=without(_is_reasoning),
    ),
    Allowance("renamed tool", "The tool Task is called Agent now.", shown=by_unit(_renamed)),
    Allowance(
        "place of reminders",
        "Reminders recorded next to a message are sent before its text, or inside the last result.",
        sent=_reminders_first,
        shown=_reminders_first,
    ),
    Allowance(
        "tokens left",
        "The number of remaining tokens is sent with its new value.",
        sent=without(_tokens_left),
        shown=without(_tokens_left),
    ),
    Allowance(
        "reminders",
        "Each run sends its own reminders: environment, date, remaining tokens, skills.",
        beside=lambda unit: bool(_REMINDER.fullmatch(unit.text)),
    ),
    Allowance(
        "texts in one",
        "Text next to the user's words in a message is shown separately.",
        sent=texts_in_one,
        shown=texts_in_one,
    ),
)

TOOL = Tool(
    id="claude-code",
    title="Claude Code",
    package=Package("npm", "@anthropic-ai/claude-code", "2.1.330"),
    format="claude-code",
    read=_read,
    make=_make,
    again=_again,
    env=_env,
    compactions={
        "after a refusal": _refused,
        "/compact": _compact,
        "/compact with our instruction": _compact_with_instruction,
        "over its limit": _over_limit,
    },
    command="claude",
    launcher=f'exec "$TOOL" -p "$PROMPT" {" ".join(_OPTIONS[:2])} "$@" {" ".join(_OPTIONS[2:])}',
    turn=with_tools,
    allowances=_ALLOWED,
)
