"""Rules that a later call broke: which calls count, what permits them, and whether a compaction dropped the rule."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.analysis.test_rule_file_states import read, sent, session, summary, typed
from tests.commands import cwb
from workbench.analysis.broken_rules import RuleBreak, broken_after_loss, broken_rules
from workbench.api import why
from workbench.session import Message, Session, Text, ToolResult, ToolUse

FORCE = "Never run `git push --force`."
PNPM = "From now on use pnpm, not npm."
VENDOR = "Never edit anything under vendor/."


def ran(id: str, line: str, result: str = "", *, is_error: bool = False, **given: str) -> list[Message]:
    return called(id, "bash", {"command": line, **given}, result, is_error=is_error)


def called(id: str, name: str, given: dict[str, str], result: str = "", *, is_error: bool = False) -> list[Message]:
    return [
        Message(f"{id}a", "assistant", (ToolUse(id, name, given),)),
        Message(f"{id}r", "tool", (ToolResult(id, (Text(result),), is_error),)),
    ]


def found(rule: str, *calls: Sequence[Message], start: str = "u1") -> list[str]:
    messages = [typed(start, rule), *(message for each in calls for message in each)]
    return commands(session(messages, range(len(messages))))


def commands(one: Session) -> list[str]:
    return [each.command for rule in broken_rules(one, len(one.epochs)) for each in rule.breaks]


@pytest.mark.parametrize(
    "line",
    [
        "git push --force",
        "git push -f origin work",
        "git push origin +work",
        "cd web && git push --force",
        "git -C . push --force",
        'bash -lc "git add . && git push --force"',
        "# push\ngit add .\ngit push --force 2>&1 | tail -3",
        "GIT_TRACE=1 timeout 60 git push --force",
    ],
)
def test_a_command_line_that_runs_it(line: str) -> None:
    assert len(found(FORCE, ran("c1", line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "git push",
        "git push --force-with-lease",
        "git push --force --dry-run",
        'echo "git push --force"',
        "grep -r 'git push --force' .",
        "git commit -m 'no git push --force'",
        "# git push --force",
        "cat > notes.md <<'EOF'\ngit push --force\nEOF",
        "git push || git push --force",
        "if test -f x; then git push --force; fi",
        "test -f x && git push --force",
        "cd /tmp/other && git push --force",
        "ssh box 'git push --force'",
    ],
)
def test_a_command_line_that_does_not_surely_run_it(line: str) -> None:
    assert found(FORCE, ran("c1", line)) == []


def test_a_call_that_was_refused_or_failed_to_start_does_not_count() -> None:
    refused = "The user doesn't want to proceed with this tool use."
    assert found(PNPM, ran("c1", "npm install", refused, is_error=True)) == []
    assert found(PNPM, ran("c1", "npm install", "hook: blocked", is_error=True)) == []
    assert found(PNPM, ran("c1", "npm test", "1 failed\nExit code 1", is_error=True)) == ["npm test"]
    assert found(PNPM, ran("c1", "make && npm test", "Exit code 2", is_error=True)) == []


def test_a_call_before_the_rule_does_not_count() -> None:
    messages = [typed("u0", "Is npm there?"), *ran("c1", "npm install"), typed("u1", PNPM), *ran("c2", "npm test")]
    assert commands(session(messages, range(len(messages)))) == ["npm test"], "the question came before the rule"


def test_a_call_that_the_agent_wrote_again_counts_once() -> None:
    messages = [typed("u1", PNPM), *ran("c1", "npm ci"), summary("s1", "Went."), *ran("c1", "npm ci")]
    one = session(messages, [0, 1, 2], [3, 4, 5])
    copied = replace(one, epochs=(one.epochs[0], replace(one.epochs[1], copies=frozenset((4, 5)))))
    assert [len(commands(each)) for each in (one, copied)] == [2, 1]


@pytest.mark.parametrize("line", ["npm --version", "npm i -g pnpm", "npm view react", "npx jest", "pnpm install"])
def test_a_package_manager_that_is_only_asked_or_used_for_another(line: str) -> None:
    assert found(PNPM, ran("c1", line)) == []


def test_git_and_its_commands_that_only_show() -> None:
    assert found("Never use `git stash`.", ran("c1", "git stash list"), ran("c2", "git stash pop")) == ["git stash pop"]
    assert found("Do not run git commands.", ran("c1", "git --version"), ran("c2", "git status")) == ["git status"]


def test_the_folder_of_a_call() -> None:
    assert found(PNPM, ran("c1", "npm test", workdir="/shop/web")) == ["npm test"]
    assert found(PNPM, ran("c1", "npm test", workdir="/elsewhere")) == []
    assert found(PNPM, ran("c1", "cd /tmp/trial"), ran("c2", "npm test")) == []
    assert found(PNPM, ran("c1", "cd /tmp/trial"), ran("c2", "cd /shop && npm test")) == ["npm test"]
    assert found(VENDOR, ran("c1", "cd web"), ran("c2", "echo > vendor/a.js")) == [], "it may be web/vendor/a.js"


@pytest.mark.parametrize(
    ("name", "given", "broken"),
    [
        ("write", {"path": "vendor/a.js", "content": ""}, True),
        ("edit", {"path": "/shop/vendor/lib/a.js", "old_string": "a", "new_string": "b"}, True),
        ("bash", {"command": "sed -i s/a/b/ vendor/a.js"}, True),
        ("bash", {"command": "mkdir -p vendor/lib"}, False),
        ("bash", {"command": "rm vendor/a.js"}, False),
        ("bash", {"command": "git checkout -- vendor/a.js"}, False),
        ("read", {"path": "vendor/a.js"}, False),
        ("write", {"path": "vendored.js", "content": ""}, False),
        ("write", {"path": "web/vendor/a.js", "content": ""}, False),
        ("write", {"path": "/elsewhere/vendor/a.js", "content": ""}, False),
    ],
)
def test_a_path_that_is_written(name: str, given: dict[str, str], broken: bool) -> None:
    assert len(found(VENDOR, called("c1", name, given))) == broken


def test_a_tool_a_flag_and_a_branch() -> None:
    assert found("Never use a subagent.", called("c1", "Task", {"prompt": "Look."})) == ["Task"]
    assert found("Never use `--no-verify`.", ran("c1", "git commit --no-verify -m x")) == [
        "git commit --no-verify -m x"
    ]
    assert found("Never use `--no-verify`.", ran("c1", "grep -r -- --no-verify .")) == []
    main = "Never commit to main."
    assert found(main, ran("c1", "git commit -m x", "[main 1a2b3c4] x")) == ["git commit -m x"]
    assert found(main, ran("c1", "git commit -m x", "[work 1a2b3c4] x")) == []
    assert found("Never push to main.", ran("c1", "git push origin HEAD:main")) == ["git push origin HEAD:main"]
    assert found("Never push to main.", ran("c1", "git push", "   1a2b3c4..5d6e7f8  main -> main")) == ["git push"]
    assert found("Never push to main.", ran("c1", "git push origin maintenance")) == []


def test_words_of_the_user_that_may_permit_it_end_the_rule() -> None:
    calls = ran("c1", "npm test"), [typed("u2", "Publish it with npm.")], ran("c2", "npm ci")
    assert found(PNPM, *calls) == ["npm test"]
    repeated = ran("c1", "npm test"), [typed("u2", "Again: never use npm.")], ran("c2", "npm ci")
    assert found(PNPM, *repeated) == ["npm test", "npm ci", "npm ci"], "the last breaks both rules"
    asked = Message("a1", "assistant", (Text("pnpm is missing. Shall I use npm?"),))
    assert found(PNPM, [asked, typed("u2", "Yes.")], ran("c2", "npm ci")) == []


def test_a_rule_that_the_user_replaced() -> None:
    calls = [typed("u2", "From now on use npm, not pnpm.")], ran("c1", "npm ci")
    assert found(PNPM, *calls) == []


def test_what_stands_around_a_rule_may_limit_it() -> None:
    assert found(f"{FORCE} Only if I ask for it, do.", ran("c1", "git push --force")) == []
    assert found(f"For reviewers:\n- {FORCE}", ran("c1", "git push --force")) == []
    assert found(f"Rules:\n- {FORCE}\n- Use tabs.", ran("c1", "git push --force")) == ["git push --force"]


def in_file(*rules: str, id: str = "m1") -> Message:
    lines = "\n".join(f"- {one}" for one in rules)
    return sent(id, f"# AGENTS.md instructions for /shop\n\n<INSTRUCTIONS>\n{lines}\n</INSTRUCTIONS>")


def test_a_rule_of_a_file() -> None:
    messages = [in_file(FORCE), typed("u1", "Go."), *ran("c1", "git push --force")]
    (rule,) = broken_rules(session(messages, range(4)), 1)
    assert (rule.text, rule.path, rule.message) == (FORCE, "AGENTS.md", "m1")
    assert rule.breaks == (RuleBreak("c1a", 1, 3, "git push --force"),)


def test_a_command_that_another_line_of_the_file_names_is_permitted() -> None:
    rules = "Use pnpm, never npm.", "The old shop needs `npm ci`."
    messages = [in_file(*rules), typed("u1", "Go."), *ran("c1", "npm ci"), *ran("c2", "npm test")]
    assert commands(session(messages, range(6))) == ["npm test"]


def test_a_newer_version_of_the_file_without_the_rule_ends_it() -> None:
    newer = in_file("Never use naive times.", id="m2")
    messages = [in_file(FORCE), typed("u1", "Go."), newer, *ran("c1", "git push --force")]
    assert commands(session(messages, range(5))) == []


def test_a_file_of_another_folder_does_not_bind_the_project() -> None:
    text = f"# AGENTS.md instructions for /pier\n\n<INSTRUCTIONS>\n- {FORCE}\n</INSTRUCTIONS>"
    messages = [sent("m1", text), typed("u1", "Go."), *ran("c1", "git push --force")]
    assert commands(session(messages, range(4))) == []


def compacted(told: str, *more: Message) -> Session:
    messages = [typed("u1", f"{FORCE} Fix the parser."), *ran("c1", "ls"), summary("s1", told), typed("u2", "Go on.")]
    messages += [*ran("c2", "git push --force"), *more]
    return session(messages, [0, 1, 2], range(3, len(messages)))


def test_the_compaction_that_dropped_the_rule_before_the_call() -> None:
    one = compacted("Fixed the parser.", typed("u3", FORCE), *ran("c3", "git push --force"))
    (rule,) = broken_rules(one, 2)
    assert rule.breaks == (
        RuleBreak("c2a", 2, 3, "git push --force", lost_in=1),
        RuleBreak("c3a", 2, 6, "git push --force"),
    ), "the user stated it again"
    assert broken_rules(one, 1) == (), "the first epoch has no such call"


def test_the_number_of_lost_rules_that_were_broken() -> None:
    again = [*ran("c3", "git push --force"), typed("u3", FORCE), *ran("c4", "git push --force")]
    assert broken_after_loss(compacted("Fixed the parser.", *again)) == {1: 1}
    assert broken_after_loss(compacted(f"Fixed the parser. {FORCE}")) == {}


def test_a_summary_that_keeps_the_rule_or_cannot_be_read() -> None:
    for told in ("Fixed the parser. Never run `git push --force`.", ""):
        (rule,) = broken_rules(compacted(told), 2)
        assert [each.lost_in for each in rule.breaks] == [None]


def test_a_file_that_the_agent_sends_with_every_call_is_not_lost() -> None:
    for format, lost in (("claude-code", None), ("codex", 1)):
        messages = [*read("c0", "CLAUDE.md", f"- {FORCE}"), summary("s1", "Went."), *ran("c1", "git push --force")]
        (rule,) = broken_rules(session(messages, [0, 1], [2, 3, 4], format=format), 2)
        assert [each.lost_in for each in rule.breaks] == [lost]


def test_a_diagnosis_names_the_rule_and_the_call() -> None:
    (finding,) = [each for each in why(compacted("Fixed the parser."), epoch=2).findings if each.kind == "broken_rules"]
    assert finding.messages == ("c2a",)
    assert finding.text == (
        "“Never run `git push --force`.” was broken by 1 later call: message 3 of epoch 2 (`git push --force`), "
        "after the compaction of epoch 1 had dropped the rule."
    )


def chat_with_a_broken_rule(times: int = 1) -> str:
    messages: list[dict[str, object]] = [{"role": "user", "content": PNPM}]
    for number in range(times):
        called = {"name": "bash", "arguments": '{"command": "npm ci"}'}
        call = {"id": f"c{number}", "type": "function", "function": called}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "added 3 packages"})
    return json.dumps({"model": "gpt-4o", "messages": messages})


def test_the_command_lists_every_call_that_broke_a_rule(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(chat_with_a_broken_rule(21))
    output = cwb("rules", str(file)).output
    assert output.count("npm ci") == 21
    assert "more in" not in output


def test_the_command_lists_the_calls(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(chat_with_a_broken_rule())
    listed = json.loads(cwb("rules", str(file), "--json").output)["broken_rules"]
    (rule,) = listed
    assert rule["text"] == PNPM
    assert rule["file"] is None
    (one,) = rule["breaks"]
    assert {key: one[key] for key in ("epoch", "number", "command", "lost_at_epoch")} == {
        "epoch": 1,
        "number": 2,
        "command": "npm ci",
        "lost_at_epoch": None,
    }
    lines = [" ".join(line.split()) for line in cwb("rules", str(file)).output.splitlines()]
    at = lines.index("1 rule broken by 1 later call")
    assert lines[at + 2].endswith(f"npm ci in the context {PNPM}")
