"""How many bills of real sessions the contexts shown explain: never fewer than this, at never more gaps than this.

What is not explained here was looked up in the file: texts that the agent sent and did not write down (files attached
again after a compaction, the rules of a folder), a removal without a record, a file with its texts masked, prompts that
a provider counted twice. `python scripts/bills.py FOLDER --gaps` tells of every session.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.analysis.usage_check import check_usage
from workbench.formats.files import load
from workbench.tokens import Counter

FLOOR = {
    "sessions/claude-code/ccviewer-fe5e1c67.jsonl": (8, 8, 0),
    "sessions/claude-code/spotter-fa812bfe.jsonl": (156, 125, 0),
    "sessions/claude-code/entire-cd95add-3compactions.jsonl": (224, 17, 4),
    "sessions/claude-code/agentcmd-full-session-four.jsonl": (29, 1, 1),
    "sessions/codex/agentcmd-2025-09-25T15.jsonl": (34, 34, 0),
    "sessions/codex/agentv-a60726a-2compacted.jsonl": (216, 188, 0),
    "sessions/gemini/agentcmd-session-2025-10-27.json": (14, 14, 0),
    "sessions/inspect/browser.json": (4, 4, 0),
    "sessions/mini-swe-agent/psf__requests-1142.traj.json": (70, 65, 0),
    "sessions/opencode/bestcodes-d2f55b0.json": (34, 34, 0),
    "sessions/pi/authgo-7407a21.jsonl": (183, 183, 0),
    "sessions/pi/pimono-before-compaction.jsonl": (464, 425, 0),
    "sessions-more/claude-code/starcar-071b084-2.1.217.jsonl": (233, 233, 0),
    "sessions-more/claude-code/entire-a0e41fd-microcompact-only.jsonl": (97, 82, 1),
    "sessions-more/claude-code/entire-dc55b3a-micro-and-full.jsonl": (130, 84, 1),
    "sessions-more/codex/agentcmd-2025-09-25T09.jsonl": (84, 84, 0),
    "sessions-more/pi/raquezha-336e9c5-fork.jsonl": (131, 130, 0),
}
"""By file: the bills that can be judged, those explained at least, the gaps at most."""


@pytest.mark.parametrize("name", FLOOR)
def test_the_contexts_of_real_sessions_explain_their_bills(real: Path, name: str) -> None:
    found = check_usage(load(real), Counter())
    judged, explained, gaps = FLOOR[name]
    assert (found.judged, len(found.gaps) <= gaps) == (judged, True)
    assert found.judged - len(found.unexplained) >= explained
