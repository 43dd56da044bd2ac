"""What scripts/new_format.py and scripts/new_strategy.py write passes its tests as it stands."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any

import pytest

import workbench.formats
from tests.paths import ROOT
from workbench.compaction.context import Context
from workbench.compaction.outcome import unchanged
from workbench.compaction.strategy import Compacting, ProgressStep
from workbench.conformance import formats, strategies
from workbench.formats.openai_chat import FORMAT as CHAT

WORDS = {"id": "toy-tool", "module": "toy_tool", "title": "Toy tool", "name": "ToyTool"}


def filled(path: str) -> str:
    return Template((ROOT / "scripts" / "stubs" / path).read_text("utf-8")).substitute(WORDS)


def run(path: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "toy_tool"}
    exec(compile(filled(path), path, "exec", dont_inherit=True), names)
    return names


@pytest.mark.parametrize("kind", ["format", "strategy"])
def test_every_file_has_a_template_and_every_row_a_place(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    new = importlib.import_module(f"new_{kind}")
    assert set(new.FILES) == {path.name for path in (ROOT / "scripts" / "stubs" / kind).iterdir()}
    for file, anchor, _ in new.ROWS:
        lines = (ROOT / file).read_text("utf-8").splitlines()
        assert [line for line in lines if line.strip().startswith(anchor)], (file, anchor)


def test_the_format_conforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_tool").mkdir()
    for name in ("__init__", "read", "write", "rules"):
        (tmp_path / "toy_tool" / f"{name}.py").write_text(filled(f"format/{name}.py.txt"), "utf-8")
    monkeypatch.setattr(workbench.formats, "__path__", [*workbench.formats.__path__, str(tmp_path)])
    format = importlib.import_module("workbench.formats.toy_tool").FORMAT
    sample = run("format/sample.py.txt")["toy_tool_session"]().encode()
    assert formats.faults(format, sample) == []
    for check in formats.CHECKS:
        check(format, [sample])


@pytest.mark.parametrize("check", strategies.CHECKS)
def test_the_strategy_conforms(check: Callable[[Any, Any], None]) -> None:
    made = run("strategy/strategy.py.txt")
    check(made["STRATEGY"], made["ToyToolPolicy"](newest_messages=6))


def test_a31_a_check_that_fails_explains_itself() -> None:
    """Whoever runs the checks on a format or strategy of theirs reads what differs, not `AssertionError` alone."""
    codec = replace(CHAT.codec, write=lambda session, messages: CHAT.codec.write(session, messages[1:]))  # type: ignore[misc]
    forgetful = replace(CHAT, load=lambda: codec)
    sample = b'{"messages":[{"role":"user","content":"Mend the hinge."},{"role":"assistant","content":"Done."}]}'
    with pytest.raises(AssertionError, match="message 1 changed or is missing: “Mend the hinge"):
        formats.what_is_kept_comes_back(forgetful, [sample])
    made = run("strategy/strategy.py.txt")
    idle = replace(made["STRATEGY"], compact=_idle)
    with pytest.raises(AssertionError, match="assert 'unchanged' != 'unchanged'"):
        strategies.a_manual_run_compacts_whatever_the_thresholds_say(idle, made["ToyToolPolicy"](newest_messages=6))


def _idle(context: Context, policy: Any, trace: list[str]) -> Compacting:
    yield ProgressStep("toy-tool", "nothing")
    return unchanged(context.messages, "it does nothing", trace)


NEEDED = ("workbench", "scripts", "tests", "docs", "prompts", "sample_sessions", "pyproject.toml", "README.md")
"""Parts of the project that the scaffolds read or change, and their tests."""


def ran(copy: Path, *words: str) -> str:
    """Run Python in a copy of the project, which is what it imports; return what it says."""
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    run = subprocess.run(
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout


def test_a29_a30_the_tests_of_both_scaffolds_pass_as_they_stand(tmp_path: Path) -> None:
    """Their own tests, and those that the scaffolds add a row to. What is compiled is copied, too: dates stay."""
    for name in NEEDED:
        if (source := ROOT / name).is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__snapshots__"))
        else:
            shutil.copy(source, tmp_path)
    made = ran(tmp_path, "scripts/new_format.py", "my-tool") + ran(tmp_path, "scripts/new_strategy.py", "my-way")
    own = ["tests/formats/test_my_tool.py", "tests/compaction/test_my_way.py"]
    assert set(own) <= set(made.splitlines())
    rows = ["tests/formats/test_adopted.py", "tests/formats/test_export_note.py", "tests/formats/test_times.py"]
    rows += ["tests/formats/test_registry.py", "tests/test_docs_formats.py"]
    rows += ["tests/compaction/test_whole_outcomes.py", "tests/borders/test_limits.py"]
    added = "my-tool or my_tool or my-way or my_way or lamp"
    ran(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", added, *own, *rows)
