"""Repair of damaged copies, by a seed: of the project's own samples, and of real sessions in eight formats and more."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.damage import kinds_of
from tests.paths import SAMPLES, SHARED
from tests.products import mostly_full
from workbench.repairs.engine import Repair, repair_bytes

OWN = (
    "codex-two-compactions.jsonl",
    "copilot-background-compaction.jsonl",
    "pi-branches.jsonl",
    "gemini-rewind-and-compression.jsonl",
    "opencode-pruned.json",
    "roo-window.json",
    "openai-chat-tools.json",
    "anthropic-compacted.json",
    "goose-hidden.json",
    "openhands-forgotten.json",
)

REAL = (
    "sessions-more/claude-code/agentcmd-full-session-five.jsonl",
    "sessions-more/claude-code/packmind-946606a-compact.jsonl",
    "sessions-more/claude-code/entire-a0e41fd-microcompact-only.jsonl",
    "sessions/claude-code/entire-432b48f-progress.jsonl",
    "sessions/codex/agentcmd-2025-09-25T15.jsonl",
    "sessions/codex/localpush-2026-02-23.jsonl",
    "sessions-more/codex/agentcmd-2025-09-25T09.jsonl",
    "sessions/copilot-cli/agentv-6a6787e-short.jsonl",
    "sessions-more/copilot-cli/starcar-a9fe109-compactions.jsonl",
    "sessions-more/pi/raquezha-336e9c5-fork.jsonl",
    "sessions/pi/authgo-7407a21.jsonl",
    "sessions/pi/pimono-before-compaction.jsonl",
    "sessions-more/gemini/entire-2b9748b.json",
    "sessions/gemini/agentcmd-session-2025-10-27.json",
    "sessions/gemini/sbridge-62e5f7e.json",
    "sessions/opencode/bestcodes-d2f55b0.json",
    "sessions/opencode/sbridge-13dddd4-compaction.json",
    "sessions/roo-cline/roo-natural-already-condensed/api_conversation_history.json",
    "sessions/roo-cline/roo-heavy-uncondensed/api_conversation_history.json",
    "sessions/openai-chat/taubench-airline-entry3-messages.json",
)
"""Twenty real sessions in eight formats, the smallest of a format first."""

TRIED = 2
"""Kinds of damage that each real session is given."""


def holds(made: Repair, whole: Repair) -> None:
    """The copy is read back and passes validation as the undamaged session did, and a second repair finds nothing."""
    assert made.is_sound
    assert made.session is not None
    assert made.session.context()
    assert len(made.left) <= len(whole.left)
    assert repair_bytes(made.path, made.data).fixes == ()


@pytest.mark.parametrize("seed", mostly_full(range(3), in_short=[0]))
@pytest.mark.parametrize("name", OWN)
def test_every_kind_of_damage_to_a_sample_is_repaired(name: str, seed: int) -> None:
    data = (SAMPLES / name).read_bytes()
    whole = repair_bytes(Path(name), data)
    for kind, damage in kinds_of(data).items():
        holds(repair_bytes(Path(name), damage(Random(f"{seed} {kind}"), data)), whole)


@pytest.mark.skipif(SHARED is None, reason="needs the real sessions, which are not part of the project")
@pytest.mark.parametrize(
    "name", mostly_full(REAL, in_short={Path(name).parts[1]: name for name in reversed(REAL)}.values())
)
def test_damaged_copies_of_real_sessions_are_repaired(name: str) -> None:
    assert SHARED is not None
    path = SHARED / name
    data = path.read_bytes()
    whole = repair_bytes(path, data)
    random = Random(name)
    kinds = kinds_of(data)
    for kind in random.sample(sorted(kinds), TRIED):
        holds(repair_bytes(path, kinds[kind](random, data)), whole)
