"""Output of `codex exec --json`: one event per line, from `thread.started` on.

A capture holds no prompt, no instructions and no results of web searches, and one usage per turn, which is that of a
call only if the turn made one. Checked against Codex 0.169; events: https://github.com/openai/codex, `codex-rs/exec`.
Read only: Codex resumes from its rollout, never from a capture.

No usual place: it is printed; the user stores it.
"""

from __future__ import annotations

from workbench.formats.codex_exec.signature import ID, KEYS, recognise
from workbench.formats.format import Codec, Format


def _codec() -> Codec:
    from workbench.formats.codex_exec.read import Reader

    return Codec(Reader.read)


FORMAT = Format(ID, "codex exec --json", recognise, _codec, api="openai-responses", keys=KEYS, preset="codex")
