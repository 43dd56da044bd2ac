"""What `codex exec --json` prints: events on lines, from `thread.started` on.

A capture shows what was done, not what was sent: no prompt, no instructions, no results of web searches, and one usage
for a whole turn, which is the bill of a call only where the turn made one. Seen of Codex 0.169; the events:
https://github.com/openai/codex, `codex-rs/exec`. Codex goes on from its rollout, never from a capture: none is written.

No usual place: it is printed; the user stores it.
"""

from __future__ import annotations

from workbench.formats.codex_exec.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.codex_exec.read import Reader

    return Codec(Reader.read)


FORMAT = Format(ID, "codex exec --json", recognise, _codec, api="openai-responses", keys=KEYS, preset="codex")
