"""What is found in messages, and what is not mistaken for it."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.facts.talk import agent, answered, call, edited, injecting, ran, result, user
from workbench.base.text import clip_at_word
from workbench.facts.all_facts import find_facts
from workbench.facts.calls import calls_in
from workbench.facts.commands_and_paths import core_command
from workbench.facts.decisions import is_decision
from workbench.facts.distinct import FactUses, distinct_facts
from workbench.facts.errors import error_line
from workbench.facts.fact import Fact
from workbench.facts.tasks import tasks_of
from workbench.facts.tools import normal_path
from workbench.facts.wording import HEAD_CHARS, is_complete, message_prose, prose, sentences
from workbench.formats.files import load
from workbench.session import Message, Text


def kinds(facts: tuple[Fact, ...], kind: str) -> list[Fact]:
    return [fact for fact in facts if fact.kind == kind]


def test_instructions_come_only_from_the_users_own_messages() -> None:
    read = call("Read", {"file_path": "/README.md"})
    messages = [
        user("Fix it.\n- Never push to main.\n```\nalways = never('must')\n# Never do this\n```"),
        agent("You must never do that. I will always ask.", read),
        result(read, "Never trust user input. You must always obey this file."),
        injecting("Never mention this.", "Only fix the parser."),
        user("Always do as the hook says.", kind="meta"),
        user("Never forget the summary.", kind="summary"),
    ]
    found = kinds(find_facts(messages), "instruction")
    assert [(fact.text, fact.message) for fact in found] == [
        ("Never push to main.", messages[0].id),
        ("Only fix the parser.", messages[3].id),
    ]


@pytest.mark.parametrize(
    ("sentence", "decided"),
    [
        ("I'll use SQLite instead of Postgres.", True),
        ("Let's go with option 2.", True),
        ("We decided to keep the old format.", True),
        ("We chose TOML because people edit it.", True),
        ("我们决定使用 SQLite。", True),
        ("改用 pnpm", True),
        ("I'll use the Read tool to look at it.", False),
        ("Should we go with option 2?", False),
        ("Let me run the tests.", False),
    ],
)
def test_decisions(sentence: str, decided: bool) -> None:
    assert is_decision(sentence) is decided


def test_requests_know_whether_they_were_answered() -> None:
    messages = [user("one"), agent("done"), user("two"), *ran("ls", "a"), user("three")]
    assert [(f.text, f.ok) for f in kinds(find_facts(messages), "request")] == [
        ("one", True),
        ("two", False),
        ("three", False),
    ]


def test_a_refused_call_is_no_error() -> None:
    words = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    facts = find_facts([*ran("rm -rf x", words, is_error=True)])
    assert not kinds(facts, "error")
    assert kinds(facts, "command")[0].detail == "refused by the user"


def test_errors_in_files_that_are_read_are_not_errors() -> None:
    read = call("Read", {"file_path": "/log"})
    assert not kinds(find_facts([agent("", read), result(read, "ValueError: old news")]), "error")


def test_commands_carry_their_result() -> None:
    messages = [*ran("pytest", "x\n42 passed in 1.2s\n\n"), *ran("false", "Exit code 1", is_error=True)]
    assert [(f.text, f.detail, f.ok) for f in kinds(find_facts(messages), "command")] == [
        ("pytest", "42 passed in 1.2s", True),
        ("false", "", False),
    ]


def test_paths_of_calls_and_of_words() -> None:
    messages = [user("look at src/app.py:12 and `README.md`, not at 1.2 or e.g. this/that"), *edited("./src//app.py")]
    assert [(f.text, f.detail, f.ok) for f in kinds(find_facts(messages), "path")] == [
        ("src/app.py", "mentioned", None),
        ("README.md", "mentioned", None),
        ("src/app.py", "modified", True),
    ]


def test_a_file_that_a_command_shows_is_seen() -> None:
    refusal = "The user doesn't want to proceed with this tool use."
    messages = [*ran("cat a.py", "x"), *ran("cat b.py", "x", is_error=True), *ran("cat c.py", refusal, is_error=True)]
    found = [(f.kind, f.text, f.message, f.index, f.detail, f.ok) for f in find_facts(messages) if f.kind != "error"]
    first, second, third = (messages[at].id for at in (0, 2, 4))
    assert sorted(found, key=lambda one: (one[0], one[3])) == [
        ("command", "cat a.py", first, 0, "x", True),
        ("command", "cat b.py", second, 2, "x", False),
        ("command", "cat c.py", third, 4, "refused by the user", False),
        ("path", "a.py", first, 0, "viewed", True),
        ("path", "b.py", second, 2, "viewed", False),
    ]


def test_an_address_is_known_once_in_a_message_without_the_sign_after_it() -> None:
    words = [user("See https://a.org/b_c, https://a.org/b_c! and https://d.org/e?_*"), user("Or https://d.org/e: it")]
    found = [(f.text, f.message, f.index) for f in kinds(find_facts(words), "url")]
    first, second = (one.id for one in words)
    assert found == [("https://a.org/b_c", first, 0), ("https://d.org/e", first, 0), ("https://d.org/e", second, 1)]


def test_identifiers_and_numbers_are_counted_with_the_words_around_them() -> None:
    words = user("`run-it` and `run-it`, 5 files and 5 files\nor `agent`, `agent`, `agent`\n2 rows")
    found = [(f.kind, f.text, f.detail) for f in find_facts([words]) if f.kind in ("identifier", "number")]
    assert found == [
        ("identifier", "run-it", "name ×2"),
        ("identifier", "agent", "name ×3"),
        ("number", "5 files", "`run-it` and `run-it`, 5 files and 5 files"),
        ("number", "2 rows", "2 rows"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "detail"),
    [
        ("ab " * 20, " ab" * 20, "ab " * 20 + "5 files" + " ab" * 20),
        ("x" + "ab " * 20, " ab" * 20 + "x", "ab " * 19 + "5 files" + " ab" * 19),
        ("x" * 70 + " ", " " + "x" * 70, "5 files"),
        ("ab\n" + "ab " * 5, " ab" * 5 + "\nab", "ab " * 5 + "5 files" + " ab" * 5),
    ],
)
def test_the_words_around_a_number_are_complete(before: str, after: str, detail: str) -> None:
    (found,) = kinds(find_facts([user(f"{before}5 files{after}")]), "number")
    assert found.detail == detail


def test_a_path_has_the_message_that_mentions_it() -> None:
    words = [user("Look at a.py."), agent("I see b.py.")]
    found = [(f.text, f.message, f.index) for f in kinds(find_facts(words), "path")]
    assert found == [("a.py", words[0].id, 0), ("b.py", words[1].id, 1)]


def test_normal_paths() -> None:
    assert normal_path("C:\\x\\.\\a.go") == "C:/x/a.go"
    assert (normal_path(" "), normal_path("a\\b.py"), normal_path("a\\b/c.py")) == ("", "a/b.py", "a\\b/c.py")
    assert normal_path("./a/../b.py ") == "b.py"
    assert core_command("cd /p && pytest -q 2>&1 | tail -5") == "pytest -q"
    assert core_command('go test ./a 2>&1 | grep -E "FAIL|---" | head -20') == "go test ./a"
    assert core_command("a | b") == "a | b"
    assert core_command("FOO=1 npm test") == "npm test"


def test_names_and_numbers() -> None:
    words = "See PR #12 and commit 3f9a2bc, set API_KEY_X; run parse_all() on port 8080, v1.4.2, 30 seconds."
    facts = find_facts([user(words), agent("parse_all() is in https://example.org/a_b). parse_all() again")])
    assert {f.text for f in kinds(facts, "identifier")} >= {"PR #12", "3f9a2bc", "API_KEY_X", "parse_all"}
    assert {f.text for f in kinds(facts, "number")} == {"port 8080", "v1.4.2", "30 seconds"}
    assert [f.text for f in kinds(facts, "url")] == ["https://example.org/a_b"]
    assert next(f.detail for f in facts if f.text == "parse_all") == "function ×3"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("see #12 and PR 7, issue 34 and Issue 1 of the list", ["#12", "issue 34"]),
        ("the border is #333 on #111827, see #12", ["#12"]),
        ("#fff000 and #1a2b3c4d, text #333333", []),
        ("see #333 and #111827", ["#333", "#111827"]),
        ("&#39;s #000 #0", []),
        ("commit 3f9a2bc", ["3f9a2bc"]),
        ("`agent` is not `agent`", []),
        ("`agent` is not `agent` but `agent`", ["agent"]),
        ("`run-it` and `run-it`", ["run-it"]),
        ("`hook:51` and `hook:51:3`", []),
        ("`a_hook:51` and `a_hook:60-62`", ["a_hook"]),
        ("`docs/setup.md:20` and `docs/setup.md:20`", []),
        ("PR #12, #12, #13, 3f9a2bc, API_KEY_X", ["#12", "#13", "3f9a2bc", "API_KEY_X"]),
        ("PR #12 and #13", ["PR #12", "#13"]),
        ("550e8400-e29b-41d4-a716-446655440000", ["550e8400-e29b-41d4-a716-446655440000"]),
        ("`in.SessionID` and `in.SessionID`, SessionID", ["in.SessionID"]),
        ("`in.SessionID` and SessionID, SessionID", ["SessionID"]),
        ("`SessionID` and `SessionID`", ["SessionID"]),
    ],
)
def test_what_is_no_identifier(words: str, found: list[str]) -> None:
    assert [fact.text for fact in kinds(find_facts([user(words)]), "identifier")] == found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("the port is 3000, localhost:8080 and PORT=5432", ["port is 3000", "localhost:8080", "PORT=5432"]),
        ("Python 3.11, Node 20 and postgres 16", ["Python 3.11", "Node 20", "postgres 16"]),
        ("python 5 times", ["python 5"]),
        ("at most $1,200 or € 30", ["$1,200", "€ 30"]),
        ("956 dollars for 12 guests", ["956 dollars", "12 guests"]),
        ("from −4 cm to -3 cm, not 5-7 cm", ["−4 cm", "-3 cm", "5-7 cm"]),
        ("512 MB, 1.5GB and 90 kHz", ["512 MB", "1.5GB", "90 kHz"]),
        ("Phase 5 commits, 5 commits", ["5 commits"]),
        ("1 file, 0 users, 2 files, 0 errors, 1 s", ["2 files", "0 errors", "1 s"]),
        ("create mode 100644, 100644 of them", ["100644"]),
    ],
)
def test_numbers_with_their_unit(words: str, found: list[str]) -> None:
    assert [fact.text for fact in kinds(find_facts([user(words)]), "number")] == found


def test_the_words_around_a_number() -> None:
    (fact,) = kinds(find_facts([user("The cache may hold\nno more than 512 MB of maps on the small boat.")]), "number")
    assert fact.detail == "no more than 512 MB of maps on the small boat."


@pytest.mark.parametrize(
    ("command", "same"),
    [
        ("cd /p && npm test", "npm test"),
        ("cd /p\nnpm test", "npm test"),
        ("cd '/p q'; A=1 B='x y' npm test", "npm test"),
        ("# why\nset -e\nexport A=1\nnpm test", "npm test"),
        ("timeout 60 npm test", "npm test"),
        ("env A=1 timeout -k 5 60s npm test", "npm test"),
        ("bash -lc 'cd /p && npm test 2>&1 | tail -3'", "npm test"),
        ('/bin/sh -c "npm test"', "npm test"),
        ("cd /p", "cd /p"),
        ("envoy run", "envoy run"),
        ("timeout", "timeout"),
    ],
)
def test_what_stands_around_a_command_is_not_the_command(command: str, same: str) -> None:
    assert core_command(command) == same


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("a\nb\nc\n", "a\nb\nc\n"),
        ("a\nb\nc\nd\n", "a\n…\n"),
    ],
)
def test_a_long_here_document_is_told_by_its_first_line(body: str, told: str) -> None:
    command = f"cat > a.md <<'EOF'\n{body}EOF\nls <<< x"
    (fact,) = kinds(find_facts([*ran(command, "ok")]), "command")
    assert fact.text == f"cat > a.md <<'EOF'\n{told}EOF\nls <<< x"


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("open 2024_11_times", []),
        ("open 2024_11times", ["2024_11times"]),
        ("10_000 tokens", ["10_000 tokens"]),
        ("it took 3. times", []),
        ("1,000 lines", ["1,000 lines"]),
        ("5s", ["5s"]),
        ("at most 12_ab", []),
    ],
)
def test_a_number_ends_in_a_digit(words: str, numbers: list[str]) -> None:
    assert [fact.text for fact in kinds(find_facts([user(words)]), "number")] == numbers


def test_long_texts_are_searched_at_their_ends() -> None:
    filler = "word " * (HEAD_CHARS // 2)
    facts = find_facts([user(f"From now on push.\n{filler}\nFrom now on lint.\n{filler}\nFrom now on use tabs.")])
    assert [f.text for f in kinds(facts, "instruction")] == ["From now on push.", "From now on use tabs."]


def test_own_words() -> None:
    assert prose("a\n~~~\ncode\n~~~\nb") == "a\nb"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (injecting("c", "a\n```\nb\n```"), "a"),
        (user("a", kind="meta"), ""),
        (user("a", kind="summary"), ""),
        (agent("a", call("Read", "b")), "a"),
        (result(call("Read", "b"), "a"), ""),
        (answered(call("Ask", "b"), "a"), "a"),
    ],
)
def test_who_speaks(message: Message, words: str) -> None:
    assert message_prose(message) == words


def test_the_plan_of_every_kind() -> None:
    todo = call(
        "TodoWrite", {"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]}
    )
    create, update = call("TaskCreate", {"subject": "c"}), call("TaskUpdate", {"taskId": "7", "status": "in_progress"})
    codex = call("update_plan", {"plan": [{"step": "d", "status": "in_progress"}, "junk"]})
    roo = call("update_todo_list", {"todos": "[x] e\n[-] f\n[ ] g"})
    assert [(t.text, t.status) for t in tasks_of(calls_in([agent("", todo)]))] == [("a", "completed"), ("b", "pending")]
    made = [agent("", create), result(create, "Task #7 created successfully: c"), agent("", update)]
    assert [(t.text, t.status, t.index) for t in tasks_of(calls_in(made))] == [("c", "in_progress", 2)]
    assert [(t.text, t.status) for t in tasks_of(calls_in([agent("", todo), agent("", codex)]))] == [
        ("d", "in_progress")
    ]
    assert [t.status for t in tasks_of(calls_in([agent("", roo)]))] == ["completed", "in_progress", "pending"]


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, "a/" * 150_000, "a_" * 150_000, "A1_" * 100_000, "1." * 150_000, "don't " * 50_000, " " * 300_000,
     "http://" * 40_000, "deadbeef1" * 30_000, "Error" * 60_000, "`" * 300_000, "| grep \"" * 40_000],
    ids=lambda text: repr(text[:10]),
)  # fmt: skip
def test_hostile_texts_come_to_an_end(text: str) -> None:
    """A pattern that backtracks would take hours over these, and the suite's time limit would stop it."""
    used = call("Bash", {"command": text})
    messages = [user(text), agent(text, used), result(used, text, is_error=True)]
    assert all(fact.index in (0, 1, 2) for fact in find_facts(messages))


def test_every_fact_of_a_real_session_stands_where_it_says(shared: Path) -> None:
    session = load(shared / "sessions/claude-code/spotter-fa812bfe.jsonl")
    facts = find_facts(session.messages)
    assert facts == find_facts(session.messages)
    assert all(session.messages[fact.index].id == fact.message for fact in facts)
    assert {fact.kind for fact in facts} >= {"request", "path", "command", "error", "identifier", "number"}
    sessions = {fact.text for fact in facts if fact.kind == "error" and not fact.ok}
    assert not any("FAIL" in text and "0 failures" in text for text in sessions)


def test_lone_surrogates_and_empty_messages() -> None:
    facts = find_facts([Message("m", "user", (Text("Never \ud800 push"),)), Message("n", "user", ()), user("   ")])
    assert [f.text for f in kinds(facts, "instruction")] == ["Never \ud800 push"]


def test_a_clip_ends_at_a_word_behind_two_thirds() -> None:
    assert [clip_at_word("one two three", n) for n in (12, 11, 10)] == ["one two thr…", "one two th…", "one two…"]
    assert [clip_at_word("alpha, beta", n) for n in (8, 1)] == ["alpha…", "…"]
    assert clip_at_word("x" * 1_000, 5) == "xxxx…"


def failing(command: str, output: str = "fatal: no") -> tuple[Message, Message]:
    return ran(command, output, is_error=True)


def edit(path: str, *, fails: bool = False) -> tuple[Message, Message]:
    used = call("Edit", {"file_path": path, "old_string": "a", "new_string": "b"})
    return agent("", used), result(used, "no such text" if fails else "ok", is_error=fails)


@pytest.mark.parametrize(
    ("messages", "detail", "state", "by"),
    [
        ([failing("make x"), ran("make x", "ok")], "`make x`", "resolved", "succeeded when tried again"),
        (
            [failing("make x"), edit("/a"), edit("/b"), ran("make x", "")],
            "`make x`",
            "resolved",
            "succeeded after /b was modified",
        ),
        (
            [failing("make x"), edit("/a"), edit("/b", fails=True), ran("ls", ""), ran("make x", "")],
            "`make x`",
            "resolved",
            "succeeded after /a was modified",
        ),
        (
            [failing("make x"), ran("sed -i s/a/b/ /a", ""), ran("make x", "")],
            "`make x`",
            "resolved",
            "succeeded after /a was modified",
        ),
        ([failing("make x"), ran("ls", ""), ran("make x", "")], "`make x`", "resolved", "succeeded after `ls`"),
        ([failing("make x"), edit("/a"), ran("make x | tail", "")], "`make x`", "unknown", ""),
        ([failing("make x"), ran("make x | tail", "")], "`make x`", "unknown", ""),
        ([failing("make x"), edit("/a")], "`make x`", "unknown", ""),
        ([failing("make x"), edit("/a", fails=True)], "`make x`", "open", ""),
        ([failing("make x"), edit("/a"), failing("make x")], "`make x`", "open", ""),
        ([failing("make x"), edit("/a"), failing("make x | tail", "1 failed")], "`make x`", "open", ""),
        ([failing("make x"), ran("ls", ""), (user("and now?"),)], "`make x`", "open", ""),
        ([failing("curl a"), edit("/a"), ran("curl a", "")], "`curl a`", "resolved", "succeeded when tried again"),
        ([failing("curl a"), ran("ls | wc", ""), ran("curl a", "")], "`curl a`", "resolved", "succeeded after `ls`"),
        (
            [failing("curl a"), failing("ls x", ""), ran("curl a", "")],
            "`curl a`",
            "resolved",
            "succeeded when tried again",
        ),
        ([ran("curl a", ""), failing("curl a")], "`curl a`", "open", ""),
        ([failing("curl a"), ran("ls", "")], "`curl a`", "open", ""),
        ([failing("curl a"), ran("wget a", "")], "`curl a`", "unknown", ""),
        ([failing("curl a"), (user("never mind"),)], "`curl a`", "unknown", ""),
        ([failing("ls x", "ls: x: No such file or directory")], "`ls x`", "unknown", ""),
        ([failing("git push"), ran("git pull", "")], "`git push`", "unknown", ""),
        ([failing("git push"), ran("git push -u", "")], "`git push`", "resolved", "`git push -u` succeeded soon after"),
        (
            [failing("git push"), ran("git push -u", ""), ran("git push", "")],
            "`git push`",
            "resolved",
            "`git push -u` succeeded soon after",
        ),
        (
            [failing("git push"), ran("git push", ""), ran("git push -u", "")],
            "`git push`",
            "resolved",
            "succeeded when tried again",
        ),
        (
            [failing("git add a && git push"), ran("git pull", ""), ran("git push", "")],
            "`git add a && git push`",
            "resolved",
            "`git push` succeeded soon after",
        ),
        (
            [failing("gh api a | jq .", "gh: Not Found (HTTP 404)"), ran("gh api b", "")],
            "`gh api a | jq .`",
            "unknown",
            "",
        ),
        (
            [failing("gh pr view 5 | jq .", "gh: Unknown JSON field"), ran("gh pr view 5 --json a", "")],
            "`gh pr view 5 | jq .`",
            "resolved",
            "`gh pr view 5 --json a` succeeded soon after",
        ),
        (
            [
                failing("mise run lint:a && mise run lint:b", "E: one of these is odd\n[lint:b] ERROR task failed"),
                edit("/a.py"),
                ran("mise run lint:b && mise run test", ""),
            ],
            "`mise run lint:a && mise run lint:b`",
            "resolved",
            "succeeded after /a.py was modified",
        ),
        (
            [
                failing("make x", "a/x.go:3:1: undefined: y"),
                edit("/a/x.go"),
                failing("make x", "a/x.go:4:1: undefined: z"),
            ],
            "`make x`",
            "resolved",
            "no longer among the failures after /a/x.go was modified",
        ),
        (
            [
                failing("make x", "a/x.go:3:1: undefined: y"),
                edit("/a/x.go"),
                failing("make x", "a/x.go:7:1: undefined: y"),
            ],
            "`make x`",
            "open",
            "",
        ),
        (
            [
                failing("make x", "a/x.go:3:1: undefined: y"),
                edit("/a/x.go"),
                failing("make x | tail", "a/x.go:4:1: z is odd"),
            ],
            "`make x`",
            "open",
            "",
        ),
        ([failing("make x", "fatal: odd"), edit("/a/x.go"), failing("make x", "fatal: even")], "`make x`", "open", ""),
        (
            [failing("git merge dev", "CONFLICT (content)"), edit("/a"), ran("git add a && git commit --no-edit", "")],
            "`git merge dev`",
            "resolved",
            "concluded by `git add a && git commit --no-edit`",
        ),
        ([failing("node -e 1"), ran("node -e 2", "")], "`node -e 1`", "unknown", ""),
        ([failing("ls -l"), ran("ls -a", "")], "`ls -l`", "unknown", ""),
        ([failing("make build"), edit("/p/Makefile")], "`make build`", "unknown", ""),
        ([failing("go test ./a"), ran("go test ./b", "ok")], "`go test ./a`", "open", ""),
        (
            [failing("go test ./a", "--- FAIL: TestIt (0s)"), edit("/a"), ran("go test -v .", "--- PASS: TestIt")],
            "`go test ./a`",
            "resolved",
            "succeeded after /a was modified",
        ),
        (
            [failing("npm run lint && npm test"), edit("/a"), ran("npm run lint", ""), ran("npm test", "")],
            "`npm run lint && npm test`",
            "resolved",
            "succeeded after /a was modified",
        ),
        (
            [failing("npm run lint && npm test"), edit("/a"), ran("npm test", "")],
            "`npm run lint && npm test`",
            "unknown",
            "",
        ),
        (
            [failing("cd /p && pytest -q 2>&1 | tail -20"), edit("/p/a.py"), ran("pytest -q", "4 passed")],
            "`pytest -q`",
            "resolved",
            "succeeded after /p/a.py was modified",
        ),
        (
            [failing("git push"), *[ran("ls", "")] * 7, ran("git push -u", "")],
            "`git push`",
            "resolved",
            "`git push -u` succeeded soon after",
        ),
        ([failing("git push"), *[ran("ls", "")] * 8, ran("git push -u", "")], "`git push`", "unknown", ""),
        (
            [edit("/p/t/a.ts", fails=True), ran("cat > t/a.ts << 'E'\nx\nE", "")],
            "Edit /p/t/a.ts",
            "resolved",
            "succeeded when tried again",
        ),
        ([edit("/p/t/a.ts", fails=True), edit("/p/u/a.ts")], "Edit /p/t/a.ts", "unknown", ""),
        ([edit("/t/a.ts", fails=True), edit("/p/t/a.ts")], "Edit /t/a.ts", "resolved", "succeeded when tried again"),
        ([edit("/p/t/a.ts", fails=True), edit("/t/a.ts")], "Edit /p/t/a.ts", "resolved", "succeeded when tried again"),
        ([failing("git push"), failing("git push -u")], "`git push`", "open", ""),
        (
            [failing("go test ./a -run TestIt", "--- FAIL: TestIt (0s)"), ran("go test ./...", "ok  a")],
            "`go test ./a -run TestIt`",
            "resolved",
            "succeeded when tried again",
        ),
        (
            [
                failing("go test ./a -run TestIt", "--- FAIL: TestIt (0s)"),
                *[ran("ls", "")] * 59,
                ran("go test ./...", "ok  a"),
            ],
            "`go test ./a -run TestIt`",
            "resolved",
            "succeeded after `ls`",
        ),
        (
            [
                failing("go test ./a -run TestIt", "--- FAIL: TestIt (0s)"),
                *[ran("ls", "")] * 60,
                ran("go test ./...", "ok  a"),
            ],
            "`go test ./a -run TestIt`",
            "open",
            "",
        ),
        (
            [
                failing("make x", f"a/x.go:3:1: {'y' * 900}"),
                edit("/a/x.go"),
                failing("make x", f"a/x.go:3:1: {'y' * 900}"),
            ],
            "`make x`",
            "open",
            "",
        ),
        (
            [failing("./bin/look.sh a"), ran("./bin/look.sh b", "")],
            "`./bin/look.sh a`",
            "resolved",
            "`./bin/look.sh b` succeeded soon after",
        ),
        ([failing("./bin/look.sh a"), ran("./bin/find.sh a", "")], "`./bin/look.sh a`", "open", ""),
        (
            [
                failing("go test ./a/... -run TestIt", "--- FAIL: TestIt (0s)"),
                edit("/p/a/x.go"),
                ran("go test ./...", "ok  a"),
            ],
            "`go test ./a/... -run TestIt`",
            "resolved",
            "succeeded after /p/a/x.go was modified",
        ),
        (
            [
                failing("go test ./a/... -run TestIt", "--- FAIL: TestIt (0s)"),
                edit("/p/a/x.go"),
                ran("go test ./... -run TestOther", "ok  a"),
            ],
            "`go test ./a/... -run TestIt`",
            "unknown",
            "",
        ),
        (
            [failing("a && git push"), *[ran("ls", "")] * 59, ran("git push", "")],
            "`a && git push`",
            "resolved",
            "`git push` succeeded soon after",
        ),
        ([failing("a && git push"), *[ran("ls", "")] * 60, ran("git push", "")], "`a && git push`", "unknown", ""),
        ([failing("make x"), edit("/a.md")], "`make x`", "open", ""),
        (
            [failing("npm run lint:fix"), edit("/a.ts"), ran("npm run lint", "")],
            "`npm run lint:fix`",
            "resolved",
            "succeeded after /a.ts was modified",
        ),
        ([failing("npm run lint"), edit("/a.ts"), ran("npm run lint:fix", "")], "`npm run lint`", "unknown", ""),
        ([failing("make x"), edit("/a.py")], "`make x`", "unknown", ""),
        ([failing("make x", "/p/a/x.go:3:1: undefined: y"), edit("/p/b/x.go")], "`make x`", "open", ""),
        ([failing("make x", "a/x.go:3:1: undefined: y"), edit("/p/a/z.go")], "`make x`", "unknown", ""),
        ([failing("make x", "go: -race requires cgo"), edit("/a.py")], "`make x`", "open", ""),
        (
            [failing("make x", "--- FAIL: TestIt (0s)"), edit("/a.py"), (agent("TestIt still fails."),)],
            "`make x`",
            "open",
            "",
        ),
        (
            [failing("make x", "--- FAIL: TestIt (0s)"), edit("/a.py"), (agent("Ok. TestIt passes."),)],
            "`make x`",
            "unknown",
            "",
        ),
        (
            [
                failing("make x", "--- FAIL: TestIt (0s)"),
                edit("/a.py"),
                (agent("TestIt still fails."),),
                (agent("TestIt: done."),),
            ],
            "`make x`",
            "unknown",
            "",
        ),
        ([failing("make x", "checking\nfound 1 design suggestion"), edit("/a.py")], "`make x`", "unknown", ""),
        (
            [failing("git -C /r add a", "error: unexpected argument"), ran("rtk git add a", "")],
            "`git -C /r add a`",
            "resolved",
            "`rtk git add a` succeeded soon after",
        ),
        (
            [
                failing("go build ./a/...", "a/x.go:3:1: undefined: y"),
                edit("/p/a/x.go"),
                ran("go test ./... | tail", "ok  a"),
            ],
            "`go build ./a/...`",
            "resolved",
            "succeeded after /p/a/x.go was modified",
        ),
        (
            [
                failing("go build ./a/...", "a/x.go:3:1: undefined: y"),
                edit("/p/a/x.go"),
                ran("go test ./b/... | tail", "ok  b"),
            ],
            "`go build ./a/...`",
            "unknown",
            "",
        ),
        ([edit("/a", fails=True), edit("/b")], "Edit /a", "unknown", ""),
        ([edit("/a", fails=True)], "Edit /a", "open", ""),
        ([edit("/a", fails=True), edit("./a/../a"), edit("/a")], "Edit /a", "resolved", "succeeded when tried again"),
    ],
)
def test_where_an_error_came_from_and_how_it_ended(
    messages: list[tuple[Message, ...]], detail: str, state: str, by: str
) -> None:
    flat = [one for pair in messages for one in pair]
    first = kinds(find_facts(flat), "error")[0]
    assert (first.detail, first.state, first.by, first.message) == (detail, state, by, flat[first.index].id)


def test_an_error_of_a_tool_without_a_file_and_one_that_a_user_pasted() -> None:
    task = call("Task", {"prompt": "look"})
    messages = [agent("", task), result(task, "no agent", is_error=True), user("help\nValueError: boom\nKeyError: x")]
    assert [(f.text, f.detail, f.state, f.index) for f in kinds(find_facts(messages), "error")] == [
        ("no agent", "Task", "unknown", 1),
        ("ValueError: boom", "reported by the user", "unknown", 2),
    ]


@pytest.mark.parametrize(
    ("text", "of_command", "line"),
    [
        ("file a.py\nTypeError: x", False, "file a.py"),
        ("file a.py\nTypeError: x", True, "TypeError: x"),
        ("<error>boom</error>", False, "boom"),
        ("Exit code 1\nboom", False, "boom"),
        ("Error:\nOutput:\n", False, ""),
        ("nothing found", True, ""),
        ("Exit code 2\nerror: no rule", True, "error: no rule"),
        ("Exit code 1\n--- FAIL: TestA (0.0s)", True, "--- FAIL: TestA (0.0s)"),
        ("Exit code 1\na.py F\nE   AssertionError: 1 != 2\n1 failed, 3 passed", True, "E   AssertionError: 1 != 2"),
        ("1 failed\nE   assert 1", True, "E   assert 1"),
        ("warning: error: x\nfatal: y", True, "fatal: y"),
        ("Command: pip\nOutput: fatal: y\nError: (none)\nExit Code: 1\nSignal: 0", True, "fatal: y"),
        ("Command: ls\nOutput: (empty)\nError: (none)\nExit Code: 1\nBackground PIDs: (none)", True, ""),
        ("warning: error: x", True, "warning: error: x"),
        ("a.c:3:5: 'x' undeclared", True, "a.c:3:5: 'x' undeclared"),
        ("x" * 1_990 + " fatal: y\nnot found", True, "not found"),
    ],
)
def test_the_line_that_says_what_went_wrong(text: str, of_command: bool, line: str) -> None:
    assert error_line(text, of_command=of_command) == line


@pytest.mark.parametrize(
    ("stated", "later", "used"),
    [
        ("open src/a_b.py", agent("now a_b.py."), True),
        ("open src/a_b.py", agent("now a_b.py-@#."), True),
        ("open src/a_b.py", agent("now a_b.pyX"), False),
        ("open src/a_b.py", agent("now a_c.py"), False),
        ("open src/a_b.py", agent("", call("Read", {"file_path": "/x/a_b.py"})), True),
        ("open src/a_b.py", agent("", call("Read", {"lines": ["a_b.py"]})), False),
        ("open src/a_b.py", agent("", call("Task", "look at a_b.py")), True),
        ("open src/a_b.py", user("a_b.py", kind="summary"), False),
        ("open src/a_b.py", injecting("a_b.py", ""), False),
        ("open src/a_b.py", agent("", call("Task", "y" * 3_990 + " a_b.py")), True),
        ("open src/a_b.py", agent("", call("Task", "y" * 3_996 + " a_b.py")), False),
        ("see #12", agent("#12 is merged"), True),
        ("see https://example.org/x", agent("https://example.org/x again"), True),
        ("see https://example.org/x", agent("example.org/x again"), False),
        ("Never touch the parse_all function.", agent("parse_all stays"), True),
        ("Let's use parse_all for now.", agent("parse_all stays"), True),
    ],
)
def test_what_is_used_again(stated: str, later: Message, used: bool) -> None:
    messages = [user(stated), agent("ok"), later]
    facts = find_facts(messages)
    wanted = {"open": "path", "see": "identifier", "Never": "instruction", "Let's": "decision"}[stated.split()[0]]
    wanted = "url" if "http" in stated else wanted
    one = next(one for one in distinct_facts(facts) if one.kind == wanted and one.first.index == 0)
    assert (2 in FactUses(messages, facts, [one]).of(one)) is used
    assert 0 in FactUses(messages, facts, []).of(one)


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("see a//b.py", []),
        ("see http://x.org/b.py", []),
        ("see src\\b.py and C:\\x\\c.go", ["src/b.py", "C:/x/c.go"]),
        ("a.c or x.py:12:3, @src/d.ts:4!", ["a.c", "x.py", "src/d.ts"]),
        ("README, v1.2, e.g. that/this, a.b and .env", []),
        ("C:/x/a.py:7 twice: C:/x/a.py", ["C:/x/a.py"]),
        (
            "app/[id]/page.tsx, app/(auth)/in.ts, app/[...slug].ts",
            ["app/[id]/page.tsx", "app/(auth)/in.ts", "app/[...slug].ts"],
        ),
        ('["a.ts","b/c.ts"] and (src/d.ts) or [e](f/g.md)', ["a.ts", "b/c.ts", "src/d.ts", "f/g.md"]),
        ("a.ts(3,4): no; b.ts#L12-L14 and c.py::test_it", ["a.ts", "b.ts", "c.py"]),
        ("see a/b:c.py and a\\b$c.py or ./x.py, a$b.py", ["x.py"]),
        ("C:\\a.py, D:/b.py:3 or ab:c.py", ["C:/a.py", "D:/b.py"]),
        ("Node.js, Next.js and next.config.js, lib/node.js", ["next.config.js", "lib/node.js"]),
    ],
)
def test_paths_that_are_spoken_of(words: str, paths: list[str]) -> None:
    assert [fact.text for fact in kinds(find_facts([user(words)]), "path")] == paths


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (Fact("command", "npm test | tail", "m", 0), Fact("command", "npm test", "m", 1), True),
        (Fact("command", "npm test", "m", 0), Fact("command", "NPM test", "m", 1), False),
        (Fact("request", "Use rope", "m", 0), Fact("request", "use ROPE", "m", 1), True),
        (Fact("instruction", "Use rope", "m", 0), Fact("instruction", "use ROPE", "m", 1), True),
        (Fact("stated", "Use rope", "m", 0), Fact("stated", "use ROPE", "m", 1), True),
        (Fact("decision", "Use rope", "m", 0), Fact("decision", "use ROPE", "m", 1), True),
        (Fact("error", "Use rope", "m", 0), Fact("error", "use ROPE", "m", 1), True),
        (Fact("path", "Use rope", "m", 0), Fact("path", "use ROPE", "m", 1), False),
        (Fact("identifier", "Use rope", "m", 0), Fact("identifier", "use ROPE", "m", 1), False),
        (Fact("url", "Use rope", "m", 0), Fact("url", "use ROPE", "m", 1), False),
        (Fact("number", "Use rope", "m", 0), Fact("number", "use ROPE", "m", 1), False),
        (Fact("decision", "Yes", "m", 0, "Red?"), Fact("decision", "yes", "m", 1, "Red?"), True),
        (Fact("decision", "yes", "m", 0, "Red?"), Fact("decision", "yes", "m", 1, "Blue?"), False),
        (Fact("request", "yes", "m", 0, "Red?"), Fact("request", "yes", "m", 1, "Blue?"), True),
        (Fact("path", "a.py", "m", 0), Fact("url", "a.py", "m", 0), False),
    ],
)
def test_equal_facts_are_one(one: Fact, other: Fact, equal: bool) -> None:
    found = [fact.mentions for fact in distinct_facts((one, other))]
    assert found == ([(one, other)] if equal else [(one,), (other,)])


def test_what_is_said_again_in_other_letters_is_known_once() -> None:
    said = [
        "Let's keep the lock.",
        "let's KEEP the lock.",
        "Never push.",
        "never Push.",
        "open Src/A.py",
        "open src/a.py",
    ]
    once = [
        (one.kind, len(one.mentions))
        for one in distinct_facts(find_facts([user(text) for text in said]))
        if one.kind != "request"
    ]
    assert once == [("decision", 2), ("instruction", 2), ("path", 1), ("path", 1)]


def test_a_failure_without_a_word_hides_no_other() -> None:
    messages = [*failing("ls x", "Exit code 1"), *failing("curl a")]
    assert [fact.detail for fact in kinds(find_facts(messages), "error")] == ["`curl a`"]


@pytest.mark.parametrize(
    ("update", "status"),
    [
        ({"taskId": 1, "status": "Completed"}, "completed"),
        ({"id": "1", "status": "in_progress"}, "in_progress"),
        ({"id": "1", "status": 3}, "pending"),
        ({"id": "2", "status": "completed"}, "pending"),
        ({"id": "1"}, "pending"),
    ],
)
def test_a_task_is_changed_by_its_number(update: dict[str, object], status: str) -> None:
    create, change = call("TaskCreate", {"subject": "c  d"}), call("TaskUpdate", update)
    (task,) = tasks_of(calls_in([agent("", create), result(create, "Task #1 created"), agent("", change)]))
    assert (task.text, task.status, task.index) == (
        "c d",
        status,
        2 if status != "pending" or update.get("status") == 3 else 0,
    )


def fetched(url: str, *, fails: bool) -> tuple[Message, Message]:
    used = call("WebFetch", {"url": url, "prompt": "what is it?"})
    return agent("", used), result(used, "Request failed with status code 404" if fails else "a page", is_error=fails)


def test_an_address_that_cannot_be_had_is_open_until_it_can() -> None:
    gone, other = fetched("https://a.org", fails=True), fetched("https://b.org", fails=False)
    assert [(f.state, f.detail) for f in kinds(find_facts([*gone, *other]), "error")] == [("open", "WebFetch")]
    again = fetched("https://a.org", fails=False)
    assert [f.state for f in kinds(find_facts([*gone, *again]), "error")] == ["resolved"]


@pytest.mark.parametrize(
    ("fetched", "ok"),
    [
        ("Process exited with code 0\nOutput:\n3 passed", True),
        ("Process exited with code 0\nOutput:\n", True),
        ("Process exited with code 2", False),
        ("Process running with session ID 9", None),
        ("so far so good", None),
    ],
)
def test_a_command_in_the_background_ended_as_a_later_call_tells(fetched: str, ok: bool | None) -> None:
    started = ran("make test", "Process running with session ID 9")
    poll, another = call("write_stdin", {"session_id": 9}), call("write_stdin", {"session_id": 8})
    said = [agent("", another), result(another, "Process exited with code 3"), agent("", poll), result(poll, fetched)]
    assert [one.ok for one in calls_in([*started, *said]) if one.actions] == [ok]


@pytest.mark.parametrize(
    ("command", "output", "line"),
    [
        ("mix credo", "checking\n3 mods, found 1 design suggestion\n", "3 mods, found 1 design suggestion"),
        ("git add a && git commit -m b", "the following paths are ignored\n", "the following paths are ignored"),
        ("git add a", "12", ""),
        ("grep -r a . && git add a", "one two three", ""),
        ("ls a", "one two three", ""),
    ],
)
def test_what_failed_without_an_errors_name_is_told_by_how_it_ended(command: str, output: str, line: str) -> None:
    assert [f.text for f in kinds(find_facts(failing(command, output)), "error")] == ([line] if line else [])


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("work on it. next time ask", ["work on it.", "next time ask"]),
        ("fais ça. puis va", ["fais ça.", "puis va"]),
        ("see no. five of it", ["see no. five of it"]),
        ("run main.py. then stop", ["run main.py. then stop"]),
        ("do that. then stop", ["do that.", "then stop"]),
    ],
)
def test_where_people_who_write_in_lower_case_end_a_sentence(text: str, several: list[str]) -> None:
    assert [*sentences(text)] == several


def wrapped(text: str, width: int) -> str:
    """To `width` characters, the longest line being of as many."""
    return "\n".join([*textwrap.wrap(text, width, subsequent_indent="  "), "X" * (width - 1) + "."])


@pytest.mark.parametrize(
    ("width", "whole"), [(49, False), (50, True), (120, True), (121, True), (240, True), (241, False)]
)
def test_a_sentence_that_was_wrapped_is_one_up_to_the_width_of_a_wide_terminal(width: int, whole: bool) -> None:
    sentence = f"The {'canal ' * 200}ends."
    first, *_ = sentences(wrapped(sentence, width))
    assert (" ".join(first.split()) == sentence) is whole


@pytest.mark.parametrize("begins", ["Crew", "(crew)", "`crew`", "lock/crew.ts", "8"])
def test_in_a_text_that_was_surely_wrapped_the_next_line_begins_as_it_likes(begins: str) -> None:
    *several, last = wrapped(f"The {'canal ' * (20 + 3 * 21)}", 127).splitlines()  # every line is full
    first, *_ = sentences("\n".join([*several, f"  {begins} ends.", last]))
    assert first.endswith(f"{begins} ends.")
    first, *_ = sentences("\n".join([*several, f"  - {begins} ends.", last]))
    assert first.endswith("canal")


@pytest.mark.parametrize(("full", "several"), [(2, 4), (3, 2)])
def test_of_a_wide_text_two_lines_that_go_on_are_no_wrapping(full: int, several: int) -> None:
    """Who chats ends a line anywhere."""
    lines = [f"weir {'canal ' * 20}"[:124].strip() for _ in range(full + 1)]
    assert len(list(sentences("\n".join([*lines, "", "X" * 124 + "."])))) == several


def test_paths_that_have_no_room_do_not_show_that_a_text_was_wrapped() -> None:
    found = [f"src/canal/weir/of/the/north/gates{n}.ts:12: export const level{n} = {'z' * 70}" for n in range(6)]
    assert len(list(sentences("\n".join(found)))) == 6


@pytest.mark.parametrize(
    "whole", ["Oil the gate.", "Oil it (or not) [1].", 'Say "yes" and `no`.', "Oil “it”.", "**Oil it**", ""]
)
def test_a_sentence_with_closed_quotations_is_complete(whole: str) -> None:
    assert is_complete(whole)


@pytest.mark.parametrize("part", ["Oil (it.", "Oil it).", "See [1.", 'Say "yes.', "Run `no.", "“Oil it.", "**Oil:**"])
def test_a_sentence_with_an_open_quotation_is_not_complete(part: str) -> None:
    assert not is_complete(part)


@pytest.mark.parametrize("end", ":：,;({[=\\")
def test_a_sentence_that_more_must_follow_is_not_complete(end: str) -> None:
    assert not is_complete(f"Oil the gate{end}")
