"""A long Claude Code session, made up but shaped like real ones, the same on every machine.

One block per line; several lines of one API message; parallel calls with their results between them; progress lines as
links of the chain; `toolUseResult` doubling every result; usage on every assistant line, growing as the context does.

    python -m benchmarks.generate FILE [LINES] [MEGABYTES] [COMPACTIONS]
"""

from __future__ import annotations

import argparse
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

LINES, MEGABYTES = 60_000, 100
FIRST_WORDS = "Begin with the parser"
"""How the first request begins."""


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_WORDS = _listed(
    "the a of to in and is for that on with it as be this from by not are or an if we at have which can has when will "
    "session token parser reader writer summary context window message request retry cache schema index buffer stream "
    "handler worker queue timeout config module import return value error test fixture branch commit merge review "
    "should must never always because however first then after before again only each every other same new old"
)
_NAMES = _listed("load parse split merge write check count build apply fetch store drop keep scan walk emit bind wrap")
_THINGS = _listed("session record block message token header span pair round branch policy budget cursor layout result")
_COMMANDS = ("pytest -q tests/test_{}.py", "git diff --stat src/{}.py", "rg -n '{}' src", "ls -la src/{}", "make {}")
_TOOLS = ("Read", "Bash", "Edit", "Grep", "Write", "Glob")
_TOOL_WEIGHTS = (34, 28, 14, 14, 5, 5)


class _Story:
    """What the lines share: the chain of parents, the clock, and the size of the context so far."""

    def __init__(self, seed: int, scale: float) -> None:
        self.random = random.Random(seed)
        self.scale = scale
        self.session = self.id()
        self.parent: str | None = None
        self.seconds = 0.0
        self.context = 24_000
        self.turn = 0

    def id(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def api_id(self, kind: str) -> str:
        return f"{kind}_{self.random.getrandbits(96):024x}"

    def line(self, type: str, **more: Any) -> dict[str, Any]:
        self.seconds += self.random.uniform(0.2, 9)
        day, rest = divmod(int(self.seconds), 86_400)
        clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
        made = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/me/project",
            "sessionId": self.session,
            "version": "2.1.37",
            "gitBranch": "main",
            "type": type,
            **more,
            "uuid": self.id(),
            "timestamp": f"2026-0{1 + day // 28}-{1 + day % 28:02}T{clock}.000Z",
        }
        self.parent = made["uuid"]
        return made

    def prose(self, words: int) -> str:
        return " ".join(self.random.choices(_WORDS, k=max(3, words))).capitalize() + "."

    def code(self, lines: int) -> str:
        pick, number = self.random.choice, self.random.randrange
        out = []
        for n in range(1, max(2, lines)):
            name, thing = pick(_NAMES), pick(_THINGS)
            body = pick(
                (
                    f"def {name}_{thing}({thing}: {thing.title()}, limit: int = {number(4096)}) -> {thing.title()}:",
                    f'    """{self.prose(7)}"""',
                    f"    {thing} = {name}({pick(_THINGS)}[{number(64)}:], key=lambda x: x.{thing}_{pick(_NAMES)})",
                    f'    if not {thing}.{name}: raise ValueError(f"{{{thing}!r}} {self.prose(4)}")',
                    f"    return [{name}({thing}) for {thing} in {pick(_THINGS)}s if {thing} != {number(1 << 32):#x}]",
                    "",
                )
            )
            out.append(f"{n:6}\t{body}")
        return "\n".join(out)

    def length(self, median: float) -> int:
        """A length as tool results have it: most short, some very long."""
        return int(min(600, self.random.lognormvariate(0, 1.0) * median * self.scale))


def lines(count: int = LINES, seed: int = 1, scale: float = 1.0, compactions: int = 0) -> Iterator[dict[str, Any]]:
    """`count` lines of one session; without a compaction the longest context there can be."""
    story = _Story(seed, scale)
    made = done = 0
    while made < count:
        due = done < compactions and made >= (done + 1) * count // (compactions + 1)
        done += due
        for line in _compaction(story) if due else _turn(story):
            yield line
            made += 1
            if made == count:
                return


def _compaction(story: _Story) -> Iterator[dict[str, Any]]:
    """The boundary and the summary, as Claude Code 2.1.37 writes them."""
    about = {"trigger": "auto", "preTokens": story.context}
    said = {"content": "Conversation compacted", "isMeta": False, "level": "info", "compactMetadata": about}
    last, subtype = story.parent, "compact_boundary"
    yield story.line("system", parentUuid=None, logicalParentUuid=last, subtype=subtype, **said)
    words = f"This session is being continued from a previous conversation. {story.prose(900)}"
    message = {"role": "user", "content": words}
    yield story.line("user", isVisibleInTranscriptOnly=True, isCompactSummary=True, message=message)
    story.context = 24_000 + len(words) // 4


def _turn(story: _Story) -> Iterator[dict[str, Any]]:
    story.turn += 1
    words = FIRST_WORDS if story.turn == 1 else story.prose(story.random.randint(4, 60))
    yield story.line("user", message={"role": "user", "content": f"{words} ({story.turn})"})
    for _ in range(story.random.randint(3, 30)):
        yield from _step(story)
    yield from _answer(story, [{"type": "text", "text": story.prose(story.random.randint(30, 250))}], "end_turn")


def _step(story: _Story) -> Iterator[dict[str, Any]]:
    """One API message: perhaps reasoning, perhaps a sentence, one to three calls; then their results."""
    blocks: list[dict[str, Any]] = []
    if story.random.random() < 0.3:
        signature = f"{story.random.getrandbits(4 * 300):0300x}"
        blocks.append({"type": "thinking", "thinking": story.prose(40), "signature": signature})
    if story.random.random() < 0.5:
        blocks.append({"type": "text", "text": story.prose(20)})
    calls = [_call(story) for _ in range(story.random.choice((1, 1, 1, 1, 2, 3)))]
    yield from _answer(story, [*blocks, *calls], "tool_use")
    for call in calls:
        if call["name"] == "Bash" and story.random.random() < 0.4:
            data = {"type": "bash_progress", "output": "", "elapsedTimeSeconds": story.random.randint(1, 90)}
            yield story.line("progress", data=data, toolUseID=call["id"], parentToolUseID=call["id"])
        yield _result(story, call)


def _call(story: _Story) -> dict[str, Any]:
    name = story.random.choices(_TOOLS, _TOOL_WEIGHTS)[0]
    thing = story.random.choice(_THINGS)
    path = f"/home/me/project/src/{thing}_{story.random.randrange(400)}.py"
    given: dict[str, Any] = {"file_path": path}
    if name == "Bash":
        given = {"command": story.random.choice(_COMMANDS).format(thing), "description": story.prose(5)}
    elif name in ("Grep", "Glob"):
        given = {"pattern": f"{story.random.choice(_NAMES)}_{thing}", "path": "/home/me/project/src"}
    elif name == "Edit":
        given |= {"old_string": story.code(story.length(6)), "new_string": story.code(story.length(7))}
    elif name == "Write":
        given |= {"content": story.code(story.length(30))}
    return {"type": "tool_use", "id": story.api_id("toolu"), "name": name, "input": given}


def _answer(story: _Story, blocks: list[dict[str, Any]], stop: str) -> Iterator[dict[str, Any]]:
    message_id, request_id = story.api_id("msg"), story.api_id("req")
    for number, block in enumerate(blocks, 1):
        last = number == len(blocks)
        usage = {
            "input_tokens": 8,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": story.context,
            "output_tokens": 60 * number,
        }
        message: dict[str, Any] = {"id": message_id, "type": "message", "role": "assistant", "model": "claude-opus-4-6"}
        message |= {"content": [block], "stop_reason": stop if last else None, "usage": usage}
        yield story.line("assistant", message=message, requestId=request_id)
        story.context += len(orjson.dumps(block)) // 4


def _result(story: _Story, call: dict[str, Any]) -> dict[str, Any]:
    failed = story.random.random() < 0.06
    text = "Error: " + story.prose(20) if failed else story.code(story.length(14))
    story.context += len(text) // 4
    block = {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}
    double = {"type": "text", "file": {"filePath": "/home/me/project", "content": text, "numLines": text.count("\n")}}
    return story.line("user", message={"role": "user", "content": [block]}, toolUseResult=double)


def write(path: Path, count: int = LINES, megabytes: float = MEGABYTES, compactions: int = 0) -> None:
    """Write a session of `count` lines and about `megabytes` MB; the sizes of results are scaled to that. It is
    compacted so many times, after stretches of the same length."""
    trial = min(count, 4_000)
    wanted = 1e6 * megabytes / count
    scale, low, high = 1.0, 0.05, 8.0
    for _ in range(8):
        size = sum(len(orjson.dumps(line)) + 1 for line in lines(trial, scale=scale)) / trial
        low, high = (scale, high) if size < wanted else (low, scale)
        scale = (low + high) / 2
    with path.open("wb") as file:
        for line in lines(count, scale=scale, compactions=compactions):
            file.write(orjson.dumps(line) + b"\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generate")
    parser.add_argument("file", type=Path)
    parser.add_argument("numbers", type=int, nargs="*", metavar="LINES MEGABYTES COMPACTIONS")
    given = parser.parse_args()
    write(given.file, *given.numbers[:3])
