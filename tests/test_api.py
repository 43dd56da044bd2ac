"""The library's names: the examples of docs/api.md, both styles of messages, and what is refused."""

from __future__ import annotations

import asyncio
import copy
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anthropic
import pytest

import workbench
from tests.auditing.written import quay
from tests.paths import SAMPLES

REPO = Path(__file__).parents[1]
Dicts = list[dict[str, Any]]


def test_the_examples_of_the_manual_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_sessions").symlink_to(REPO / "sample_sessions")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"^```python\n(.*?)^```", (REPO / "docs" / "api.md").read_text("utf-8"), re.M | re.S)
    assert len(examples) >= 7
    names: dict[str, Any] = {}
    for number, example in enumerate(examples, 1):
        exec(compile(example, f"docs/api.md, example {number}", "exec"), names)


def test_the_example_of_the_readme_runs() -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", (REPO / "README.md").read_text("utf-8"), re.M | re.S)
    short, long = openai_turn(1), [{"role": "user", "content": "word " * 180_000}, *openai_turn(2)]
    for given, stays in ((short, True), (long, False)):
        names: dict[str, Any] = {"messages": given}
        exec(compile(example, "README.md", "exec"), names)
        assert (names["messages"] is given) == stays
        assert names["messages"][-1] is given[-1]


def test_the_manual_lists_every_name() -> None:
    table = (REPO / "docs" / "api.md").read_text("utf-8").partition("## In an agent")[0]
    for name in workbench.__all__:
        assert f"`{name}" in table, name
        assert getattr(workbench, name).__doc__
    assert {*workbench.__all__, "__version__"} <= {*dir(workbench)}, "who looks at the package sees them"


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import sys, workbench; print([name for name in sys.modules if name.startswith('workbench.')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPO, check=True)
    assert run.stdout.strip() == "[]"


def test_a_stranger_audits_a_folder(tmp_path: Path) -> None:
    """In a program of its own, which imports nothing else and leaves nothing behind."""
    quay().put(tmp_path / "logs" / "quay.jsonl")
    (tmp_path / "logs" / "torn.jsonl").write_bytes(b'{"type": "user", "mess')
    script = tmp_path / "script.py"
    script.write_text(
        "import workbench\n"
        "audit = workbench.audit('logs')\n"
        "(session,), (torn,) = audit.sessions, audit.unreadable\n"
        "(made,), (group,) = session.own, audit.groups('tool', 'model')\n"
        "print(group.key, made.before, made.after, made.lost, group.lost, bool(torn.error), len(audit.rows))\n"
        "audit.save('all.json')\n"
        "for name in ('nowhere', 'all.json'):\n"
        "    try:\n"
        "        workbench.audit(name) if name == 'nowhere' else audit.save(name)\n"
        "    except workbench.BadInput as refused:\n"
        "        print(refused)\n",
        "utf-8",
    )
    own = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(REPO)}
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, env=own, check=True
    )
    told, *refused = run.stdout.splitlines()
    assert told == "('Claude Code', 'claude-sonnet-4-5') 1300 600 1 1 True 2"
    assert [one.split()[0] for one in refused] == ["nowhere", "all.json"]
    assert not list(tmp_path.rglob("*.sqlite*"))


def openai_turn(number: int) -> Dicts:
    function = {"name": "bash", "arguments": f'{{"command": "pytest tests/test_{number}.py"}}'}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "user", "content": f"Never touch file{number}.py again."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": "y " * 4_000 + "\n3 passed"},
        {"role": "assistant", "content": f"Done {number}.", "x_own_key": {"kept": True}},
    ]


def anthropic_turn(number: int) -> Dicts:
    command = {"command": f"pytest tests/test_{number}.py"}
    return [
        {"role": "user", "content": f"Never touch file{number}.py again."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": command}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": "y " * 4_000 + "\n3 passed"}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": f"Done {number}."}]},
    ]


@pytest.mark.parametrize("turn", [openai_turn, anthropic_turn])
@pytest.mark.parametrize("budget", [{"budget_tokens": 1_800}, {"budget_chars": 7_000}])
def test_ten_generations_in_plain_dicts_lose_no_rule_and_no_command(turn: Any, budget: dict[str, int]) -> None:
    messages: Dicts = []
    for number in range(10):
        messages = [*messages, *turn(number)]
        given = copy.deepcopy(messages)
        done = workbench.compact(messages, **budget)
        assert messages == given, "what was given is left alone"
        assert done.report.status == "compacted"
        assert not done.report.failed
        assert done.messages[-1] == messages[-1], "kept to the last key"
        size = done.context.measure(done.outcome.messages)
        assert (size.tokens if "budget_tokens" in budget else size.chars) <= next(iter(budget.values()))
        there = str(done.messages)
        for before in range(number + 1):
            assert f"Never touch file{before}.py again." in there
            assert f"pytest tests/test_{before}.py" in there
        assert done.report.left_out == ()
        messages = done.messages
    sources = {entry.text: entry.source for entry in done.report.entries if entry.kind == "instruction"}
    assert sources["Never touch file0.py again."] == 1
    assert sources["Never touch file8.py again."] == 33


def test_what_an_sdk_answered_is_a_message_as_it_is() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls", "cwd": None}}
    answer = {"type": "text", "text": "I look.", "citations": None}
    answered = [anthropic.types.TextBlock.model_validate(answer), anthropic.types.ToolUseBlock.model_validate(call)]
    asked, result = anthropic_turn(1)[0], {"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}
    messages = [asked, {"role": "assistant", "content": answered}, {"role": "user", "content": [result]}]
    done = workbench.compact(messages, budget_tokens=5_000)
    assert [id(one) for one in done.messages] == [id(one) for one in messages]
    assert done.session.messages[1].calls[0].input == {"command": "ls", "cwd": None}

    whole = [asked, Answered("chat"), asked]
    done_whole = workbench.compact(whole, budget_tokens=5_000)
    assert [id(one) for one in done_whole.messages] == [id(one) for one in whole]
    assert done_whole.session.messages[1].text == "Answered chat."


class Answered:
    """An answer as OpenAI's and LangChain's objects are: models that can be dumped."""

    def __init__(self, name: str) -> None:
        self.name = name

    def model_dump(self, *, mode: str, exclude_none: bool) -> dict[str, Any]:
        assert (mode, exclude_none) == ("json", True)
        return {"role": "assistant", "content": f"Answered {self.name}."}


@pytest.mark.parametrize(
    ("key", "apart"),
    [
        ("messages", {"model": "claude-sonnet-4-5", "system": "You mend code.", "max_tokens": 100}),
        ("messages", {"model": "gpt-5", "tools": [{"type": "function", "function": {"name": "bash"}}]}),
        ("input", {"model": "gpt-5", "instructions": "You mend code."}),
    ],
)
def test_a_whole_body_gives_the_messages_for_the_next(key: str, apart: dict[str, Any]) -> None:
    turns = [
        {"role": "user", "content": "Never touch file1.py again."},
        {"role": "assistant", "content": "y " * 4_000},
        {"role": "user", "content": "Go on."},
    ]
    done = workbench.compact({**apart, key: turns}, budget_tokens=400)
    assert (done.report.status, done.report.failed) == ("compacted", ())
    assert done.session.model == apart["model"]
    assert len(done.messages) == 3
    assert "Never touch file1.py again." in str(done.messages[0])
    assert len(str(done.messages[1])) < 2_000, "the agent's newest words, shortened"
    assert done.messages[-1] == turns[-1], "kept to the last key"


def test_messages_of_a_style_that_is_only_read_come_back_in_anthropics() -> None:
    converse = [{"role": "user", "content": [{"text": "Never touch file1.py again."}]}]
    assert workbench.compact(converse, budget_tokens=400).messages == [
        {"role": "user", "content": [{"type": "text", "text": "Never touch file1.py again."}]}
    ]


def test_what_would_not_be_smaller_is_left_as_it_is(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Never touch file1.py again."}, {"role": "assistant", "content": "No."}]
    done = workbench.compact(messages, budget_tokens=1)
    assert done.report.status == "not_smaller"
    assert done.messages == messages
    assert [one.text for one in workbench.load(workbench.save(done, tmp_path / "x.json")).messages] == [
        "Never touch file1.py again.",
        "No.",
    ]


def test_the_same_call_gives_the_same_result() -> None:
    messages = [one for number in range(4) for one in openai_turn(number)]
    first, second = (workbench.compact(messages, budget_tokens=900) for _ in range(2))
    assert first.messages == second.messages
    assert first.report == second.report


def test_a_summarizer_that_raises_is_a_failed_summary() -> None:
    def broken(prompt: str) -> str:
        raise OSError("the model is away")

    done = workbench.compact([*openai_turn(1), *openai_turn(2)], budget_tokens=1_500, summarize=broken)
    assert done.report.status == "fallback"
    assert "the model is away" in done.report.reason


def test_one_name_is_as_good_as_a_list_of_one() -> None:
    session = workbench.load(REPO / "sample_sessions" / "claude-code-overflow.jsonl")
    for ask in (workbench.compare, workbench.replay):
        assert [one.name for one in ask(session, "trim", "codex")] == ["codex", "trim"]
        assert [one.name for one in ask(session, ["trim"], ("codex",))] == ["codex", "trim"]
    messages = openai_turn(1)
    assert workbench.context(messages, pins="m2").pins == workbench.context(messages, pins=["m2"]).pins == {"m2"}
    assert workbench.compact(messages, pins="m2").context.pins == {"m2"}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: workbench.compact(openai_turn(1), budget_tokens=-1), "ledger: budget_tokens = -1"),
        (lambda: workbench.compact(openai_turn(1), strategy="no-such"), "no-such"),
        (lambda: workbench.compact(openai_turn(1), preset="no-such"), "no-such"),
        (lambda: workbench.compact(openai_turn(1), no_field=1), "setting 'no_field' does not exist"),
        (lambda: workbench.compact(openai_turn(1), pins=["m9"]), "no message 'm9'"),
        (lambda: workbench.compact(openai_turn(1), pins="m9"), "no message 'm9'"),
        (lambda: workbench.replay(openai_turn(1), "no-such"), "no-such"),
        (lambda: workbench.compare(openai_turn(1), presets="no-such"), "no-such"),
        (lambda: workbench.compact([{"role": "user", "content": object()}]), "no plain JSON values"),
        (lambda: workbench.compact([]), "messages"),
        (lambda: workbench.compact({"model": "gpt-5"}), "messages"),
        (lambda: workbench.context(openai_turn(1), epoch=2), "epoch 2 does not exist"),
        (lambda: workbench.load("no-such.jsonl"), "does not exist"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(call: Any, says: str) -> None:
    with pytest.raises(workbench.BadInput, match=re.escape(says)) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_saving_never_writes_over_a_file_nor_a_torn_result(tmp_path: Path) -> None:
    session = workbench.load(REPO / "sample_sessions" / "claude-code-overflow.jsonl")
    done = workbench.compact(session)
    path = workbench.save(done, tmp_path)
    assert path.parent == tmp_path
    before = path.read_bytes()
    with pytest.raises(workbench.BadInput, match="exists; choose another name or allow replacing it"):
        workbench.save(done, path)
    assert path.read_bytes() == before


# --- in a loop ------------------------------------------------------------------------------------------------------


def long_talk() -> Dicts:
    return [message for number in range(3) for message in openai_turn(number)]


async def told(prompt: str) -> str:
    await asyncio.sleep(0)
    return "<summary>Told at leisure.</summary>"


@pytest.mark.parametrize(
    ("gives", "why"),
    [
        (lambda prompt: None, "(empty): summarize returned None instead of a text"),
        (lambda prompt: 5, "(error): summarize returned int instead of a text"),
        (lambda prompt: "half \ud83d", "(error): the text has a lone surrogate"),
        (lambda prompt: " ", "(empty): the answer has no text"),
        (lambda prompt: 1 / 0, "division by zero"),
        (lambda prompt: [][0], "list index out of range"),
    ],
)
def test_a_summarizer_that_gives_no_text_is_a_failed_summary(gives: Any, why: str) -> None:
    for done in (
        workbench.compact(long_talk(), "context-reset", summarize=gives),
        asyncio.run(workbench.acompact(long_talk(), "context-reset", summarize=gives)),
    ):
        assert done.report.status == "unchanged"
        assert why in done.report.reason


def test_an_async_summarizer_is_awaited_and_refused_where_nothing_awaits() -> None:
    at_once = workbench.compact(long_talk(), "context-reset", summarize=told)  # type: ignore[arg-type]
    assert at_once.report.reason.endswith("summarize returned a coroutine; await acompact, or pass a plain function")
    done = asyncio.run(workbench.acompact(long_talk(), "context-reset", summarize=told))
    assert done.summary.endswith("Told at leisure.")
    plain = asyncio.run(workbench.acompact(long_talk(), "context-reset", summarize=lambda prompt: "Told at leisure."))
    assert plain.messages == done.messages


def test_awaited_and_not_awaited_come_to_the_same() -> None:
    for fields in ({"budget_tokens": 1_800}, {"strategy": "trim"}, {"preset": "codex"}):
        done = asyncio.run(workbench.acompact(long_talk(), **fields))
        assert done.messages == workbench.compact(long_talk(), **fields).messages


def test_should_compact_from_the_threshold_on() -> None:
    """At 90 % of the window: the largest in which that fires is the context's tokens by 0.9."""
    total = workbench.context(long_talk()).total.tokens
    last = int(total / 0.9)
    found = [workbench.should_compact(long_talk(), trigger_window_percent=90, window=last + n) for n in (-1, 0, 1)]
    assert [bool(one) for one in found] == [True, True, False], [one.why for one in found]
    assert [len(one.fired) for one in found] == [1, 1, 0]
    assert {one.size.tokens for one in found} == {total}


def test_without_a_window_no_share_of_it_is_reached_and_a_model_tells_it() -> None:
    assert not workbench.should_compact(long_talk())
    assert "window" in workbench.should_compact(long_talk()).why
    assert workbench.should_compact(long_talk(), model="claude-sonnet-4-5").triggers[0].limit == 160_000


@pytest.mark.parametrize("turn", [openai_turn, anthropic_turn])
def test_what_is_sent_beside_the_messages_counts(turn: Any) -> None:
    tools = [{"name": "bash", "description": "Run a command. " * 100, "input_schema": {"type": "object"}}]
    blocks = [{"type": "text", "text": "You mend code. " * 100}]
    bare = workbench.context(turn(1)).total.tokens
    with_system = workbench.context(turn(1), system=blocks).total.tokens
    assert with_system > bare + 300
    assert workbench.context(turn(1), system=blocks[0]["text"]).total.tokens == with_system
    assert workbench.context(turn(1), system=blocks, tools=tools).total.tokens > with_system + 300
    assert workbench.should_compact(turn(1), window=with_system + 100, tools=tools, system=blocks)


def test_pins_by_a_predicate_and_by_their_new_places_last_through_compactions() -> None:
    messages: Dicts = [{"role": "user", "content": "The port is 8443."}, *long_talk()]
    port = messages[0]
    done = workbench.compact(messages, budget_tokens=900, pins=lambda message: "8443" in str(message.get("content")))
    by_id = workbench.compact(messages, budget_tokens=900, pins=["m1"])
    for number in range(5, 8):
        assert any(one is port for one in done.messages)
        assert done.pins == by_id.pins
        assert by_id.pins <= {f"m{place}" for place, one in enumerate(by_id.messages, 1) if one is port}
        more = openai_turn(number)
        done = workbench.compact([*done.messages, *more], budget_tokens=900, pins=lambda one: one is port)
        by_id = workbench.compact([*by_id.messages, *more], budget_tokens=900, pins=by_id.pins)
        assert done.messages == by_id.messages


@pytest.mark.parametrize("fields", [{"preset": name} for name in ("codex", "goose", "crush", "roo", "context-reset")])
def test_what_is_unread_stays_whatever_a_product_does_with_it(fields: dict[str, Any]) -> None:
    messages = [{"role": "system", "content": "You mend code."}, *long_talk(), *openai_turn(7)[:3]]
    done = workbench.compact(messages, window=8_000, **fields)
    assert done.report.status == "compacted"
    assert done.messages[0] is messages[0]
    assert [one is two for one, two in zip(done.messages[-2:], messages[-2:], strict=True)] == [True, True]
    as_told = workbench.compact(messages, window=8_000, unread="summarize", **fields)
    assert messages[-1] not in as_told.messages


def test_of_a_recorded_session_a_preset_does_what_its_product_does() -> None:
    session = workbench.load(REPO / "sample_sessions" / "claude-code-overflow.jsonl")
    unread = workbench.context(session).messages[-1]
    assert unread not in workbench.compact(session, preset="context-reset").outcome.messages
    assert unread in workbench.compact(session, preset="context-reset", unread="keep").outcome.messages


@pytest.mark.parametrize(
    ("source", "fields", "said"),
    [
        (None, {}, "NoneType"),
        (3, {}, "int"),
        (long_talk(), {"pins": 3}, "pins"),
        (long_talk(), {"tools": 3}, "tools"),
        (long_talk(), {"system": 3}, "system"),
        (long_talk(), {"model": 3}, "model"),
        (long_talk(), {"window": "8k"}, "window"),
        (long_talk(), {"window": 0}, "window"),
        (long_talk(), {"window": -1}, "window"),
    ],
)
def test_what_is_of_another_type_is_refused_in_a_sentence(source: Any, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(workbench.BadInput, match=said):
        workbench.compact(source, budget_tokens=500, **fields)
    assert workbench.compact(long_talk(), budget_tokens=500, window=1).report.before.tokens


def test_a_pin_of_a_recorded_session_is_asked_of_its_messages() -> None:
    session = workbench.load(REPO / "sample_sessions" / "claude-code-overflow.jsonl")
    found = workbench.context(session, pins=lambda message: message.id == session.messages[3].id)
    assert found.pins == {session.messages[3].id}


def test_a_summary_alone_tells_of_every_message() -> None:
    text = workbench.summary(long_talk(), 600)
    assert text.startswith("<ledger upto=")
    for number in range(3):
        assert f"Never touch file{number}.py again." in text
    less = workbench.summary(long_talk(), 120)
    assert "Left out: 4 entries" in less
    assert len(less) < len(text)
    ledger = workbench.compact([{"role": "user", "content": text}, *openai_turn(7)], budget_tokens=500).report.entries
    assert {one.text for one in ledger if one.kind == "instruction"} >= {"Never touch file0.py again."}


def test_half_of_a_character_in_a_message_does_no_harm() -> None:
    messages = [*long_talk(), {"role": "user", "content": "half \ud83d"}, {"role": "assistant", "content": "ok \ud83d"}]
    done = workbench.compact(messages, budget_tokens=1_000)
    assert done.messages[-1] is messages[-1]


def test_what_was_kept_is_the_same_object_and_what_is_shortened_is_not() -> None:
    messages = [*openai_turn(1), *openai_turn(2)[:3]]
    done = workbench.compact(messages, budget_tokens=700)
    assert [one is two for one, two in zip(done.messages[-3:], messages[-3:], strict=True)] == [True, True, False]
    assert done.messages[-1]["tool_call_id"] == "c2"
    assert done.messages[-1]["content"].endswith("3 passed")
    assert messages[-1]["content"].count("y") == 4_000


def test_probes_ask_what_is_still_known() -> None:
    session = workbench.load(SAMPLES / "claude-code-overflow.jsonl")
    done = workbench.compact(session, preset="claude-code")
    found = workbench.probe(done, most=10)
    whole, left, nothing = (found.share(arm) for arm in range(3))
    assert whole is not None
    assert left is not None
    assert nothing is not None
    assert (whole.right, nothing.right, whole.of) == (10, 0, 10)
    assert 0 < left.right <= 10
    assert found.by == "text search, no model"


def test_probes_of_ones_own_are_put_to_a_function(tmp_path: Path) -> None:
    done = workbench.compact([*openai_turn(1), *openai_turn(2)], budget_tokens=700)
    prompts: list[str] = []

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return "1: tests/test_2.py" if "file2.py" in prompt.partition("\n1: ")[0] else "1: not known"

    mine = [workbench.Probe("artifact", "Which tests ran last?", "tests/test_2.py")]
    found = workbench.probe(done, mine, ask=ask)
    assert [row[0].mark for row in found.answers] == ["exact", "exact", "not known"]
    assert len(prompts) == 3
    with pytest.raises(workbench.BadInput, match="cannot be read"):
        workbench.probe(done, tmp_path / "none.probes.toml")


def test_a_sentence_is_watched_through_a_compaction() -> None:
    done = workbench.compact(workbench.load(SAMPLES / "claude-code-overflow.jsonl"), preset="context-reset")
    rule, answer, never = workbench.watch(
        done, "  Never log the\nrefresh token.", "Agreed, but make it 5 seconds, not 10.", "The moon is made of stone."
    )
    assert (rule.sentence, rule.now, rule.after) == ("Never log the refresh token.", "verbatim", "verbatim")
    assert (answer.now, answer.after) == ("verbatim", "gone")
    assert (never.now, never.after) == ("gone", "gone")
    assert workbench.watch(done) == ()
    with pytest.raises(workbench.BadInput, match="no word"):
        workbench.watch(done, "…")


def test_rework_names_both_places() -> None:
    first, second = workbench.rework(workbench.load(SAMPLES / "augment-with-summary.json"))
    assert [(item.kind, item.what) for item in first.items] == [
        ("file", "tidewatch/harmonics.py"),
        ("file", "tidewatch/feed.py"),
        ("file", "tidewatch/forecast.py"),
    ]
    assert (str(first), str(second)) == ("3 file reads repeated", "no rework")
    assert workbench.rework(openai_turn(1)) == ()


def test_a_renamed_name_still_works_and_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=r"workbench\.Column is now workbench\.Assessment"):
        assert workbench.Column is workbench.Assessment
