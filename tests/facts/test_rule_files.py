"""Rule files in a session, and the rules in them."""

from __future__ import annotations

import pytest

from workbench.facts.rule_files import files_in_text, is_rule_file, rule_files, rules_of
from workbench.session import Message, Text, ToolResult, ToolUse

CLAUDE = """<system-reminder>
Contents of /home/d/.claude/CLAUDE.md (user's private global instructions for all projects):

- Never use vitest in watch mode.

Contents of /shop/CLAUDE.md (project instructions, checked into the codebase):

- Always run `make check` before you commit.

Contents of /shop/notes.md (an attached file):

- Never on Fridays.
# important-instruction-reminders
NEVER create files unless they are absolutely necessary.
</system-reminder>"""
CODEX = """# AGENTS.md instructions for /shop

<INSTRUCTIONS>
Do not use `git stash` on shared checkouts.
</INSTRUCTIONS>
<environment_context>
  <cwd>/shop</cwd>
</environment_context>"""
COPILOT = """You help.
<custom_instruction>
Never commit unbuilt work.
</custom_instruction>
<custom_instruction>
@AGENTS.md

<imported_custom_instruction source="/shop/AGENTS.md">
Always name the ticket.
</imported_custom_instruction>
</custom_instruction>"""
GEMINI = "--- Context from: GEMINI.md ---\nNever push to main.\n--- End of Context from: GEMINI.md ---"
PI = '<project_instructions path="/shop/AGENTS.md">\nNever push to main.\n</project_instructions>'
OLD_CODEX = "<user_instructions>\nNever push to main.\n</user_instructions>"


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("CLAUDE.md", True),
        ("/shop/CLAUDE.local.md", True),
        ("../api/AGENTS.md", True),
        (r"D:\shop\.claude\rules\markdown.md", True),
        (".cursor/rules/style.mdc", True),
        (".cursorrules", True),
        (".github/copilot-instructions.md", True),
        ("README.md", False),
        ("MYCLAUDE.md", False),
        ("CLAUDE.md.bak", False),
        ("rules/style.md", False),
        (".claude/settings.json", False),
    ],
)
def test_a_rule_file_is_known_by_its_path(path: str, is_one: bool) -> None:
    assert is_rule_file(path) is is_one


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            CLAUDE,
            [
                ("/home/d/.claude/CLAUDE.md", ("Never use vitest in watch mode.",)),
                ("/shop/CLAUDE.md", ("Always run `make check` before you commit.",)),
            ],
        ),
        (CODEX, [("/shop/AGENTS.md", ("Do not use `git stash` on shared checkouts.",))]),
        (OLD_CODEX, [("AGENTS.md", ("Never push to main.",))]),
        (
            COPILOT,
            [
                ("custom_instruction", ("Never commit unbuilt work.",)),
                ("/shop/AGENTS.md", ("Always name the ticket.",)),
            ],
        ),
        (GEMINI, [("GEMINI.md", ("Never push to main.",))]),
        (PI, [("/shop/AGENTS.md", ("Never push to main.",))]),
        (CODEX.replace(" for /shop", ""), [("AGENTS.md", ("Do not use `git stash` on shared checkouts.",))]),
        ("Contents of the drawer:\n\nNever open it.", []),
        ("See # AGENTS.md instructions for /shop\n\n<INSTRUCTIONS>\nNever.\n</INSTRUCTIONS>", []),
    ],
    ids=["claude", "codex", "codex-2025", "copilot", "gemini", "pi", "codex-without-folder", "prose", "quoted"],
)
def test_the_files_that_an_agent_sends_are_found(text: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(one.path, one.rules) for one in files_in_text(text)] == found


def _read(result: str, *, tool: str = "Read", error: bool = False, **given: str) -> list[Message]:
    return [
        Message("a1", "assistant", (ToolUse("c1", tool, given),)),
        Message("t1", "tool", (ToolResult("c1", (Text(result),), is_error=error),)),
    ]


NUMBERED = "     1→# Shop\n     2→- Never push to main.\n<system-reminder>\nNever run malware.\n</system-reminder>"


def test_a_file_that_was_read_is_found_without_line_numbers_and_reminders() -> None:
    (one,) = rule_files(_read(NUMBERED, file_path="/shop/CLAUDE.md"))
    assert (one.path, one.index, one.sent, one.rules) == ("/shop/CLAUDE.md", 1, False, ("Never push to main.",))


def test_a_numbered_list_of_a_file_keeps_its_numbers() -> None:
    text = "# Shop\n\nRules of the shop are these three\n\n1: Never push to main."
    (one,) = rule_files(_read(text, file_path="/shop/CLAUDE.md"))
    assert one.text == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1: a", "a"),
        ("1: a\nb", "a\nb"),
        ("1: a\nb\nc", "1: a\nb\nc"),
        ("1: a\n2: b\nc\nd", "a\nb\nc\nd"),
        ("1: a\n2: b\nc\nd\ne", "1: a\n2: b\nc\nd\ne"),
    ],
)
def test_line_numbers_are_removed_if_half_of_the_lines_have_them(text: str, found: str) -> None:
    (one,) = rule_files(_read(text, file_path="/shop/CLAUDE.md"))
    assert one.text == found


def test_a_command_that_prints_the_file_reads_it() -> None:
    (one,) = rule_files(_read("- Never push to main.", tool="bash", command="cat AGENTS.md"))
    assert (one.path, one.rules) == ("AGENTS.md", ("Never push to main.",))


@pytest.mark.parametrize(
    "messages",
    [
        _read(NUMBERED, file_path="/shop/README.md"),
        _read(NUMBERED, file_path="/shop/CLAUDE.md", error=True),
        _read("- Never push to main.", tool="bash", command="cat AGENTS.md README.md"),
        _read(NUMBERED, file_path="/shop/CLAUDE.md")[:1],
    ],
    ids=["other", "failed", "two", "open"],
)
def test_other_results_are_no_rule_files(messages: list[Message]) -> None:
    assert rule_files(messages) == ()


def test_files_are_in_the_order_of_the_messages() -> None:
    system = Message("s1", "system", (Text(GEMINI),))
    meta = Message("m1", "user", (Text(CODEX),), "meta")
    read = _read("Never.", file_path="AGENTS.md")
    found = rule_files([Message("m0", "user", (Text("Go on."),)), *read, meta, system])
    assert [(one.path, one.index) for one in found] == [("AGENTS.md", 2), ("/shop/AGENTS.md", 3), ("GEMINI.md", 4)]
    assert [one.index for one in files_in_text(GEMINI)] == [None]


def test_other_calls_do_not_hide_the_one_that_reads() -> None:
    failed, read = _read("No.", file_path="CLAUDE.md", error=True), _read("Never.", file_path="AGENTS.md")
    again = [
        Message("a2", "assistant", (ToolUse("c2", "Read", {"file_path": "AGENTS.md"}),)),
        Message("t2", "tool", (ToolResult("c2", (Text(" Never.\n"),)),)),
    ]
    assert [(one.index, one.text) for one in rule_files([*failed, *again])] == [(3, " Never.\n")]
    assert [one.path for one in rule_files(read)] == ["AGENTS.md"]


def test_unnamed_files_have_numbers_and_lose_blank_lines_only() -> None:
    text = "<user_instructions>\n\n  a\n</user_instructions>" * 2
    assert [(one.path, one.text) for one in files_in_text(text)] == [("AGENTS.md", "  a"), ("AGENTS.md 2", "  a")]
    (one,) = files_in_text(CODEX.replace("/shop", "/shop/ "))
    assert one.path == "/shop/ /AGENTS.md"
    (one,) = files_in_text(CODEX.replace("/shop", "/shop/"))
    assert one.path == "/shop/AGENTS.md"


def test_only_what_the_agent_added_counts() -> None:
    added = Message("m1", "user", (Text(CODEX, injected=True), Text("Go on.")))
    typed = Message("m2", "user", (Text(CODEX),))
    quoted = Message("m3", "user", (Text(CODEX, injected=True),), "summary")
    answer = Message("m4", "assistant", (Text(CODEX),))
    assert [one.index for one in rule_files([typed, quoted, answer, added])] == [3]


FILE = """---
paths: "**/*.md"
---
# Never write headings
<!--
Never read comments.
-->
The shop sells rope and lamps.

- Never push
  to main. It is protected.
- Never push to main.
- Keep modules cohesive
- Never commit secrets
1. Always run `make check` before
   you commit.

| Never | in a table |

```
Never run this.
```
Do not edit generated files. Prefer named exports.
"""


def test_sentences_that_instruct_are_rules_each_once_and_on_one_line() -> None:
    assert rules_of(FILE) == (
        "Never push to main.",
        "Keep modules cohesive",
        "Never commit secrets",
        "Always run `make check` before you commit.",
        "Do not edit generated files.",
        "Prefer named exports.",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Never push\n# Never pull\nto main.", ("Never push",)),
        ("Never push <!-- now -->to main.", ("Never push to main.",)),
        ("Never push\r\nto main.", ("Never push to main.",)),
        ("Never push\n> Never pull\nto main.", ("Never push to main.",)),
        ("Never push\nC# to main.", ("Never push C# to main.",)),
        ("- [ ] Never push\n- [x] Never pull\n2) Never stash", ("Never push", "Never pull", "Never stash")),
    ],
)
def test_where_a_paragraph_ends(text: str, found: tuple[str, ...]) -> None:
    assert rules_of(text) == found


def test_a_long_file_has_the_rules_that_a_short_one_has() -> None:
    """In a long message of the user's, sentences mostly describe; in a rule file they do not."""
    story = "".join(f"- `tools/t{number}.py` prints the stock of shelf {number}.\n" for number in range(80))
    assert rules_of(f"{story}- Never push to main.\n{story}- Always name the ticket.\n") == (
        "Never push to main.",
        "Always name the ticket.",
    )
