"""docs/interop.md: a row and a section for each tool, of which a run replaces those that it tried."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from interop.told import BETWEEN_FORMATS, TOLD
from interop.tool import Tool
from interop.trial import Column, Trial

PAGE = Path(__file__).resolve().parents[1] / "docs" / "interop.md"
_SHARED = (*BETWEEN_FORMATS, *(one for _, one in TOLD))
_HEAD = f"""# Tried with the agents themselves

`make interop` installs each agent or library in its own home folder and connects it to a local server. It compares
what the agent sends with what the workbench shows and promises: every text, call, result and piece of reasoning.

- **Read**: a session that the agent made is resumed; the prompt it sends is the context shown.
- **Its own compaction**: the same after the agent has compacted the session. Where no file records that (aider), the
  prompt is the one that the agent's preset predicts.
- **Ours, twice**: the workbench compacts and exports that session in several ways. The agent opens it with the printed
  steps, continues, and is resumed once more; the prompt is the promised context. Where a command would open a screen, a
  script passes its arguments to the agent's mode without one.
- **From others**: the same with sessions of two other agents, exported into its format.
- **Repaired**: damaged copies of a session are repaired, opened by the printed steps and continued twice.
- **Every sample** (only libraries): each session of `sample_sessions`, unchanged and compacted in each way, is exported
  into its format and continued once. A session that an API would reject before the compaction is not exported.

Harmless differences are allowed by name. Each agent's own are listed with it; these hold for all:

{"".join(f"- *{one.name}*: {one.why}{chr(10)}" for one in _SHARED)}
"""
_NAMES = (
    "Tool", "Version", "Tried on", "Read", "Its own compaction", "Ours, twice", "From others", "Every sample",
    "Repaired",
)  # fmt: skip
_COLUMNS = f"| {' | '.join(_NAMES)} |\n{'|---' * len(_NAMES)}|\n"


def update(tool: Tool, outcome: Trial | str, day: str, page: Path = PAGE) -> None:
    """Puts a tool's row and section in place of its old ones. `outcome` is the reason, where it could not be had."""
    rows, sections = _read(page)
    rows[tool.title] = _row(tool, outcome, day)
    sections[tool.title] = _section(tool, outcome)
    _write(page, rows, sections)


def _write(page: Path, rows: Mapping[str, str], sections: Mapping[str, str]) -> None:
    names = sorted(rows, key=str.lower)
    parts = [f"## {name}\n\n{sections[name]}" for name in names if sections.get(name)]
    page.write_text(
        _HEAD + _COLUMNS + "".join(rows[name] for name in names) + "\n" + "\n".join(parts), encoding="utf-8"
    )


def _read(page: Path) -> tuple[dict[str, str], dict[str, str]]:
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    table, *sections = text.split("\n## ")
    rows = re.findall(r"^(\| (?!Tool \|)([^|]+?) \|.*\n)", table, re.MULTILINE)
    found = (section.partition("\n\n") for section in sections)
    return {name: _padded(row) for row, name in rows}, {name: rest.rstrip("\n") + "\n" for name, _, rest in found}


def _padded(row: str) -> str:
    """A row with as many cells as the table has by now."""
    missing = _COLUMNS.partition("\n")[0].count("|") - len(re.findall(r"(?<!\\)\|", row))
    return row.removesuffix("\n") + " |" * missing + "\n"


def _row(tool: Tool, outcome: Trial | str, day: str) -> str:
    cells = [tool.title, tool.package.version, day]
    if isinstance(outcome, str):
        return f"| {' | '.join([*cells, _plain(f'not tried: {outcome}'), '', '', '', '', ''])} |\n"
    return f"| {' | '.join([*cells, *map(_cell, outcome.columns)])} |\n"


def _cell(column: Column) -> str:
    if column.not_tried:
        return _plain(column.not_tried)
    equal = sum(not verdict.difference for verdict in column.verdicts)
    return ("equal" if equal else "differs") if len(column.verdicts) == 1 else f"{equal} of {len(column.verdicts)}"


def _section(tool: Tool, outcome: Trial | str) -> str:
    if isinstance(outcome, str):
        return ""
    lines = []
    for column in outcome.columns:
        for verdict in column.verdicts:
            if column is outcome.samples and not verdict.difference:
                continue
            said = verdict.difference or "equal" + (f"; allowed: {', '.join(verdict.allowed)}" * bool(verdict.allowed))
            lines.append(f"- {verdict.of}: {_plain(said)}\n")
    used = {name for column in outcome.columns for name in _allowed(column)}
    told = [f"- *{one.name}*: {one.why}\n" for one in tool.allowances if one.name in used]
    return "".join(lines) + ("\nAllowed:\n\n" + "".join(told) if told else "")


def _allowed(column: Column) -> Sequence[str]:
    return [name for verdict in column.verdicts for name in verdict.allowed]


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
