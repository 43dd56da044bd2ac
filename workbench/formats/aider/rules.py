"""What aider needs to restore a chat from its history, judged line by line as its loader does (formats.md §2.13)."""

from __future__ import annotations


def validate(data: bytes) -> list[str]:
    """What is wrong, one sentence each. aider reads any text, but restores nothing from one without these."""
    lines = data.decode(errors="replace").split("\n")
    faults: list[str] = []
    if not any(line.startswith("# aider chat started at ") for line in lines):
        faults.append("no line says when the chat started")
    if not any(line.startswith("#### ") for line in lines):
        spoken = [line for line in lines if line.strip() and not line.startswith(("# ", "> "))]
        faults += [] if spoken else ["nobody says anything"]
    return faults
