"""The sample sessions: made by their script, true to their formats, and still telling what their README says."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT, SAMPLES
from workbench.formats import files
from workbench.formats.registry import formats
from workbench.tokens.encoding import o200k

NAMES = ("claude-code-overflow.jsonl", "augment-with-summary.json", "openai-chat-tools.json")
EVERY = tuple(sorted(path.name for path in SAMPLES.iterdir() if path.name != "README.md"))
RULE = "Never log the refresh token."

Json = dict[str, Any]


@pytest.fixture(scope="module")
def lines() -> list[Json]:
    return [json.loads(line) for line in (SAMPLES / NAMES[0]).read_text(encoding="utf-8").splitlines()]


def blocks(lines: list[Json], kind: str) -> Iterator[tuple[Json, Json]]:
    for line in lines:
        content = line["message"]["content"] if line["type"] in ("user", "assistant") else []
        yield from ((line, block) for block in content if isinstance(block, dict) and block["type"] == kind)


def prompt(usage: Json) -> int:
    total: int = usage["input_tokens"] + usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"]
    return total


def test_the_script_gives_the_same_bytes(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "make_samples.py"
    subprocess.run([sys.executable, "-B", script, "--out", tmp_path], check=True, capture_output=True, cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == list(EVERY)
    for name in EVERY:
        assert (tmp_path / name).read_bytes() == (SAMPLES / name).read_bytes(), (
            f"run scripts/make_samples.py for {name}"
        )


def test_the_readme_has_a_row_for_every_sample_and_its_tokens_are_the_files() -> None:
    """Each row: file, format, a lesson, the tokens as the script writes them, something to try."""
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in readme.splitlines() if line.startswith("| `")]
    assert sorted(row[0].strip("`") for row in rows) == sorted(EVERY)
    assert all(len(row) == 5 and all(row) for row in rows)
    assert make_samples().with_tokens(readme, SAMPLES) == readme, "run scripts/make_samples.py"


def test_there_is_a_sample_of_every_format() -> None:
    databases = {"crush"}  # built by the tests of the format: there is no other form of it
    assert {files.load(SAMPLES / name).format for name in EVERY} == {known.id for known in formats()} - databases


def make_samples() -> Any:
    scripts = str(ROOT / "scripts")
    if scripts not in sys.path:
        sys.path.append(scripts)
    return importlib.import_module("make_samples")


def said(name: str, epoch: int | None = None) -> str:
    """All words and results of an epoch, the last by default."""
    return "\n".join(m.text + "".join(r.text for r in m.results) for m in files.load(SAMPLES / name).context(epoch))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("adk-hidden-hour.json", "three o'clock"),
        ("anthropic-compacted.json", "0117"),
        ("atif-handover.json", "never rotated"),
        ("inspect-compacted.json", "never by motor"),
        ("openai-responses-compacted.json", "never on a Sunday"),
        ("openhands-forgotten.json", "reads 2 degrees high"),
        ("pydantic-ai-seeds.json", "never opened"),
        ("roo-window.json", "never write to it"),
    ],
)
def test_a_compaction_lost_what_matters(name: str, words: str) -> None:
    assert (words in said(name, 1), words in said(name)) == (True, False)


def test_what_the_other_samples_teach() -> None:
    pruned = "opencode-pruned.json"
    assert "Grawholm   +41" in (SAMPLES / pruned).read_text("utf-8")
    assert "+41" in said(pruned, 1)
    assert "+41" not in said(pruned, 2) + said(pruned)
    assert "Grawholm +14" in said(pruned)
    silent = files.load(SAMPLES / "cline-sdk-summary.messages.json").messages
    assert (silent[0].kind, "night" in silent[0].text, "nights stay silent" in silent[-1].text) == (
        "summary",
        False,
        True,
    )
    chain = files.load(SAMPLES / "langchain-summary.json").messages
    assert (sum(len(m.calls) for m in chain), "summary" in {m.kind for m in chain}) == (2, True)
    one, two = (files.load(SAMPLES / "inspect-two-samples.json", part=part).messages for part in ("1", "2"))
    assert (one[0].text, one[-1].text, two[-1].text) == (two[0].text, "1904", "1879")
    grep = [len(m.text) for m in files.load(SAMPLES / "mini-swe-agent-one-grep.traj.json").messages]
    assert max(grep) > 0.7 * sum(grep)
    demo = files.load(SAMPLES / "swe-agent-demo.traj").messages
    sizes = [(m.kind == "meta", len(m.text) + sum(len(r.text) for r in m.results)) for m in demo]
    assert sum(size for meta, size in sizes if meta) > sum(size for meta, size in sizes if not meta)


# -- Claude Code


def test_parallel_calls_interleave_with_their_results(lines: list[Json]) -> None:
    """Both orders occur: all calls first, and a result between two calls of one message."""
    kinds: dict[str, list[str]] = {}
    owner = {block["id"]: line["message"]["id"] for line, block in blocks(lines, "tool_use")}
    for line in lines:
        content = line["message"]["content"] if line["type"] in ("user", "assistant") else []
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_use":
                kinds.setdefault(owner[block["id"]], []).append("call")
            elif block["type"] == "tool_result":
                kinds.setdefault(owner[block["tool_use_id"]], []).append("result")
    orders = {tuple(order[:3]) for order in kinds.values() if len(order) >= 4}
    assert ("call", "result", "call") in orders
    assert any(order[:2] == ("call", "call") for order in orders)


def test_usage_grows_until_the_prompt_is_too_long(lines: list[Json]) -> None:
    usages: dict[str, list[Json]] = {}
    for line in lines:
        if line["type"] == "assistant" and not line.get("isApiErrorMessage"):
            usages.setdefault(line["message"]["id"], []).append(line["message"]["usage"])
    sizes = [prompt(repeated[-1]) for repeated in usages.values()]
    assert sizes == sorted(sizes)
    assert 196_000 <= sizes[-1] <= 199_000
    assert all(len({prompt(usage) for usage in repeated}) == 1 for repeated in usages.values())
    assert any(repeated[0]["output_tokens"] < repeated[-1]["output_tokens"] for repeated in usages.values())
    last = lines[-1]
    assert last["isApiErrorMessage"] is True
    assert last["message"]["content"][0]["text"] == "Prompt is too long"


def test_the_overflow_holds_what_a_summary_must_not_lose(lines: list[Json]) -> None:
    typed = [
        line["message"]["content"]
        for line in lines
        if line["type"] == "user" and isinstance(line["message"]["content"], str) and not line.get("isMeta")
    ]
    typed = [text for text in typed if not text.startswith("<")]
    assert RULE in typed[0]
    assert "HARB-2187" in typed[0]
    assert not any(RULE in text for text in typed[1:])
    for changed in ("0042_rotate_sessions", "argon2id instead of bcrypt", "8081, not 8080", "5 seconds, not 10"):
        assert any(changed in text for text in typed)
    assert any("如果" in text for text in typed)
    hostile = [block["content"] for _, block in blocks(lines, "tool_result") if isinstance(block["content"], str)]
    for piece in ("[/red]", "\x1b[31m", "\u202e", "🏴", "مينا"):
        assert any(piece in text for text in hostile)


def test_the_sizes_that_the_usage_stands_on_are_right(lines: list[Json]) -> None:
    """The stories know no tokenizer; their approximation must stay near what one counts."""
    spec = importlib.util.spec_from_file_location("sample_text", ROOT / "scripts" / "samples" / "text.py")
    assert spec is not None
    assert spec.loader is not None
    text = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(text)
    results = [block["content"] for _, block in blocks(lines, "tool_result") if isinstance(block["content"], str)]
    counted = sum(len(tokens) for tokens in o200k().encode_ordinary_batch(results))
    assert sum(text.approximate_tokens(result) for result in results) == pytest.approx(counted, rel=0.07)


# -- Augment


def test_the_augment_session_lost_a_rule_with_its_older_summary() -> None:
    session = json.loads((SAMPLES / NAMES[1]).read_text(encoding="utf-8"))
    history = session["chatHistory"]
    summaries = [(n, entry) for n, entry in enumerate(history) if entry["isHistorySummary"]]
    assert [entry["historySummaryVersion"] for _, entry in summaries] == [2, 3]
    old, new = (entry["exchange"]["request_message"] for _, entry in summaries)
    assert "Never call it from tests" in old
    assert "feed is billed" not in new
    assert old.startswith("<supervisor>")
    assert new.rstrip().endswith("</supervisor>")
    for number, entry in summaries:
        before, after = history[number - 1]["exchange"], history[number + 1]["exchange"]
        repeated = [node for node in entry["exchange"]["response_nodes"] if node["type"] == 5]
        assert repeated == [node for node in before["response_nodes"] if node["type"] == 5]
        results = [node["tool_result_node"]["tool_use_id"] for node in after["request_nodes"] if node["type"] == 1]
        assert results == [node["tool_use"]["tool_use_id"] for node in repeated]
        assert entry["sequenceId"] % 1 == 0.5
    ids = [entry["sequenceId"] for entry in history]
    assert ids == sorted(set(ids))
    assert len(session["agentState"]["agentMemories"].splitlines()) >= 70
    after_the_summary = history[summaries[-1][0] + 1 :]
    said = [entry["exchange"]["request_nodes"] for entry in after_the_summary]
    assert len(json.dumps(said, ensure_ascii=False)) > 80_000
    assert session["agentState"]["userEmail"] == ""


# -- OpenAI chat


def test_one_result_of_the_chat_is_larger_than_all_the_rest() -> None:
    body = json.loads((SAMPLES / NAMES[2]).read_text(encoding="utf-8"))
    messages = body["messages"]
    sizes = sorted(len(message["content"] or "") for message in messages)
    assert sizes[-1] > max(50_000, 5 * sum(sizes[:-1]))
    calls = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(set(calls)) < len(calls)
    assert any(message["content"] is None for message in messages if message.get("tool_calls"))
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert waiting == []
            waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert {call["function"]["name"] for m in messages for call in m.get("tool_calls", ())} <= {
        tool["function"]["name"] for tool in body["tools"]
    }
