"""Codex rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, or `.jsonl.zst` (formats.md §2.2).

A response's items (reasoning, text, calls) make one message, and so do tool outputs that stand together; the count of
tokens that Codex writes with each response, and the next turn's context, end both. Event lines repeat what items say
and are no messages. A recorded compaction replaces the context with items of its own; those that equal a message of the
context before are that message.
"""

from __future__ import annotations

from workbench.formats.codex.read import ID, read, recognise
from workbench.formats.codex.rules import validate
from workbench.formats.codex.write import append, write
from workbench.formats.format import Format, Way

FORMAT = Format(
    ID,
    "Codex rollout",
    recognise,
    read,
    write,
    validate,
    ways=(Way("appended", "a compaction behind the loaded rollout", append),),
)
