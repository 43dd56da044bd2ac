"""Where tools' prompts are found: in requests that were recorded, and in packages, which are read and never run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.base.errors import BadInput
from workbench.finding import agent_prompts
from workbench.finding.agent_prompts import AgentPrompt, installed_prompts, prompts_in, recorded_prompts
from workbench.finding.literals import python_constant, template_literal

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
    assert recorded_prompts(path) == [AgentPrompt(PROMPT, path, "request 1")]


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
    assert recorded_prompts(written(tmp_path / "body.json", body(last))) == []
    assert recorded_prompts(written(tmp_path / "alone.json", body(user(PROMPT), asked=[]))) == []


@pytest.mark.parametrize(("length", "found"), [(199, 0), (200, 1), (201, 1)])
def test_it_has_at_least_two_hundred_characters(tmp_path: Path, length: int, found: int) -> None:
    text = "summary of the conversation".ljust(length, "x")
    assert len(recorded_prompts(written(tmp_path / "body.json", body(user(text))))) == found


def test_a_capture_holds_several_the_last_first_and_each_once(tmp_path: Path) -> None:
    newer = PROMPT + " In one page."
    other = [{"role": "user", "content": "Count the oars."}, {"role": "assistant", "content": "Four."}]
    bodies = (body(), body(user(PROMPT)), body(user(newer), asked=other), body(user("Go on.")))
    path = har(tmp_path / "log.har", *bodies)
    assert [(one.text, one.file) for one in recorded_prompts(path)] == [(newer, path), (PROMPT, path)]
    (tmp_path / "notes.json").write_text("no JSON at all", "utf-8")
    assert prompts_in("claude-code", tmp_path) == recorded_prompts(path)


def test_a_file_that_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="notes"):
        recorded_prompts(written(tmp_path / "notes.json", {"a": 1}))


def package(root: Path, name: str, text: str) -> Path:
    path = root / "node_modules" / "x" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_constant_of_a_module_of_javascript(tmp_path: Path) -> None:
    text = "const OTHER = `no`;\nexport const SUMMARIZATION_PROMPT = `Row \\`on\\`,\n${name({a: 1})}steer.  \nEnd.`;"
    path = package(tmp_path, "dist/core/compaction/compaction.js", text)
    (found,) = installed_prompts("pi", [tmp_path])
    assert found == AgentPrompt("Row `on`,\nsteer.\nEnd.", path, "SUMMARIZATION_PROMPT", ("name({a: 1})",))
    assert prompts_in("pi", tmp_path) == [found]
    assert installed_prompts("aider", [tmp_path]) == []
    assert installed_prompts("codex", [tmp_path]) == []


def test_what_a_function_of_a_bundle_returns_and_no_text_twice(tmp_path: Path) -> None:
    lines = ["function getCompressionPrompt(plan) {", "  const kept = plan ? `keep ${plan}` : '';"]
    for name in ("bundle/chunk-A.js", "bundle/chunk-B.js"):
        package(tmp_path, name, "\n".join([*lines, "  return `Row.${kept}`.trim();", "}"]))
    (found,) = installed_prompts("gemini-cli", [tmp_path])
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
    assert [one.file for one in installed_prompts("pi")] == [file]


# --- bundles whose names were taken out, and binaries with one in them ------------------------------------------------

WORDS = "Tell whoever rows on, in a summary of the conversation, what was asked" + " and what was done" * 12 + "."
TAGGED = (
    f"{WORDS} ${{Xa}}\n<example>\n<analysis>\n[tides \\u2014 and winds]\n</analysis>\n<summary>\n</summary>\n</example>"
)
PLAIN = (
    TAGGED.replace("${Xa}", "Mind the \\u201ctide\\u201d.")
    .replace("\\u201c", "“")
    .replace("\\u201d", "”")
    .replace("\\u2014", "—")
)
PART = TAGGED.replace("the conversation", "the end of the conversation")
GIVEN = "var Xb='Mind',Xa=`${Xb} the \\u201ctide\\u201d.`,"


@pytest.mark.parametrize(
    ("bundle", "text"),
    [
        (f"{GIVEN}Ya=`{TAGGED}`;", PLAIN),
        (f'{GIVEN}Ya=`{TAGGED}`,Yb=`{PART}`;function f(o){{return o==="up_to"?Yb:Ya2}}', PLAIN),
        (f'{GIVEN}Ya=`{TAGGED}`,Yb=`{PART}`,Yc=`{PART}.`;function f(o){{return o==="up_to"?Yc:Yb}}', PLAIN),
        (f"{GIVEN}Yd=1;function f(A){{if(!A)return`{TAGGED}`;return`{TAGGED}{{A}}${{A}}`}}", PLAIN),
        (f"{GIVEN}Yd=1;function f(e){{return g(e)+`{TAGGED}`}}", PLAIN),
        (f"{GIVEN}Ya=`{TAGGED}`,Yb=`{PART}`;", None),
        (f'{GIVEN}Yb=`{PART}`;function f(o){{return o==="up_to"?Yb:1}}', None),
        (f'{GIVEN}Yd=o==="up_to"?`{PART}`:`{TAGGED}`;', None),
        (f"{GIVEN}Ya=`{TAGGED.replace('summary of', 'tale of').replace('summary>', 'tale>')}`;", None),
        (f"{GIVEN}Ya={TAGGED}", None),
        (TAGGED, None),
    ],
)
def test_the_literal_for_a_whole_conversation_by_its_tags(tmp_path: Path, bundle: str, text: str | None) -> None:
    (tmp_path / "cli.js").write_text(bundle, "utf-8")
    found = installed_prompts("claude-code", [tmp_path])
    assert [(one.text, one.left_out) for one in found] == ([] if text is None else [(text, ())])
    assert prompts_in("claude-code", tmp_path) == found


def test_what_only_a_call_knows_is_left_out(tmp_path: Path) -> None:
    """A name of one letter is that of what a function is given, whatever else of that name is in the bundle."""
    (tmp_path / "cli.js").write_text(f"var A='no';Ya=`{TAGGED.replace('${Xa}', '${A} ${f(1)} ${Unknown}')}`;", "utf-8")
    (found,) = installed_prompts("claude-code", [tmp_path])
    assert found.left_out == ("A", "f(1)", "Unknown")


def test_a_binary_is_read_around_the_tag_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is what a binary keeps of the same text for itself: no literal opens it."""
    monkeypatch.setattr(agent_prompts, "_WHOLE", 1_000_000)
    binary = tmp_path / "claude"
    bundle = f"{GIVEN}Ya=`{TAGGED}`;".encode()
    with binary.open("wb") as file:
        file.write(b"\x7fELF`\0\0" + TAGGED.encode() + b"\0`\xff" + bytes(50_000))
        file.truncate(999_999 - len(bundle))
        file.seek(0, 2)
        file.write(bundle)
    for more in (b";", b";;"):  # up to as many bytes it is read whole
        with binary.open("ab") as file:
            file.write(more)
        (found,) = prompts_in("claude-code", binary)
        assert (found.text, found.file) == (PLAIN, binary)


TEMPLATE = "Write this.\n<template>\n## Tide\n</template>\nNo more."


@pytest.mark.parametrize(
    ("bundle", "text"),
    [
        (
            f'var Sf=`{TEMPLATE}`;f=(H)=>[H.p?`Go on ${{H.p}}`:"Write \\"anew\\".",Sf,...H.c].join(1)',
            f'Write "anew".\n\n{TEMPLATE}',
        ),
        (f'var Sf=`{TEMPLATE}`;f=(H)=>{{return[L,"Write anew.",Sf].join(1)}}', f"Write anew.\n\n{TEMPLATE}"),
        (f'var Sf=`{TEMPLATE}`;f=(H)=>[L,"Write anew.",Sfx].join(1)', None),
        (f'var Sf=`{TEMPLATE}`;f=(H)=>["One.",Sf].join(1);g=()=>["Two.",Sf]', None),
        (f'f=(H)=>["One.",`{TEMPLATE}`].join(1)', None),
    ],
)
def test_a_template_and_the_sentence_before_it(tmp_path: Path, bundle: str, text: str | None) -> None:
    (tmp_path / "opencode").write_text(bundle, "utf-8")
    assert [one.text for one in installed_prompts("opencode", [tmp_path])] == ([] if text is None else [text])


def test_the_first_of_a_list_of_literals(tmp_path: Path) -> None:
    path = package(tmp_path, "core/dist/index.js", f"function f(a){{let z=[`{WORDS}\n\n## Goal\nRow.`,`More ${{a}}`]}}")
    assert [(one.text, one.file) for one in installed_prompts("cline", [tmp_path])] == [
        (f"{WORDS}\n\n## Goal\nRow.", path)
    ]
    path.write_text(f"function f(a){{let z=[a,`{WORDS}\n\n## Goal\nRow.`]}}", "utf-8")
    assert installed_prompts("cline", [tmp_path]) == []


def test_a_file_of_a_package_that_is_the_prompt(tmp_path: Path) -> None:
    path = package(tmp_path, "condenser/prompts/summarizing_system.j2", "Sum up.  \nBe exact.\n")
    assert installed_prompts("openhands", [tmp_path]) == [AgentPrompt("Sum up.\nBe exact.", path, "the whole text")]
    path.write_text(" \n")
    assert installed_prompts("openhands", [tmp_path]) == []


def test_a_binary_that_lies_alone_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "versions").mkdir()
    binary = tmp_path / "versions" / "2.1.9"
    binary.write_text(f"{GIVEN}Ya=`{TAGGED}`;", "utf-8")
    binary.chmod(0o700)
    (tmp_path / "claude").symlink_to(binary)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert [(one.text, one.file) for one in installed_prompts("claude-code")] == [(PLAIN, binary)]


# --- texts, and sessions whose tool records its requests --------------------------------------------------------------


def test_a_text_is_the_prompt(tmp_path: Path) -> None:
    path = tmp_path / "prompt.md"
    path.write_text("\nSum up.  \nBe exact.\n")
    assert prompts_in("codex", path) == [AgentPrompt("Sum up.\nBe exact.", path, "the whole text")]
    path.write_text(" \n")
    assert prompts_in("codex", path) == []


def test_the_request_of_claude_code_s_compacting_agent(tmp_path: Path) -> None:
    def line(number: int, kind: str, content: Any) -> str:
        return json.dumps(
            {
                "type": kind,
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number else None,
                "sessionId": "s",
                "agentId": "acompact-70d8e7",
                "isSidechain": True,
                "timestamp": f"2026-01-01T00:00:0{number}Z",
                "message": {"role": kind, "content": content},
            }
        )

    path = tmp_path / "agent-acompact-70d8e7.jsonl"
    asked = [line(0, "user", "Mend the rope."), line(1, "assistant", [{"type": "text", "text": "Mended."}])]
    path.write_text(
        "\n".join([*asked, line(2, "user", PROMPT), line(3, "assistant", [{"type": "text", "text": "Sum."}])])
    )
    assert recorded_prompts(path) == [AgentPrompt(PROMPT, path, "request 1")]
    other = tmp_path / "agent-other.jsonl"
    other.write_text(path.read_text().replace("acompact-70d8e7", "other"))
    assert recorded_prompts(other) == []


def test_what_copilot_cli_kept_of_a_request(tmp_path: Path) -> None:
    def event(kind: str, data: Any) -> str:
        return json.dumps(
            {"type": kind, "data": data, "id": kind, "timestamp": "2026-01-01T00:00:00.000Z", "parentId": None}
        )

    start = event(
        "session.start", {"sessionId": "s", "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.102"}
    )
    sent = [*ASKED, {"role": "user", "content": f" {PROMPT}\n"}, {"role": "assistant", "content": "<summary>"}]
    path = tmp_path / "events.jsonl"
    talk = event("user.message", {"content": "Mend the rope."})
    path.write_text("\n".join([start, talk, event("model.messages_snapshot", {"kind": "k", "messages": sent})]))
    assert [one.text for one in recorded_prompts(path)] == [PROMPT]
    path.write_text("\n".join([start, talk, event("model.messages_snapshot", {"kind": "k", "messages": sent[:1]})]))
    assert recorded_prompts(path) == []
