"""Loader rules of aider, checked line by line as its loader reads: https://github.com/Aider-AI/aider."""

from __future__ import annotations

from workbench.formats.faults import Faults, validator


@validator
def validate(data: bytes) -> Faults:
    """Yield the faults that keep aider from restoring a chat; it reads any text without an error."""
    lines = data.decode(errors="replace").split("\n")
    if not any(line.startswith("# aider chat started at ") for line in lines):
        yield "No line says when the chat started."
    has_message = any(
        line.startswith("#### ") or (line.strip() and not line.startswith(("# ", "> "))) for line in lines
    )
    if not has_message:
        yield "There is no message."
