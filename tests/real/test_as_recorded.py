"""On how many recorded compactions each tool's preset does what its tool did: never on fewer than this.

It fires at the recorded call, or the one beside it, and keeps just the messages that the agent kept. Why it does
not is said beside the file where that is known; `python scripts/presets.py FOLDER` tells of each compaction.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.courses import counted_from
from workbench.analysis.as_recorded import as_recorded
from workbench.bench import tools_preset
from workbench.compaction.preset import load_preset

FLOOR = {
    "sessions/claude-code/entire-432b48f-progress.jsonl": (2, 2, 2),
    "sessions/claude-code/entire-cd95add-3compactions.jsonl": (3, 3, 3),
    "sessions/claude-code/spotter-fa812bfe.jsonl": (1, 1, 1),
    "sessions/codex/agentv-a60726a-2compacted.jsonl": (2, 2, 2),
    # opencode 1.4.3: GitHub Copilot takes prompts of 128 000 tokens, and nothing stayed
    "sessions/opencode/sbridge-13dddd4-compaction.json": (1, 0, 0),
    # pi of 2025-12 counted what stays otherwise; and the first one came before no more than 16 384 tokens were left
    "sessions/pi/pimono-before-compaction.jsonl": (2, 1, 0),
    "sessions-more/claude-code/entire-dc55b3a-micro-and-full.jsonl": (1, 1, 1),
    # by our count the prompt before it was 25 tokens short of the threshold, by the agent's own 81 over it
    "sessions-more/claude-code/packmind-946606a-compact.jsonl": (1, 0, 1),
    "sessions-more/claude-code/packmind-ee7e610-image-compact.jsonl": (1, 1, 1),
    # the third is 295 tokens short: Codex counts earlier reasoning by its encrypted size, which the file has no more
    "sessions-more/codex/agentv-6eaddfe-3compacted.jsonl": (3, 2, 3),
    # by hand, in the way that keeps the newest 10 000 tokens
    "sessions-more/hand/claude-2.1.226-preservedSegment.jsonl": (1, 0, 0),
    # in the background: what came until it was done stayed; and the size at which it began is its own count
    "sessions/copilot-cli/starcar-84e7f6f-compaction.jsonl": (1, 0, 0),
    "sessions-more/copilot-cli/starcar-a9fe109-compactions.jsonl": (1, 0, 0),
    "agents/files/copilot-cli/1.0.102-compacted.jsonl": (1, 0, 1),
    "agents/files/claude-code/2.1.150-compact.jsonl": (1, 0, 1),
    "agents/files/claude-code/2.1.217-compact.jsonl": (1, 0, 1),
    "agents/files/claude-code/2.1.330-after-auto-compact.jsonl": (1, 1, 1),
    # offline it did not look before the API refused; the refusal, which is not sent, is the newest answer in the file
    "agents/files/claude-code/2.1.330-compacted-after-refusal.jsonl": (1, 0, 0),
    "agents/files/claude-code/2.1.330-manual-compact.jsonl": (1, 0, 1),
    # the third came by hand, and 0.169 injected its own instructions in the place of those of 0.140
    "agents/files/codex/0.169-local-compaction.jsonl": (3, 2, 1),
    "agents/files/codex/0.169-remote-compaction.jsonl": (3, 2, 1),
    # its usage was made up; the fourth summarized an earlier summary alone
    "agents/files/gemini/0.61-after-compress.jsonl": (4, 3, 3),
    "agents/files/opencode/1.18.33-after-compaction.json": (1, 0, 1),
    # by hand, which pi does not say
    "agents/files/pi/0.73.1-after-compact.jsonl": (1, 0, 1),
}
"""By file: the compactions that it records, and at how many of them at least the preset fires, and keeps the same."""


@pytest.mark.parametrize("name", FLOOR)
def test_a_tools_preset_does_what_the_tool_recorded(real: Path, name: str) -> None:
    session, counter = counted_from(real)
    found = list(as_recorded(session, counter, load_preset(tools_preset(session))))
    compactions, calls, kept = FLOOR[name]
    assert len(found) == compactions
    assert sum(one.same_call for one in found) >= calls, "\n".join(one.difference for one in found)
    assert sum(one.same_kept for one in found) >= kept, "\n".join(one.difference for one in found)
