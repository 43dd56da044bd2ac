"""Reading only the bills of a Codex rollout: the rows are those of the whole file, or nothing is told."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from workbench.auditing.rows import SessionRow
from workbench.auditing.survey import row_of, row_of_skimmed
from workbench.formats.codex.skim import skim
from workbench.formats.files import load_bytes

BARE = SessionRow("one.jsonl")
Line = dict[str, Any]


def line(kind: str, payload: Mapping[str, Any]) -> Line:
    return {"timestamp": "2026-05-04T08:00:00.000Z", "type": kind, "payload": payload}


def item(kind: str, **more: Any) -> Line:
    return line("response_item", {"type": kind, **more})


def message(role: str, text: str, *, id: str = "") -> Line:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return item("message", **({"id": id} if id else {}), role=role, content=[part])


def tokens(total: int, prompt: int, output: int = 5, window: int | None = 190_000) -> Line:
    used = {"input_tokens": prompt, "cached_input_tokens": prompt // 2, "output_tokens": output}
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": used, "model_context_window": window}
    return line("event_msg", {"type": "token_count", "info": info})


META = line("session_meta", {"id": "t1", "cwd": "/home/ada/quay", "cli_version": "0.142.5", "base_instructions": None})


def begun() -> list[Line]:
    return [
        META,
        line("turn_context", {"cwd": "/home/ada/quay", "model": "gpt-5.3-codex"}),
        message("developer", "Sandboxed."),
        message("user", "List the harbours of the bay."),
    ]


def turns(chance: random.Random, number: int) -> Iterator[Line]:
    """So many calls with their results, as Codex orders them, and what stands between."""
    total = 0
    for call in range(number):
        if chance.random() < 0.5:
            yield item("reasoning", id=f"r{call}", summary=[], encrypted_content="x" * 40)
        if chance.random() < 0.3:
            yield line("event_msg", {"type": "agent_message", "message": 'It says "token_count" here.'})
            yield message("assistant", f"Step {call}.", id=f"m{call}")
        for part in range(chance.randrange(3)):
            yield item("function_call", name="shell", arguments="{}", call_id=f"c{call}-{part}")
            if chance.random() < 0.3:  # its result comes before the next call, and the answer goes on behind it
                yield item("function_call_output", call_id=f"c{call}-{part}", output="ANSE")
        total += 1_000 + call
        for _ in range(chance.choice((1, 1, 1, 2))):  # the same record may stand twice
            yield tokens(total, 9_000 + 10 * call, window=chance.choice((190_000, None)))
        yield item("function_call_output", call_id=f"c{call}-0", output="BREE\n" * chance.randrange(40))
        if chance.random() < 0.2:
            yield line("turn_context", {"model": chance.choice(("gpt-5.3-codex", "gpt-5.2"))})
            yield message("user", f"And harbour {call}?")
        if chance.random() < 0.1:
            yield line("event_msg", {"type": "task_started", "model_context_window": 200_000})


def encoded(lines: list[Line]) -> bytes:
    return b"".join(orjson.dumps(one) + b"\n" for one in lines)


def same(data: bytes) -> None:
    path = Path("rollout.jsonl")
    skimmed = skim(path, data)
    assert skimmed is not None
    assert row_of_skimmed(skimmed, BARE) == row_of(load_bytes(path, data), BARE, is_replayed=False)


@pytest.mark.parametrize("early", [False, True], ids=["bills behind", "bills before"])
@pytest.mark.parametrize("seed", range(8))
def test_the_same_row_as_of_the_whole(seed: int, early: bool) -> None:
    """A bill stands behind its response, or, as Codex wrote it once, before it."""
    before = [tokens(500, 800)] if early else []
    same(encoded([*begun(), *before, message("assistant", "ANSE and BREE."), *turns(random.Random(seed), 30)]))


@pytest.mark.parametrize(
    "more",
    [
        line("unheard_of", {"type": "message"}),
        message("assistant", 'He said {"type":"compacted"}, "compaction" and "thread_rolled_back".'),
        {
            "type": "response_item",
            "payload": {"role": "assistant", "type": "message", "content": []},
            "timestamp": None,
        },
        item("ghost_snapshot", ghost={}),
        line("event_msg", {"type": "token_count", "info": None}),
    ],
    ids=["unknown", "words", "another order", "not sent", "no figures"],
)
def test_lines_that_change_nothing(more: Line) -> None:
    first = [*begun(), message("assistant", "ANSE and BREE."), tokens(1_000, 900)]
    same(encoded([*first, more, message("assistant", "Two lights."), tokens(2_100, 1_100), more]))


@pytest.mark.parametrize(
    "more",
    [
        line("compacted", {"message": "The bay has two lights."}),
        item("compaction", encrypted_content="x"),
        line("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
        tokens(9_000, 3),
        tokens(9_000, 900, window=-1),
    ],
    ids=["compacted", "a summary", "taken back", "absurd", "no window"],
)
def test_what_only_the_whole_file_tells(more: Line) -> None:
    lines = [*begun(), message("assistant", "ANSE."), tokens(1_000, 900), message("assistant", "BREE. " * 90), more]
    assert skim(Path("rollout.jsonl"), encoded(lines)) is None


def test_torn_and_continued_files_are_read_whole() -> None:
    lines = [*begun(), message("assistant", "ANSE."), tokens(1_000, 900), message("assistant", "BREE.")]
    path = Path("rollout.jsonl")
    assert skim(path, encoded(lines)) is not None
    assert skim(path, encoded(lines)[:-3]) is None
    assert skim(path, encoded(begun())) is None
    base = {**META, "payload": {**META["payload"], "history_base": {"thread_id": "t0", "end_ordinal_exclusive": 3}}}
    assert skim(path, encoded([base, *lines[1:]])) is None
