"""What aider needs to restore a chat from its history, judged line by line as its loader does:
https://github.com/Aider-AI/aider.
"""

from __future__ import annotations

from workbench.formats.faults import Faults, validator


@validator
def validate(data: bytes) -> Faults:
    """aider reads any text, but restores nothing from one without these."""
    lines = data.decode(errors="replace").split("\n")
    if not any(line.startswith("# aider chat started at ") for line in lines):
        yield "No line says when the chat started."
    spoken = any(line.startswith("#### ") or (line.strip() and not line.startswith(("# ", "> "))) for line in lines)
    if not spoken:
        yield "There is no message."
