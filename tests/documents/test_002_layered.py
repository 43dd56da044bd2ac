"""The rules of document 002: `layered`."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commands import cwb, document, write_lines
from tests.documents.rules import rule
from tests.formats import claude_code_build as claude
from tests.paths import SAMPLES
from tests.tui.app import session_of
from workbench.base.environment import use_environment
from workbench.bench import open_bench
from workbench.compaction.assembled.notes import mentioned, notes_of, reminder, with_reminder
from workbench.compaction.assembled.prompt import assembled, react
from workbench.compaction.assembled.tool_results import ResultLimits, compress
from workbench.compaction.checks import check
from workbench.compaction.context import Context, Gauge, Layout
from workbench.compaction.layered.archive import MARKS, SECTIONS, TITLE
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import default_preset, read_preset
from workbench.compaction.prompts import load_prompt
from workbench.compaction.shape import Shape
from workbench.compaction.strategies.layered import STRATEGY, LayeredPolicy, triggers
from workbench.compaction.strategy import ProgressStep
from workbench.compaction.summary_request import SummaryFailed, SummaryRequest
from workbench.conformance.building import METER, agent, call, context_of, result, summary, user
from workbench.conformance.strategies import Answered
from workbench.conformance.strategies import run as by_hand
from workbench.session import Media, Message, Opaque, Text, Thinking, ToolResult, ToolUse, Usage
from workbench.summarizers.by_name import parse_name
from workbench.summarizers.driver import RequestsStarted, StepFinished
from workbench.summarizers.estimate import estimate, shorten_placeholder
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter
from workbench.tokens.sizes import Basis, Sizes
from workbench.tokens.window import Window
from workbench.tui.middle.message import message_parts
from workbench.tui.middle.parts import Folds, TabInput
from workbench.tui.middle.tabs import TABS
from workbench.tui.rows import Groups
from workbench.tui.screens.run_progress import RunProgress, planned_lines

ANSWER = "\n\n".join(f"{title}\n* something" for title in SECTIONS)
PICTURE = Media("image/png", 3)
NOISE = "\n".join(f"compiling unit {n}" for n in range(300))


def policy(**changes: Any) -> LayeredPolicy:
    return LayeredPolicy.model_validate(changes)


def run(context: Context, chosen: LayeredPolicy, answer: Answered = ANSWER) -> tuple[Outcome, list[SummaryRequest]]:
    return by_hand(STRATEGY, context, chosen, answer)


def one_round(name: str, text: str = "x" * 40) -> list[Message]:
    made = agent(f"{name}a", "", call(f"{name}c", command="make"))
    return [
        user(f"{name}u", f"request {name}"),
        made,
        result(f"{name}r", (f"{name}c", text)),
        agent(f"{name}z", "done"),
    ]


def rounds(count: int, text: str = "x" * 40) -> list[Message]:
    return [message for n in range(1, count + 1) for message in one_round(f"{n}.", text)]


# --- A1 layers --------------------------------------------------------------------------------------------------------

TODOS = [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]


def layered_context() -> Context:
    """Every layer of a prompt holds something; the round that goes on has mentioned a file and read it."""
    messages = [
        Message("s", "system", (Text("Be careful."),)),
        *one_round("1.", NOISE),
        agent("t", "", call("todo", "TodoWrite", todos=TODOS)),
        result("tr", ("todo", "ok")),
        agent("tz", "noted"),
        user("now", "see @src/a.py"),
        agent("reading", "", call("read", "Read", file_path="src/a.py")),
        result("was read", ("read", NOISE)),
    ]
    return context_of(messages, rules="Never log a token.", system="You are an agent.")


@rule("002-001", "002-002", "002-064")
def test_the_prompt_reads_in_the_documents_order() -> None:
    parts = assembled(layered_context(), ResultLimits())
    assert [part.name for part in parts] == ["L1 system+tools", "L2 rules", "L3 history", "current input", "recap"]
    texts = [part.text for part in parts]
    assert texts[:2] == ["You are an agent.\n\nBe careful.", "Never log a token."]
    assert texts[2].startswith('[user] request 1.\n\n[assistant] Action: Bash[{"command":"make"}]\n\n[tool] {"status"')
    assert texts[2].endswith("[assistant] Action: Finish[noted]")
    assert texts[3].startswith(f"[user] see @src/a.py\n\n{reminder(['src/a.py'])}\n\n[assistant] Action: Read[")
    assert texts[4] == "1 of 2 done; next: write"
    bar = STRATEGY.view.layers(layered_context(), run(layered_context(), policy())[0])
    assert [layer.name for layer in bar] == [
        "L1 system+tools", "L2 rules", "L3 tail", "current input", "recap",
    ]  # fmt: skip


@rule("002-064")
def test_the_recap_outlives_the_rounds_that_wrote_the_list() -> None:
    """A list written whole, and one of which a later round, which is kept, changes one item."""
    whole = [user("u", "plan"), agent("t", "", call("c", "TodoWrite", todos=TODOS)), result("r", ("c", "ok"))]
    made = [call(f"c{n}", "TaskCreate", subject=f"task {n}") for n in (1, 2)]
    one_by_one = [user("u", "plan"), agent("t", "", *made), result("r", *((f"c{n}", f"Task #{n}") for n in (1, 2)))]
    update = [user("u2", "go on"), agent("t2", "", call("c3", "TaskUpdate", taskId="2", status="completed"))]
    updated = [*update, result("r2", ("c3", "Updated")), agent("z2", "yes")]
    for messages, recap in (
        ([*whole, agent("z", "yes"), *rounds(10)], "1 of 2 done; next: write"),
        ([*one_by_one, agent("z", "yes"), *updated, *rounds(9)], "1 of 2 done; next: task 1"),
    ):
        context = context_of(messages)
        outcome, _ = run(context, policy())
        assert outcome.fate_at(1).fate is Fate.SUMMARIZED
        for now in (context, context.from_outcome(outcome)):
            assert assembled(now, ResultLimits())[-1].text == recap


@rule("002-002")
def test_request_shows_the_whole_next_prompt_of_the_new_context() -> None:
    """Folded on the screen, whole in a file; an archive stands in it as the summary's placeholder."""
    bench = open_bench(session_of([*rounds(12), user("now", "see @src/a.py")]), Counter(), preset="layered")
    view = TabInput(bench, Groups(bench.layout), 0)
    shown = [part.text for part in TABS["request"](replace(view, folds=Folds()))]
    assert shown[0] == "Next prompt, in order, with a placeholder for the summary"
    assert [line.split(" · ")[0] for line in shown[1:6]] == [
        "▸ L1 system+tools", "▸ L2 rules", "▸ L3 history", "▸ current input", "▸ recap",
    ]  # fmt: skip
    assert shown[7].startswith("Request 1 of 1")
    after = bench.context.from_outcome(bench.outcome)
    whole = "\n".join(part.text for part in TABS["request"](view))
    assert all(shorten_placeholder(part.text) in whole for part in assembled(after, ResultLimits()))
    opened = TABS["request"](replace(view, folds=Folds(frozenset({"prompt/current input"}))))
    assert reminder(["src/a.py"]) in "\n".join(part.text for part in opened)


@rule("002-003")
def test_an_archive_stands_in_the_history_and_not_before_it() -> None:
    context = context_of([Message("s", "system", (Text("Be careful."),)), *rounds(11)])
    outcome, _ = run(context, policy())
    system, _, history, *_ = assembled(context.from_outcome(outcome), ResultLimits())
    assert TITLE not in system.text
    assert history.text.startswith(TITLE)


def a_session(folder: Path) -> Path:
    """A Claude Code session in `folder`: a file that is mentioned, read, changed by nobody's call, and read again."""
    lines: list[dict[str, Any]] = []
    parent = None
    for n, line in enumerate(("one", "two")):
        read = claude.call(f"toolu_{n}", file_path="src/a.py")
        lines += [
            claude.user(f"u{n}", parent, "fix @src/a.py, not @/etc/passwd"),
            claude.assistant(f"c{n}", f"u{n}", f"msg_c{n}", read),
            claude.result(f"r{n}", f"c{n}", f"toolu_{n}", f"     1→{line}\n"),
            claude.assistant(f"a{n}", f"r{n}", f"msg_a{n}", claude.text("Done.")),
        ]
        parent = f"a{n}"
    return write_lines(folder / "session.jsonl", [{**line, "cwd": str(folder)} for line in lines])


@rule("002-004")
def test_a_command_tells_the_layers_of_any_session(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    (tmp_path / "Code_Law.md").write_text("Never log a token.")
    told = document("inspect", path, "--layers")["prompt"]
    assert [part["name"] for part in told] == ["L1 system+tools", "L2 rules", "L3 history", "current input", "recap"]
    assert [part["note"] for part in told][2:] == ["", "the user's next request stands here", ""]
    lines = cwb("inspect", path, "--layers").stdout.split("\n")
    heads = [line.split(":")[0] for line in lines if line.startswith("== ")]
    assert heads == [f"== {part['name']}" for part in told]
    assert "Never log a token." in lines
    assert "prompt" not in document("inspect", path)


@rule("002-005")
@pytest.mark.parametrize("name", ["CODE_LAW.md", "code_law.md", "Code_Law.MD"])
def test_the_rules_are_found_in_the_projects_root_in_any_case(name: str, tmp_path: Path) -> None:
    path = a_session(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / name).write_text("Somewhere else.")
    assert document("inspect", path, "--layers")["prompt"][1]["text"] == ""
    (tmp_path / name).write_text("Never log a token.")
    assert document("inspect", path, "--layers")["prompt"][1]["text"] == "Never log a token."


@rule("002-006")
def test_the_rules_are_no_part_of_the_history() -> None:
    context = context_of(rounds(11), rules="Never log a token.")
    outcome, (request,) = run(context, policy())
    assert "Never log a token." not in "".join([request.text, *(message.text for message in outcome.messages)])


# --- A2 what is written to the history --------------------------------------------------------------------------------


@rule("002-007", "002-058")
def test_a_turn_is_thought_action_tool_and_finish_without_ids_of_calls() -> None:
    messages = [
        Message("s", "system", (Text("Be brief."),)),
        summary("old", "## 📌 Archived Session Summary"),
        user("u", "list it"),
        Message("a", "assistant", (Thinking("I should look."), Text("Looking."), call("id-1", "LS", path="src"))),
        result("r", ("id-1", '{"status": "success", "data": {"entries": []}, "text": "long", "stats": {}}')),
        agent("a2", "One more.", call("id-2", "Bash", command="ls"), call("id-3", "Bash", command="pwd")),
        result("r2", ("id-2", "a.py"), ("id-3", "/srv"), error=True),
        agent("a3", "Nearly there."),
        agent("a4", "It is empty."),
        user("u2", "a boundary", "boundary"),
        user("u3", "thanks"),
        Message("a5", "assistant", (Text("See"), PICTURE, Opaque("odd", {}))),
        Message("t", "tool", (Text("Told."), PICTURE)),
        agent("a6", "Bye."),
    ]
    assert list(react(Shape(messages))) == [
        "[system] Be brief.",
        "## 📌 Archived Session Summary",
        "[user] list it",
        '[assistant] Thought: I should look.\nLooking.\nAction: LS[{"path":"src"}]',
        '[tool] {"status":"success","data":{"entries":[]}}',
        '[assistant] Thought: One more.\nAction: Bash[{"command":"ls"}]\nAction: Bash[{"command":"pwd"}]',
        '[tool] {"status":"error","data":"a.py"}\n[tool] {"status":"error","data":"/srv"}',
        "[assistant] Thought: Nearly there.",
        "[assistant] Action: Finish[It is empty.]",
        "[user] thanks",
        f"[assistant] Thought: See\n{PICTURE.placeholder}\n[odd]",
        f"[tool] Told.\n{PICTURE.placeholder}",
        "[assistant] Action: Finish[Bye.]",
    ]


@rule("002-008")
def test_tool_messages_are_the_compressed_json() -> None:
    shape = layered_context().shape
    lines = [line for line in react(shape, limits=ResultLimits(stdout_lines=3)) if line.startswith("[tool]")]
    assert lines[0] == (
        '[tool] {"status":"success","data":{"stdout":"…\\ncompiling unit 298\\ncompiling unit 299",'
        '"stdout_lines":300,"truncated":true}}'
    )
    assert lines[1] == '[tool] {"status":"success","data":{"recap":"1 of 2 done; next: write"}}'


@rule("002-009")
def test_the_round_that_goes_on_works_with_whole_results() -> None:
    context = layered_context()
    _, _, history, current, _ = assembled(context, ResultLimits())
    assert ("compiling unit 150" in history.text, "compiling unit 150" in current.text) == (False, True)
    outcome, _ = run(context, policy())
    assert outcome.messages[-1] is context.messages[-1]
    assert [outcome.fate_at(index).fate for index in (3, 10)] == [Fate.COMPRESSED, Fate.KEPT]


@rule("002-010")
def test_by_default_the_kept_rounds_are_compressed_as_well() -> None:
    context = context_of([*rounds(11, NOISE), *one_round("open", NOISE)[:-1]])
    outcome, (request,) = run(context, default_preset(STRATEGY.id).policy)
    assert "compiling unit 150" not in request.text
    compressed = [index for index in range(len(context)) if outcome.fate_at(index).fate is Fate.COMPRESSED]
    assert compressed == [index for index in range(4, 44) if context.messages[index].results]
    outcome, (request,) = run(context, policy(compress_results="head"))
    assert "compiling unit 150" not in request.text
    assert outcome.fate_counts[Fate.COMPRESSED] == 0


# --- A3, C1 tool results ----------------------------------------------------------------------------------------------


def lines_of(count: int, form: str = "line {}") -> str:
    return "\n".join(form.format(n) for n in range(1, count + 1))


def enveloped(data: Any, status: str = "success", **more: Any) -> str:
    return json.dumps({"status": status, "data": data, "text": "t" * 9, "stats": {"ms": 1}, "context": {}, **more})


DIFF = "@@ -7,9 +7,95 @@\n" + lines_of(90, "+new {}")


@pytest.mark.parametrize(
    ("one", "text", "left"),
    [
        pytest.param(
            call("c", "LS", path="/w"), "- a/\n" + lines_of(40, "- f{}.py"),
            {"directory": "/w", "directories": 1, "files": 40, "truncated": True,
             "entries": ["a/", *lines_of(19, "f{}.py").split("\n")]},
            id="002-011 text",
        ),
        pytest.param(
            call("c", "LS"), enveloped({"entries": [{"path": "a", "type": "dir"}, {"path": "b", "type": "file"}]}),
            {"directories": 1, "files": 1,
             "entries": [{"path": "a", "type": "dir"}, {"path": "b", "type": "file"}]},
            id="002-011 envelope",
        ),
        pytest.param(
            call("c", "Glob", pattern="*.py"), lines_of(40, "src/f{}.py"),
            {"pattern": "*.py", "count": 40, "truncated": True, "paths": lines_of(10, "src/f{}.py").split("\n")},
            id="002-012",
        ),
        pytest.param(
            call("c", "Grep", pattern="x"), lines_of(40, "src/a.py:{}:x") + "\nsrc/b.py:1:x",
            {"pattern": "x", "count": 41, "summary": "41 matching lines in 2 files", "truncated": True,
             "matches": lines_of(5, "src/a.py:{}:x").split("\n")},
            id="002-013",
        ),
        pytest.param(
            call("c", "Grep", pattern="x"),
            enveloped({"matches": [{"file": f"{n % 3}.py", "line": n, "text": "x"} for n in range(40)]}),
            {"pattern": "x", "count": 40, "summary": "40 matching lines in 3 files", "truncated": True,
             "matches": [{"file": f"{n % 3}.py", "line": n, "text": "x"} for n in range(5)]},
            id="002-014",
        ),
        pytest.param(
            call("c", "Read", file_path="a", offset=100), lines_of(501),
            {"lines": 501, "truncated": True,
             "content": "\n".join(f"{n + 99:>6}→line {n}" for n in range(1, 501))},
            id="002-015 002-016 501 lines without numbers",
        ),
        pytest.param(
            call("c", "Read", file_path="a"), lines_of(501, "{}→line"),
            {"lines": 501, "truncated": True, "content": lines_of(500, "{}→line")},
            id="002-016 501 lines with numbers",
        ),
        pytest.param(
            call("c", "Read", file_path="a"), enveloped({"content": lines_of(501)}),
            {"lines": 501, "truncated": True, "content": "\n".join(f"{n:>6}→line {n}" for n in range(1, 501))},
            id="002-016 501 lines in an envelope",
        ),
        pytest.param(
            call("c", "Edit", file_path="/w/a.py"), "Updated.\n" + "\n".join(f"{n:>6}→x" for n in range(12, 63)),
            {"file": "/w/a.py", "summary": "Updated.", "range": "12-62", "truncated": True,
             "fragment": "(51 lines, left out)"},
            id="002-017 text",
        ),
        pytest.param(
            call("c", "MultiEdit", file_path="/w/a.py"),
            enveloped({"applied": True, "diff_preview": "@@ -1 +4,2 @@\n+x"}),
            {"file": "/w/a.py", "range": "4-5", "applied": True, "diff_preview": "@@ -1 +4,2 @@\n+x"},
            id="002-017 envelope",
        ),
        pytest.param(
            call("c", "Edit", file_path="/w/a.py"), enveloped({"applied": True, "diff_preview": DIFF}),
            {"file": "/w/a.py", "range": "7-101", "applied": True, "truncated": True,
             "diff_preview": "(91 lines, +90 −0, left out)"},
            id="002-017 002-018 a large diff in an envelope",
        ),
        pytest.param(
            call("c", "Edit", file_path="/w/a.py"), f"updated\n{DIFF}",
            {"file": "/w/a.py", "summary": "updated", "range": "7-101", "truncated": True,
             "fragment": "(91 lines, +90 −0, left out)"},
            id="002-018 a large diff as text",
        ),
        pytest.param(
            call("c", "Write", file_path="/w/a.py"), "File created\n" + lines_of(51),
            {"file": "/w/a.py", "operation": "new", "summary": "File created", "truncated": True,
             "fragment": lines_of(20)},
            id="002-019 new",
        ),
        pytest.param(
            call("c", "Write", file_path="/w/a.py"), "The file /w/a.py has been updated.\n" + lines_of(51),
            {"file": "/w/a.py", "operation": "overwritten", "summary": "The file /w/a.py has been updated.",
             "truncated": True, "fragment": lines_of(20)},
            id="002-019 overwritten as text",
        ),
        pytest.param(
            call("c", "Write", file_path="/w/a.py"), enveloped({"operation": "update", "diff_preview": lines_of(50)}),
            {"file": "/w/a.py", "operation": "update", "diff_preview": lines_of(50)},
            id="002-019 overwritten in an envelope",
        ),
        pytest.param(
            call("c", "Bash", command="x"),
            enveloped({"stdout": lines_of(100), "stderr": lines_of(100), "exit_code": 2}),
            {"exit_code": 2, "stdout_lines": 100, "stderr_lines": 100, "truncated": True,
             "stdout": "\n".join([lines_of(3), "…", *lines_of(100).split("\n")[-6:]]),
             "stderr": "\n".join(lines_of(100).split("\n")[-20:])},
            id="002-020",
        ),
        pytest.param(
            call("c", "TodoWrite", todos=TODOS), enveloped({"todos": TODOS, "recap": "1 of 2 done"}),
            {"recap": "1 of 2 done"},
            id="002-021 envelope",
        ),
        pytest.param(
            call("c", "TodoWrite", todos=TODOS), "Todos have been modified successfully. " * 3,
            {"recap": "1 of 2 done; next: write"},
            id="002-021 text",
        ),
        pytest.param(
            call("c", "Glob"), enveloped({"paths": ["a"], "truncated": True, "applied": False, "fallback": "python"}),
            {"count": 1, "truncated": True, "applied": False, "fallback": "python", "paths": ["a"]},
            id="002-047",
        ),
        pytest.param(
            call("c", "WebFetch"), "y" * 5_000,
            {"excerpt": "y" * 1_000 + "…" + "y" * 999, "truncated": True},
            id="002-056",
        ),
    ],
)  # fmt: skip
def test_what_is_left_of_a_tools_result(one: ToolUse, text: str, left: dict[str, Any]) -> None:
    found = compress(one, ToolResult("c", (Text(text),)))
    assert json.loads(found.text) == {"status": "success", "data": left}
    assert compress(one, found) is found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("Read", lines_of(499), id="002-015 002-016 499 without numbers"),
        pytest.param("Read", lines_of(500), id="002-016 500 without numbers"),
        pytest.param("Read", lines_of(499, "{}→line"), id="002-016 499 with numbers"),
        pytest.param("Read", lines_of(500, "{}→line"), id="002-016 500 with numbers"),
        pytest.param("Edit", "The file a was updated.\n    12→x\n    13→y", id="002-017 a small one"),
        pytest.param("Bash", lines_of(11, "{}"), id="002-020 a line over a limit that is ours"),
    ],
)
def test_text_of_which_nothing_would_go_and_that_would_get_longer_stays_as_it_was_recorded(
    name: str, text: str
) -> None:
    one = ToolResult("c", (Text(text),))
    assert compress(call("c", name, file_path="a", command="x"), one) is one


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param(
            enveloped({"content": lines_of(30)}, status="partial"),
            {"status": "partial", "data": {"content": "\n".join(f"{n:>6}→line {n}" for n in range(1, 31))}},
            id="002-046 002-049 though numbers make it longer",
        ),
        pytest.param(
            enveloped({}, status="error", error={"code": "NOT_FOUND", "message": "m" * 5_000, "trace": "t"}),
            {"status": "error", "data": {}, "error": {"code": "NOT_FOUND", "message": "m" * 5_000}},
            id="002-048",
        ),
    ],
)
def test_of_an_envelope_status_data_and_error_stay(text: str, left: dict[str, Any]) -> None:
    assert json.loads(compress(call("c", "Read", file_path="a"), ToolResult("c", (Text(text),))).text) == left


# --- A4 compacting the history ----------------------------------------------------------------------------------------


@rule("002-022", "002-029")
def test_system_messages_stay_and_the_archive_is_one() -> None:
    system = Message("s", "system", (Text("Be careful."),))
    outcome, (request,) = run(context_of([system, *rounds(11)]), policy())
    assert outcome.messages[0] is system
    assert (outcome.messages[1].role, outcome.messages[1].kind) == ("system", "summary")
    assert "Be careful." not in request.text


@rule("002-023")
def test_archives_are_only_added_to_through_generations() -> None:
    context = context_of(rounds(3, "x" * 4_000))
    for generation in range(2, 5):
        first, (request,) = run(context, policy(min_tail_rounds=1), f"{ANSWER}\n* archive {generation}")
        assert first.status == "compacted"
        assert "archive" not in request.text.partition("<conversation>")[2]
        more = [message for n in range(2) for message in one_round(f"{generation}-{n}.", "x" * 4_000)]
        context = context_of([*first.messages, *more])
    archives = [message for message in context.messages if message.kind == "summary"]
    assert [archive.text[-9:] for archive in archives] == ["archive 2", "archive 3", "archive 4"]
    assert context.messages[: len(archives)] == tuple(archives)


@rule("002-024")
def test_a_result_in_a_later_round_moves_the_cut_back() -> None:
    late = [
        user("u1", "start it"),
        agent("a1", "", call("c1", command="serve")),
        user("u2", "meanwhile"),
        agent("a2", "yes"),
        result("r1", ("c1", "x" * 900)),
        agent("a3", "it runs"),
    ]
    context = context_of([*one_round("0."), *late, *rounds(2)])
    outcome, (request,) = run(context, policy(min_tail_rounds=3))
    assert request.sources == ("0.u", "0.a", "0.r", "0.z")
    assert any("moved back by 1 round" in line for line in outcome.trace)


@rule("002-025", "002-026", "002-027")
@pytest.mark.parametrize(("count", "archived"), [(9, 0), (10, 0), (11, 1), (13, 3)])
def test_the_ten_newest_whole_rounds_stay(count: int, archived: int) -> None:
    messages = rounds(count)
    outcome, requests = run(context_of(messages), policy())
    assert [len(request.sources) for request in requests] == [4 * archived] * bool(archived)
    assert outcome.messages[bool(archived) :] == tuple(messages[4 * archived :])
    if not archived:
        assert outcome.reason == f"nothing to compact: {count} finished rounds; at least 10 are kept"


@rule("002-026")
def test_an_open_round_and_the_current_input_stay_besides() -> None:
    for more in (one_round("open")[:-1], [user("new", "next")]):
        outcome, (request,) = run(context_of([*rounds(11), *more]), policy())
        assert (len(request.sources), outcome.split) == (4, 4)
        assert run(context_of([*rounds(10), *more]), policy())[1] == []


# --- A5 the summary ---------------------------------------------------------------------------------------------------

WHOLE = "\n\n".join([SECTIONS[0], *(f"{mark.under}\n{mark.line('x')}" for mark in MARKS)])


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        pytest.param(WHOLE, [], id="002-028 002-031"),
        pytest.param("\n".join(SECTIONS), [], id="002-031 nothing recorded"),
        pytest.param(WHOLE.replace("**Stack**:", "**stack:**"), [], id="002-031 in other marks"),
        *(
            pytest.param(
                WHOLE.replace(mark.words, "???"), [f"“{mark.words}” is missing under “{mark.under[4:]}”"],
                id=f"002-031 without {mark.words}",
            )
            for mark in MARKS
        ),
        pytest.param(
            "Just prose.", ["the summary has none of the template's sections and is used unchanged"],
            id="002-030 002-031 without sections",
        ),
        *(
            pytest.param(f"{WHOLE}\n{line}", [f"the summary states progress: “{line}”"], id=f"002-028 {line}")
            for line in (
                "* It is in progress", "In progress: it", "Next steps: x", "* [ ] write it", "下一步：部署", "正在修复",
            )
        ),
        pytest.param(f"{WHOLE}\n* no such status: Done, In Progress, Todo", [], id="002-028 the name of a status"),
        pytest.param(
            f"{WHOLE}\n* “what are the next steps?”, `git log --grep 'in progress'`", [], id="002-028 in others' words"
        ),
    ],
)  # fmt: skip
def test_the_checks_warn_of_missing_labels_and_of_progress(answer: str, found: list[str]) -> None:
    context = context_of(rounds(11, NOISE))
    outcome, _ = run(context, policy(), answer)
    (seen,) = (one for one in check(context, outcome, STRATEGY, policy()) if one.name == "summary follows its template")
    assert (seen.detail.split("; ") if seen.detail else [], seen.passed, seen.hard) == (found, not found, False)
    assert seen.messages == (("summary-1.z",) if found else ())


@rule("002-030", "002-031", "002-028")
@pytest.mark.parametrize("summarizer", [extractive, estimate])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_summary_without_a_model_fills_the_template(language: str, summarizer: Any) -> None:
    context = context_of(rounds(12, NOISE))
    outcome, _ = run(context, policy(language=language), summarizer)
    assert [line for line in outcome.trace if "left out" in line] == []
    assert [one.detail for one in check(context, outcome, STRATEGY, policy()) if not one.passed] == []
    lines = outcome.messages[0].text.split("\n")
    assert [title for title in lines if title.startswith("### ")] == list(SECTIONS)
    assert [mark for mark in MARKS if not any(mark.line() in line for line in lines)] == []


@rule("002-031")
def test_without_a_model_only_what_is_known_to_be_done_is_ticked() -> None:
    """A task that the plan ticks, a commit, a command that succeeded, a request that was answered."""
    tasks = [*TODOS, {"content": "go on", "status": "in_progress"}]
    worked = [
        user("u", "Build it."),
        agent("t", "", call("c1", "TodoWrite", todos=tasks)),
        result("tr", ("c1", "ok")),
        agent("a", "", call("c2", command="make build"), call("c3", command='git commit -m "feat: it"')),
        result("r", ("c2", "built"), ("c3", "1 file changed")),
        agent("b", "", call("c4", command="make test")),
        result("br", ("c4", "Exit code 2\n1 failed"), error=True),
        agent("z", "It is built."),
        user("u2", "And the docs."),
        agent("z2", "They are written."),
    ]
    outcome, _ = run(context_of([*worked, *rounds(10)]), policy(), extractive)
    done = outcome.messages[0].text.partition(f"{SECTIONS[2]}\n")[2].partition("\n\n")[0]
    assert done.split("\n") == [
        "* [✓] I answered: It is built.",
        "* [✓] “And the docs.”",
        "  - I answered: They are written.",
        "* [✓] read",
        "* [✓] Committed: feat: it",
        "* [✓] `make build` → ok: built",
        '* [✓] `git commit -m "feat: it"` → ok: 1 file changed',
        "- `make test` → failed: 1 failed",
    ]


@rule("002-030", "002-031")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_both_prompts_hold_the_template_to_the_letter(language: str) -> None:
    text = load_prompt(f"layered-summary.{language}.md").text
    marks = [mark.line().rstrip() for mark in MARKS]
    places = [text.index(words) for words in (TITLE, *SECTIONS)]
    assert places == sorted(places)
    assert [mark for mark in marks if mark not in text] == []
    assert "*(Contains context from [Start Time] to [Cutoff Time])*" in text
    assert STRATEGY.lint(policy(prompt=text)) == ()
    without = text.replace("Learnings", "Lessons").replace("File System State", "Files")
    assert len(STRATEGY.lint(policy(prompt=without))) == 2


@rule("002-030", "002-031", "002-032")
def test_the_archive_has_title_dates_and_sections_in_the_templates_order() -> None:
    messages = [replace(message, time=1_700_000_000.0 + 60 * n) for n, message in enumerate(rounds(11))]
    shuffled = "\n".join(["I begin.", "## Key Insights & Decisions", "* **Decisions**: sqlite", SECTIONS[0], "* goal"])
    outcome, _ = run(context_of(messages), policy(), f"<summary>\n{TITLE}\n{shuffled}\n</summary>")
    assert outcome.messages[0].text == "\n\n".join(
        [
            f"{TITLE}\n*(Contains context from 2023-11-14 22:13 UTC to 2023-11-14 22:16 UTC)*",
            "I begin.",
            f"{SECTIONS[0]}\n* goal",
            f"{SECTIONS[1]}\n* **Stack**: (nothing recorded)\n* **Environment**: (nothing recorded)",
            f"{SECTIONS[2]}\n(nothing recorded)",
            f"{SECTIONS[3]}\n* **Decisions**: sqlite",
            f"{SECTIONS[4]}\n*(Modified files in this archive segment)*\n(nothing recorded)",
        ]
    )
    left_out = [line for line in outcome.trace if line.startswith("the answer omits")]
    assert [title for title in SECTIONS if title[4:] in "".join(left_out)] == [SECTIONS[1], SECTIONS[2], SECTIONS[4]]
    assert outcome.messages[0].time == messages[3].time


# --- A6 when it fires -------------------------------------------------------------------------------------------------


@rule("002-033")
@pytest.mark.parametrize(("chars", "fires"), [(2, False), (3, True), (5, True)])
def test_usage_and_a_third_of_the_input_reach_the_threshold(chars: int, fires: bool) -> None:
    (trigger,) = triggers(Gauge(messages=3, last_usage=159_999, input_chars=chars), policy())
    assert (trigger.value, trigger.limit, trigger.fires) == (159_999 + chars // 3, 160_000, fires)


@rule("002-066")
def test_e10_the_tokens_are_checked_when_a_new_user_input_arrives_and_only_then() -> None:
    over = [*rounds(11), user("now", "Go on.")]
    assert STRATEGY.read_triggers(context_of(over), policy(context_window=10))[0].fires
    (inside,) = STRATEGY.read_triggers(context_of(over[:-1]), policy(context_window=10))
    assert not inside.fires
    assert inside.value >= inside.limit
    assert inside.note.startswith("not checked inside a round: the last message is not user input")


@rule("002-034")
def test_usage_is_that_of_the_last_call_and_is_not_believed_after_a_compaction() -> None:
    billed = replace(agent("z", "done"), usage=Usage(input=5, cache_read=150_000, cache_write=9_000, output=994))
    error = replace(agent("e", "API error"), usage=Usage())
    context = anchored([*rounds(11), user("u", "go"), billed, error, user("new", "y" * 3)], 46)
    assert context.gauge().last_usage == 159_999
    assert STRATEGY.read_triggers(context, policy())[0].fires
    after = context.from_outcome(run(context, policy(min_tail_rounds=1))[0])
    assert any(message is billed for message in after.messages)
    assert after.gauge().last_usage is None


def anchored(messages: Sequence[Message], until: int) -> Context:
    tokens = array("q", map(METER.tokens, messages))
    return Context(Layout(Shape(tuple(messages)), Sizes(tokens, Basis.CALIBRATED, 0, Basis.CALIBRATED, until, METER)))


@rule("002-035")
@pytest.mark.parametrize(("messages", "fires"), [(2, False), (3, True)])
def test_from_three_messages_on(messages: int, fires: bool) -> None:
    (trigger,) = triggers(Gauge(messages=messages, last_usage=190_000, input_chars=30), policy())
    assert trigger.fires is fires


# --- A7 files a person mentions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        pytest.param("看@src/a.py", ("src/a.py",), id="002-036 after Chinese"),
        pytest.param("see @src/a.py.", ("src/a.py",), id="002-036 before a full stop"),
        pytest.param("(@a.ts), @.env and @b_c-d/e.test.tsx!", ("a.ts", ".env", "b_c-d/e.test.tsx"), id="002-036"),
        pytest.param("@ and @. and @...", (), id="002-036 nothing"),
        pytest.param("@/etc/passwd @/ @a.py", ("a.py",), id="002-037 absolute"),
        pytest.param("@../up.py @.. @a/../../up.py @./../up.py", (), id="002-037 upwards"),
        pytest.param("@./a.py @a/../b.py @..a @a..", ("./a.py", "a/../b.py", "..a", "a"), id="002-037 within"),
        pytest.param("a@b.py", (), id="002-038 letter"),
        pytest.param("1@b.py", (), id="002-038 digit"),
        pytest.param("é@a.py", ("a.py",), id="002-038 another letter"),
        pytest.param("@src/a.py @b @src/a.py", ("src/a.py", "b"), id="002-041 once each"),
        pytest.param('@中文.py and @"a b.py"', (), id="002-062"),
    ],
)
def test_the_files_that_a_text_mentions(text: str, paths: tuple[str, ...]) -> None:
    assert mentioned(text) == paths


@rule("002-039", "002-042")
def test_the_reminder_has_the_documents_words_and_stands_in_the_users_message() -> None:
    assert with_reminder("fix @src/utils/auth.ts", "fix @src/utils/auth.ts") == (
        "fix @src/utils/auth.ts\n\n<system-reminder>\nThe user mentioned @src/utils/auth.ts.\n"
        "You MUST read this file with the Read tool before answering.\n</system-reminder>"
    )
    assert with_reminder("nothing here", "nothing here") == "nothing here"


@rule("002-040", "002-041")
@pytest.mark.parametrize(("count", "more"), [(4, []), (5, []), (6, ["(and 1 more…)"]), (7, ["(and 2 more…)"])])
def test_of_several_files_at_most_five_are_named_in_one_reminder(count: int, more: list[str]) -> None:
    said = " ".join(f"@f{n}.py" for n in range(count))
    assert with_reminder(said, said).split("\n")[2:] == [
        "<system-reminder>",
        *(f"The user mentioned @f{n}.py." for n in range(min(count, 5))),
        *more,
        "You MUST read these files, one after another, with the Read tool before answering.",
        "</system-reminder>",
    ]


@rule("002-043", "002-045")
def test_a_command_lists_every_note_of_any_session(tmp_path: Path) -> None:
    path = a_session(tmp_path)
    told = document("inspect", path, "--notes")["notes"]
    mention = {"kind": "mention", "files": ["src/a.py"], "text": reminder(["src/a.py"])}
    assert told == [
        {"number": 1, "message": "u0", **mention},
        {"number": 5, "message": "u1", **mention},
        {"number": 7, "message": "r1", "kind": "changed", "files": ["src/a.py"],
         "text": "Note: src/a.py was modified externally."},
    ]  # fmt: skip
    rows = cwb("inspect", path, "--notes").stdout.splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [["1", "mention"], ["5", "mention"], ["7", "changed"]]
    assert all("The user mentioned @src/a.py." in row for row in rows[1:3])
    history = document("inspect", path, "--layers")["prompt"][2]["text"]
    assert '"note":"Note: src/a.py was modified externally."' in history


@rule("002-043", "002-045")
@pytest.mark.parametrize("preset", ["layered", "trim"])
def test_the_screen_tells_of_them_beside_the_message(preset: str) -> None:
    before, after = "     1→x = 1", "     1→x = 2"
    messages = [user("u", "fix @src/a.py"), *read(1, before), *read(2, after)]
    bench = open_bench(session_of(messages), Counter(), preset=preset)
    said = ["\n".join(p.text for p in message_parts(TabInput(bench, Groups(bench.layout), index))) for index in (0, 4)]
    assert "mentions @src/a.py" in said[0]
    assert ("You MUST read this file" in said[0]) is (preset == "layered")
    assert "Note: src/a.py was modified externally." in said[1]


# --- A8 files that changed --------------------------------------------------------------------------------------------


def read(number: int, text: str) -> list[Message]:
    made = agent(f"a{number}", "", call(f"c{number}", "Read", file_path="src/a.py"))
    return [made, result(f"r{number}", (f"c{number}", text))]


def stamped(mtime: int) -> str:
    return json.dumps({"status": "success", "data": {"content": "     1→x = 1", "mtime": mtime}})


@rule("002-044")
@pytest.mark.parametrize(("mtimes", "noted"), [((10, 10), []), ((10, 11), ["r1"]), ((10, 11, 11, 12), ["r1", "r3"])])
def test_a_file_read_again_with_another_mtime_is_noted(mtimes: tuple[int, ...], noted: list[str]) -> None:
    messages = [user("u", "go"), *(part for n, mtime in enumerate(mtimes) for part in read(n, stamped(mtime)))]
    notes = notes_of(Shape(messages))
    assert [messages[note.index].id for note in notes] == noted
    assert {note.text for note in notes} == ({"Note: src/a.py was modified externally."} if noted else set())


@rule("002-052")
def test_what_is_noted_is_nowhere_written() -> None:
    context = context_of([user("u", "go"), *read(0, stamped(10)), *read(1, stamped(11)), agent("z", "ok"), *rounds(12)])
    outcome, (request,) = run(context, policy())
    assert "modified externally" not in request.text
    assert not any("modified externally" in message.text for message in outcome.messages)


# --- C details --------------------------------------------------------------------------------------------------------


@rule("002-050")
def test_the_summary_is_asked_of_any_model_in_a_conversation_of_its_own() -> None:
    assert parse_name("anthropic:claude-opus-4-5").model == "claude-opus-4-5"
    _, (request,) = run(context_of(rounds(11)), policy())
    assert request.text == (
        f"{policy().asks()}\n\n<conversation>\n<user>\nrequest 1.\n</user>\n"
        '<agent>\n<tool_call name="Bash">{"command":"make"}</tool_call>\n</agent>\n'
        f"<tool_results>\n<tool_result>\n{'x' * 40}\n</tool_result>\n</tool_results>\n"
        "<agent>\ndone\n</agent>\n</conversation>\n"
    )
    assert (request.form, request.sections, request.marks) == ("sections", SECTIONS, MARKS)


@rule("002-065")
def test_e10_unless_a_model_is_named_none_is_asked() -> None:
    file = SAMPLES / "claude-code-overflow.jsonl"
    compact = ("compact", file, "--strategy", "layered", "--set", "min_tail_rounds=1")
    offline = document(*compact)
    assert (offline["summarizer"], offline["usage"], offline["billed"]) == ("extractive", None, None)
    (archive,) = (m for m in document(*compact, "--full")["result_list"] if m["kind"] == "summary")
    assert archive["blocks"][0]["text"].startswith(TITLE)
    refused = cwb(*compact, "--model", "claude-opus-4-5")
    assert refused.exit_code == 2, "a model that is named is asked, and there is no key here"
    assert "There is no key for the Anthropic API" in refused.stderr


@rule("002-051")
def test_one_sees_what_a_run_does_before_and_while_it_waits() -> None:
    context = context_of(rounds(11, NOISE))
    generator = STRATEGY.run(context, policy())
    step, asked = next(generator), next(generator)
    assert isinstance(step, ProgressStep)
    assert isinstance(asked, tuple)
    watch = RunProgress()
    lines = planned_lines([StepFinished(step), RequestsStarted(asked, 0)])
    assert [watch.words(line) for line in lines] == [
        ("○ compress tool results", f"planned · {step.detail}"),
        ("○ archived session summary", "planned"),
    ]


@rule("002-053")
def test_the_number_of_kept_rounds_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "three.toml"
    path.write_text('strategy = "layered"\n\n[policy]\nmin_tail_rounds = 3\n')
    chosen = read_preset(path).policy
    assert isinstance(chosen, LayeredPolicy)
    outcome, _ = run(context_of(rounds(5)), chosen)
    assert outcome.split == 8


@rule("002-053")
@pytest.mark.parametrize("name", ["MIN_TAIL_ROUNDS", "MIN_ROUNDS"])
def test_the_number_of_kept_rounds_is_set_by_a_variable(name: str) -> None:
    with use_environment({f"CWB_LAYERED_{name}": "3"}):
        chosen = default_preset("layered").policy
    assert isinstance(chosen, LayeredPolicy)
    assert run(context_of(rounds(5)), chosen)[0].split == 8


@rule("002-054")
def test_a_context_that_is_still_over_the_threshold_is_told() -> None:
    context = context_of([*rounds(11), user("new", "y" * 300)])
    fits, over = policy(context_window=1_000), policy(context_window=200)
    verdicts = []
    for chosen in (fits, over):
        outcome, _ = run(context, chosen)
        (seen,) = (one for one in check(context, outcome, STRATEGY, chosen) if one.name == "under the threshold")
        verdicts.append(seen.passed)
    assert verdicts == [True, False]


# --- E decisions ------------------------------------------------------------------------------------------------------


@rule("002-059", "002-060")
def test_after_120_seconds_the_newest_rounds_stay_alone_and_the_documents_sentence_says_so() -> None:
    context = context_of(rounds(11))
    outcome, (request,) = run(context, policy(), SummaryFailed("timeout", "too late"))
    assert request.timeout_s == 120
    assert run(context, policy(timeout_s=30.0))[1][0].timeout_s == 30
    assert (outcome.status, outcome.reason) == (
        "fallback", "Summary generation timed out, keeping recent history only.",
    )  # fmt: skip
    assert outcome.messages == tuple(context.messages[4:])
    assert run(context, policy(), SummaryFailed("error", "no connection"))[0].status == "unchanged"


@rule("002-063")
def test_the_window_is_200_000_or_what_is_set_or_the_sessions_own() -> None:
    now = Gauge(messages=9, last_usage=100_000, input_chars=30, limit=Window(100_000, "given"))
    windows = [{}, {"context_window": 0}, {"context_window": 1_000_000, "trigger_window_percent": 50}]
    assert [triggers(now, policy(**window))[0].limit for window in windows] == [160_000, 80_000, 500_000]
    assert triggers(now._replace(limit=None), policy(context_window=0))[0].limit == 160_000
    told = [triggers(now, policy(**window))[0].note for window in windows[:2]]
    told.append(triggers(now._replace(limit=None), policy(context_window=0))[0].note)
    assert [note.replace("\N{NARROW NO-BREAK SPACE}", " ") for note in told] == [
        "window 200 000 tokens, from the settings",
        "window 100 000 tokens, set for this session",
        "window 200 000 tokens, assumed",
    ]
