"""Small Claude Code sessions with figures that can be added up by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RULE = "Never change the file lights.md."


class Written:
    """A session in the making: each line hangs at the one before, ten seconds later."""

    def __init__(
        self, *, version: str = "2.1.330", model: str = "claude-sonnet-4-5", cwd: str = "/home/ada/quay"
    ) -> None:
        self.lines: list[dict[str, Any]] = []
        self.version, self.model, self.cwd = version, model, cwd

    def _line(self, type: str, *, apart: bool = False, **more: Any) -> None:
        number = len(self.lines) + 1
        self.lines.append(
            {
                "type": type,
                "uuid": f"u{number}",
                "parentUuid": None if apart or number == 1 else f"u{number - 1}",
                "sessionId": "quay",
                "version": self.version,
                "cwd": self.cwd,
                "isSidechain": False,
                "timestamp": f"2026-05-04T08:{number // 6:02}:{number % 6 * 10:02}.000Z",
                **more,
            }
        )

    def said(self, text: str) -> Written:
        self._line("user", message={"role": "user", "content": text})
        return self

    def answered(self, text: str, *, prompt: int, output: int = 10, cached: int = 0) -> Written:
        usage = {
            "input_tokens": prompt - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
            "output_tokens": output,
        }
        body = {"id": f"msg_{len(self.lines)}", "type": "message", "role": "assistant", "model": self.model}
        body |= {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}
        self._line("assistant", message=body)
        return self

    def compacted(self, summary: str, *, before: int, trigger: str = "auto", **more: int) -> Written:
        """`more` are `postTokens` and `durationMs`, as newer versions record them."""
        about = {"trigger": trigger, "preTokens": before, **more}
        parent = f"u{len(self.lines)}"
        self._line(
            "system",
            apart=True,
            subtype="compact_boundary",
            content="Conversation compacted",
            compactMetadata=about,
            logicalParentUuid=parent,
        )
        self._line("user", message={"role": "user", "content": summary}, isCompactSummary=True)
        return self

    def put(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in self.lines), "utf-8")
        return path


def quay() -> Written:
    """Two calls, a compaction at 1 300 tokens, and one call behind it that is sent 600."""
    written = Written().said(f"{RULE} List the harbours of the bay.").answered("ANSE and BREE.", prompt=1_000)
    written.said("And the lights?").answered("Two lights at BREE.", prompt=1_200, output=40)
    return written.compacted("The bay has two lights.", before=1_300).said("Go on.").answered("Done.", prompt=600)


def long(turns: Sequence[int]) -> Written:
    """A session whose prompts have so many tokens each, said in about so many words, without a compaction."""
    written, sent = Written(), 0
    for number, prompt in enumerate(turns):
        said = f"Step {number}: sound the next buoy. " + "depth " * (prompt - sent)
        written.said(said).answered(f"Buoy {number} is sounded.", prompt=prompt)
        sent = prompt
    return written


def put_all(folder: Path, several: Iterable[tuple[str, Written]]) -> list[Path]:
    return [written.put(folder / name) for name, written in several]
