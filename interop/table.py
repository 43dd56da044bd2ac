"""docs/interop.md: a row and a section for each tool, of which a run replaces those that it tried."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from interop.told import BETWEEN_FORMATS, TOLD
from interop.tool import Tool
from interop.trial import Column, Trial

PAGE = Path(__file__).resolve().parents[1] / "docs" / "interop.md"
_HEAD = """# Tried with the tools themselves

`make interop` installs each tool in a home of its own, lets it talk to a server on this machine, and holds what it
sends against what the workbench shows and promises, unit by unit: every text, call, result and piece of reasoning, in
order.

- **Read**: a session that the tool made goes on; sent is the context shown.
- **Its own compaction**: the same after the tool has compacted it. Where no file ever has that (aider), what is sent is
  what the tool's preset foretells.
- **Ours, twice**: that session, compacted by the workbench in several ways and exported, is opened by exactly the steps
  that are printed, goes on, and goes on again; sent is what was promised. Where a command would open a screen, a
  script of the same name passes what it was given to the tool's mode without one.
- **From others**: sessions of two other tools, exported into its form, likewise.
- **Repaired**: copies of a session that the tool made, damaged in several ways, are repaired, opened by the steps that
  are printed, and go on twice; sent is the context of the repaired copy.
- **Every sample**: of libraries, which are quick: each session of `sample_sessions`, as it is and compacted in each of
  these ways, exported into its form, goes on once. Below stand those that differ. What would be refused before it was
  compacted (a body that opens with a result without its call) stays so: no export of it is written, which says why.

What a tool is known to change and does no harm is allowed by name, and said below.

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
    told = [
        f"- *{one.name}*: {one.why}\n"
        for one in (*tool.allowances, *BETWEEN_FORMATS, *(one for _, one in TOLD))
        if one.name in used
    ]
    return "".join(lines) + ("\nAllowed:\n\n" + "".join(told) if told else "")


def _allowed(column: Column) -> Sequence[str]:
    return [name for verdict in column.verdicts for name in verdict.allowed]


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
