"""The keys of every command's JSON are those that docs/json.md lists, in plain words."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.test_broken_rules import chat_with_a_broken_rule
from tests.commands import cwb
from tests.paths import ROOT, SAMPLES
from workbench.base.version import SCHEMA

COMPACTED = "codex-two-compactions.jsonl"
CHAT = "openai-chat-tools.json"
OVERFLOW = "claude-code-overflow.jsonl"
DAMAGED = "anthropic-cut-pair.json"
REHEARSED = f"compact {CHAT} --preset codex --summarizer rehearse:truncated"

LINES = {
    "audit": (f"audit {COMPACTED} {OVERFLOW} README.md",),
    "audit --quick": ("audit --quick .",),
    "audit --quick FILE": ("audit --quick tau-bench-two-sessions.json",),
    "compact": (
        f"compact {CHAT} --preset augment-example --watch never -o out.json",
        f"compact {OVERFLOW} --preset trim --watch printed --summarizer extractive",
        REHEARSED,
    ),
    "compact --full": (f"compact {CHAT} --strategy context-reset --full",),
    "compare": (f"compare {COMPACTED} --epoch 1 --presets codex --watch never --diff",),
    "compare FILE FILE": (f"compare {COMPACTED} {CHAT} README.md --preset codex",),
    "compare --over-session": (
        f"compare --over-session {COMPACTED} --preset codex,claude-code --window 7000 --watch the",
    ),
    "compare --prompt": (f"compare {CHAT} --summarizer extractive --summarizer rehearse:truncated --preset codex",),
    "compare --prompt FILE FILE": (
        f"compare {CHAT} pi-branches.jsonl README.md --summarizer estimate --summarizer extractive --preset codex",
    ),
    "compare --vary": (
        f"compare {CHAT} README.md --preset trim --vary target_percent=20,40 --best retention --watch a",
    ),
    "demo": ("demo", f"demo {COMPACTED} --preset codex"),
    "inspect": (f"inspect {OVERFLOW}", f"inspect {COMPACTED} --epoch 1 --quiet", f"inspect {DAMAGED} --notes --layers"),
    "inspect --full": (f"inspect {CHAT} --full",),
    "inspect --health": (f"inspect --health {COMPACTED}", f"inspect --health {DAMAGED}"),
    "list models": ("list models",),
    "list presets": ("list presets",),
    "list presets NAME": ("list presets trim",),
    "list presets --properties": ("list presets --properties",),
    "list prompts": ("list prompts",),
    "list runs": (REHEARSED, "list runs"),
    "list runs spent": ("list runs spent",),
    "list strategies": ("list strategies",),
    "prompts copy": ("prompts copy exchange-summary.en --as mine",),
    "prompts show": ("prompts show exchange-summary.en",),
    "repair": (f"repair {DAMAGED}",),
    "report": (f"report {COMPACTED} --watch the",),
    "rescue": (f"rescue {CHAT} -o rescued.json",),
    "resume": ("resume amp-bells.json", f"resume {COMPACTED}"),
    "retention": (f"retention {CHAT} --preset codex --watch never",),
    "retention --ask": (f"retention --ask {CHAT} pi-branches.jsonl nowhere.json --preset trim --max 2 --watch a",),
    "retention --generations": (f"retention {CHAT} --preset codex --generations 2 --watch a",),
    "retention --recorded": (f"retention {COMPACTED} --recorded --watch the",),
    "rules": (f"rules {OVERFLOW}", "rules broken-rule.json"),
    "rules --instruction": (f"rules {OVERFLOW} --instruction",),
    "why": (f"why {OVERFLOW} --watch never", f"why {COMPACTED} --epoch 1 --window 6000 --preset codex"),
    "why --rework": ("why --rework augment-with-summary.json",),
}
"""By command and job the lines whose JSON is read; a line of another command only prepares."""

BY_NAME = re.compile(r"(.*_)?by_kind|settings|input|setting_sources|evidence|fates|answers|states|run")
"""Keys of objects with keys of their own: kinds, settings, fates, variants, a tool's input, a record of a run."""

CLOSED = ("settings", "run", "input")
"""Those of them whose values have such keys as well."""

HARD = frozenset(
    re.findall(
        r"\w+",
        "told held said gone came stands stood stays goes side sides column columns tried trial trials judged purse "
        "mend bill bills billing person product doubt doubts arm arms whole anew beside present right spent unfounded "
        "founded asked way made given heard taken what silent dear sum sums upto",
    )
)
"""Private words, and second terms for an idea that has one."""


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _keys(one)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            named = isinstance(inner, dict) and BY_NAME.fullmatch(key)
            if not (named and key in CLOSED):
                yield from _keys(list(inner.values()) if named else inner)


def _documented() -> dict[str, list[str]]:
    text = (ROOT / "docs/json.md").read_text("utf-8").partition("\n## Keys by command\n")[2]
    rows = re.findall(r"^- `(.+?)`: ((?:.+\n)+?)(?=- |\n|\Z)", text, re.M)
    return {command: keys.split() for command, keys in rows}


@pytest.mark.parametrize("command", LINES)
def test_the_documented_keys_of_a_command_are_those_that_it_writes(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for sample in SAMPLES.iterdir():
        shutil.copy(sample, tmp_path)
    (tmp_path / "damaged.jsonl").write_text("no session")
    (tmp_path / "broken-rule.json").write_text(chat_with_a_broken_rule())
    monkeypatch.chdir(tmp_path)
    found = set[str]()
    for line in LINES[command]:
        run = cwb(*shlex.split(line), "--json")
        made = json.loads(run.stdout)
        assert made["schema"] == SCHEMA
        found |= set(_keys(made)) if line.split()[0] == command.split()[0] else set()
    assert _documented()[command] == sorted(found)


def test_every_command_with_json_is_documented() -> None:
    assert list(_documented()) == list(LINES)


def test_no_key_uses_a_hard_word() -> None:
    keys = {key for several in _documented().values() for key in several}
    assert [key for key in sorted(keys) if HARD & set(key.split("_"))] == []
