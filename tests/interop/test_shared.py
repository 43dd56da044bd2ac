"""The same of the requests in the shared folder, which the agents sent after compactions of their own."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

import workbench
from interop.compare import Allowance, Compared, by_unit, compare
from interop.tools import claude_code
from interop.units import Protocol, Unit, of_request, shown
from tests.paths import SHARED

AGENTS = SHARED / "agents" if SHARED else None
pytestmark = pytest.mark.skipif(
    not AGENTS or not AGENTS.is_dir(), reason="the shared folder of the agents' own files is not here"
)

TELLING = 40
"""Characters of a reminder that are alike in file and request: in the files the rest is filler."""
REMINDER = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)


def clipped(unit: Unit) -> Unit:
    return replace(unit, text=REMINDER.sub(lambda found: f"{found[0][:TELLING]}…</system-reminder>", unit.text))


FILLED = Allowance(
    "filler", "Vendors' texts are filler in the files, to the last tag.", sent=by_unit(clipped), shown=by_unit(clipped)
)
CASES: dict[str, tuple[Protocol, int, int, tuple[str, ...]]] = {
    "claude-code/2.1.330-after-auto-compact": ("anthropic", 0, 1, ("filler", "place of reminders")),
    "claude-code/2.1.330-compacted-after-refusal": ("anthropic", 0, 1, ("filler", "place of reminders")),
    "copilot-cli/1.0.102-compacted": ("chat", 1, 0, ()),
    "gemini/0.61-after-compress": ("gemini", 1, 0, ()),
}
"""By file: what its agent speaks, units of the request that came after the file (its prompt), units of the file that
came after the request (its answer), and what had to be allowed."""


@pytest.mark.parametrize("name", CASES)
def test_the_context_shown_is_what_was_sent(name: str) -> None:
    assert AGENTS
    protocol, later, answers, allowed = CASES[name]
    body = json.loads((AGENTS / "sent" / f"{name}.json").read_text(encoding="utf-8"))
    sent = of_request(protocol, body)
    there = shown(workbench.load(AGENTS / "files" / f"{name}.jsonl").context())
    allowances = (FILLED, *claude_code.TOOL.allowances) if protocol == "anthropic" else ()
    found = compare(sent[: len(sent) - later], there[: len(there) - answers], allowances)
    assert found == Compared("", allowed)
