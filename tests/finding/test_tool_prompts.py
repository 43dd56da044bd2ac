"""Where tools' prompts are found: in requests that were recorded, and in packages, which are read and never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.finding.tool_prompts import ToolPrompt, found_in, installed, python_constant, recorded, template_literal

PROMPT = "Sum up the conversation for whoever rows on: a summary of what was asked and done." + " Be exact." * 20
ASKED = [
    {"role": "user", "content": "Mend the ferry's rope."},
    {"role": "assistant", "content": [{"type": "text", "text": "Mended."}]},
]


def body(*last: dict[str, Any], asked: Any = ASKED) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "You row.", "messages": [*asked, *last]}


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def har(path: Path, *bodies: dict[str, Any]) -> Path:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Rowed."}]}
    entries = [
        {
            "request": {
                "method": "POST",
                "url": "https://api.anthropic.com/v1/messages",
                "postData": {"mimeType": "application/json", "text": json.dumps(one)},
            },
            "response": {"status": 200, "content": {"mimeType": "application/json", "text": json.dumps(answer)}},
        }
        for one in bodies
    ]
    return written(path, {"log": {"entries": entries}})


def test_the_last_text_of_a_request_that_asks_for_a_summary(tmp_path: Path) -> None:
    path = written(tmp_path / "body.json", body(user("One more thing.", PROMPT)))
    assert recorded(path) == [ToolPrompt(PROMPT, path, "request 1")]


@pytest.mark.parametrize(
    "last",
    [
        user("Sum up the conversation in a summary."),
        user("x" * 300),
        user("Write a summary. " * 20),
        user("What a conversation! " * 20),
        user(PROMPT, "Go on."),
        {"role": "assistant", "content": PROMPT},
    ],
)
def test_other_requests_are_none(tmp_path: Path, last: dict[str, Any]) -> None:
    assert recorded(written(tmp_path / "body.json", body(last))) == []
    assert recorded(written(tmp_path / "alone.json", body(user(PROMPT), asked=[]))) == []


@pytest.mark.parametrize(("length", "found"), [(199, 0), (200, 1), (201, 1)])
def test_it_has_at_least_two_hundred_characters(tmp_path: Path, length: int, found: int) -> None:
    text = "summary of the conversation".ljust(length, "x")
    assert len(recorded(written(tmp_path / "body.json", body(user(text))))) == found


def test_a_capture_holds_several_the_last_first_and_each_once(tmp_path: Path) -> None:
    newer = PROMPT + " In one page."
    other = [{"role": "user", "content": "Count the oars."}, {"role": "assistant", "content": "Four."}]
    bodies = (body(), body(user(PROMPT)), body(user(newer), asked=other), body(user("Go on.")))
    path = har(tmp_path / "log.har", *bodies)
    assert [(one.text, one.file) for one in recorded(path)] == [(newer, path), (PROMPT, path)]
    (tmp_path / "notes.json").write_text("no JSON at all", "utf-8")
    assert found_in("claude-code", tmp_path) == recorded(path)


def test_a_file_that_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="notes"):
        recorded(written(tmp_path / "notes.json", {"a": 1}))


def package(root: Path, name: str, text: str) -> Path:
    path = root / "node_modules" / "x" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_constant_of_a_module_of_javascript(tmp_path: Path) -> None:
    text = "const OTHER = `no`;\nexport const SUMMARIZATION_PROMPT = `Row \\`on\\`,\n${name({a: 1})}steer.  \nEnd.`;"
    path = package(tmp_path, "dist/core/compaction/compaction.js", text)
    (found,) = installed("pi", [tmp_path])
    assert found == ToolPrompt("Row `on`,\nsteer.\nEnd.", path, "SUMMARIZATION_PROMPT", ("name({a: 1})",))
    assert found_in("pi", tmp_path) == [found]
    assert installed("aider", [tmp_path]) == []
    assert installed("claude-code", [tmp_path]) == []


def test_what_a_function_of_a_bundle_returns_and_no_text_twice(tmp_path: Path) -> None:
    lines = ["function getCompressionPrompt(plan) {", "  const kept = plan ? `keep ${plan}` : '';"]
    for name in ("bundle/chunk-A.js", "bundle/chunk-B.js"):
        package(tmp_path, name, "\n".join([*lines, "  return `Row.${kept}`.trim();", "}"]))
    (found,) = installed("gemini-cli", [tmp_path])
    assert (found.text, found.left_out, found.file.name) == ("Row.", ("kept",), "chunk-A.js")


@pytest.mark.parametrize(
    "source", ["const P = 'plain';", "const P = `never closed", "function P() { return 1 }", "const PP = `other`;", ""]
)
def test_no_literal_is_none(source: str) -> None:
    assert template_literal(source, "P") is None


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('P = """Row {messages} on."""', "Row  on."),
        ("class A:\n    P: str = (\n        'Row '\n        'on.'\n    )", "Row on."),
        ("P = make()", None),
        ("P = f'{x}'", None),
        ("P = 5", None),
        ("Q = 'other'", None),
        ("P = (", None),
    ],
)
def test_a_constant_of_python_is_read_and_never_run(source: str, text: str | None) -> None:
    found = python_constant(source, "P")
    assert (found[0] if found else None) == text


def test_the_package_of_the_command_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "node_modules" / "pi"
    file = root / "dist/core/compaction/compaction.js"
    file.parent.mkdir(parents=True)
    file.write_text("const SUMMARIZATION_PROMPT = `Row.`", "utf-8")
    (root / "package.json").write_text("{}", "utf-8")
    command = root / "dist" / "cli.js"
    command.write_text("#!/bin/sh\n", "utf-8")
    command.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pi").symlink_to(command)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert [one.file for one in installed("pi")] == [file]
