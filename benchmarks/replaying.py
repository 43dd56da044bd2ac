"""Replaying a long session under many policies: `python -m benchmarks.replaying FILE`, in the style of
`benchmarks.inside`.

Measured on the file as it is, and with all of it in one round: there a policy that cuts between rounds finds nothing to
cut, and whatever is quadratic shows.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TEN = (
    "augment-example", "progressive", "layered", "message-window", "context-reset", "codex", "clear-tool-results",
    "trim", "claude-code", "openhands",
)  # fmt: skip
"""Ten policies, of every strategy that works on messages."""


def replaying(file: Path) -> dict[str, Any]:
    """Ten policies on the whole session, beside reading and counting it; seconds of the processor, for the work is done
    in one thread and other programs run too."""
    from workbench.analysis.course import course_messages, course_of
    from workbench.analysis.replay import replay
    from workbench.compaction.preset import load_preset
    from workbench.formats.files import load
    from workbench.tokens import Counter
    from workbench.tokens.window import Window

    began = time.process_time()
    session = load(file)
    counter = Counter(None)
    counter.count_all(course_messages(session), lambda done, total: None, lambda: False)
    baseline = round(time.process_time() - began, 2)
    began = time.process_time()
    course = course_of(session, counter)
    found: dict[str, Any] = {"messages": len(course.messages), "calls": len(course.calls), "read_and_count": baseline}
    for name in TEN:
        start = time.process_time()
        played = replay(course, load_preset(name), Window(200_000, "given"))
        found[name] = {"seconds": round(time.process_time() - start, 2), "compactions": len(played.compacted)}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"seconds": round(time.process_time() - began, 2), "peak_mb": round(peak)}


def in_one_round(source: Path, target: Path) -> None:
    """The same Claude Code session, but every message of the user's own after the first is an injected one."""
    import orjson

    first = True
    with source.open("rb") as lines, target.open("wb") as out:
        for line in lines:
            record = orjson.loads(line)
            content = record.get("message", {}).get("content")
            results = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
            if record.get("type") == "user" and not results:
                if not first:
                    record["isMeta"] = True
                first = False
            out.write(orjson.dumps(record) + b"\n")


if __name__ == "__main__":
    print(json.dumps({"as it is": replaying(Path(sys.argv[1]))}, indent=2))
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        whole = Path(folder) / "one-round.jsonl"
        in_one_round(Path(sys.argv[1]), whole)
        print(json.dumps({"in one round": replaying(whole)}, indent=2))
