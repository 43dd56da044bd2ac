"""The offline summary: what it says, that it fits, and that every line can be traced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.facts.talk import agent, call, edited, ran, result, user
from workbench.compaction.strategy import Form, Summary, SummaryFailed, SummaryRequest
from workbench.formats.files import load
from workbench.session import Message
from workbench.summarizers.digest import digest
from workbench.summarizers.extractive import extractive, topics_of_titles
from workbench.summarizers.labels import EN, ZH

SECTIONS = (
    "🎯 Objectives & Status",
    "🏗️ Technical Context (Static)",
    '✅ Completed Milestones (The "Done" Pile)',
    "🧠 Key Insights & Decisions (Persistent Memory)",
    "📂 File System State (Snapshot)",
)


def asked(messages: list[Message] | tuple[Message, ...], **settings: Any) -> SummaryRequest:
    return SummaryRequest("summary", messages, "", lambda: "", **settings)


def summary(request: SummaryRequest) -> Summary:
    answer = extractive(request)
    assert isinstance(answer, Summary)
    return answer


@pytest.fixture
def story() -> tuple[Message, ...]:
    todo = call("TodoWrite", {"todos": [
        {"content": "write parser", "status": "completed"}, {"content": "write docs", "status": "in_progress"},
    ]})  # fmt: skip
    return (
        user("Write a parser for the config. Never use eval."),
        agent("I'll use tomllib instead of a parser of my own because it is in the standard library.", todo),
        result(todo, "ok"),
        *edited("/home/me/project/src/parser.py"),
        *ran("pytest -q", "Exit code 1\nKeyError: 'port'\n1 failed", is_error=True),
        *edited("/home/me/project/src/parser.py"),
        *ran("pytest -q", "42 passed in 0.3s"),
        *ran('git commit -m "feat: parse config"', "1 file changed"),
        agent("The parser works: 42 tests pass."),
        user("Good. From now on always run ruff. Now write the docs."),
        *edited("/home/me/project/docs/config.md"),
        *edited("/home/me/project/docs/index.md"),
    )


def test_it_says_what_happened(story: tuple[Message, ...]) -> None:
    text = summary(asked(story)).text
    for expected in (
        "## Goal\n- Write a parser for the config. Never use eval.",
        "- Never use eval.",
        "- From now on always run ruff.",
        "- I'll use tomllib instead of a parser of my own because it is in the standard library.",
        "- I answered: The parser works: 42 tests pass.",
        "- Committed: feat: parse config",
        "- Relative paths below are under `/home/me/project`.\n- `src/parser.py`: modified ×2",
        "- `pytest -q` → 2 times, last: ok: 42 passed in 0.3s",
        "- KeyError: 'port' (`pytest -q`) → fixed: succeeded after src/parser.py was modified",
        "- [~] write docs (in progress)",
        "- The user's last request has no answer yet: “Good. From now on always run ruff. Now write the docs.”",
    ):
        assert expected in text


def test_every_line_is_traced(story: tuple[Message, ...]) -> None:
    made = summary(asked(story))
    lines = made.text.split("\n")
    ids = {message.id for message in story}
    assert len(made.origins) == len(lines)
    for line, origins in zip(lines, made.origins, strict=True):
        assert set(origins) <= ids
        assert bool(origins) == (bool(line) and not line.startswith("## ")), line
    commit = next(n for n, line in enumerate(lines) if line.startswith("- Committed"))
    (origin,) = made.origins[commit]
    assert any(message.id == origin and "git commit" in str(message.calls) for message in story)


def test_the_same_messages_give_the_same_summary(story: tuple[Message, ...]) -> None:
    assert extractive(asked(story, max_chars=900)) == extractive(asked(story, max_chars=900))


@settings(deadline=None, max_examples=30)
@given(
    st.integers(200, 3000),
    st.sampled_from(["prose", "lines", "sections"]),
    st.sampled_from(["en", "zh"]),
    st.text(max_size=400),
)
def test_the_budget_holds(budget: int, form: Form, language: str, words: str) -> None:
    messages = [
        user(words),
        *ran("x" * 300, words, is_error=True),
        agent(words * 3),
        user(f"Never {words}"),
        agent("ok"),
    ]
    answer = extractive(
        asked(messages, form=form, max_chars=budget, language=language, sections=SECTIONS, previous=words)
    )
    assert isinstance(answer, Summary)
    assert len(answer.text) <= budget
    assert len(answer.origins) == len(answer.text.split("\n"))
    assert {id for line in answer.origins for id in line} <= {message.id for message in messages}


@pytest.mark.parametrize("budget", [200, 500, 1500, 5000, 20_000])
@pytest.mark.parametrize("name", ["spotter-fa812bfe", "entire-cd95add-3compactions"])
def test_real_epochs_fit_and_trace(shared: Path, name: str, budget: int) -> None:
    session = load(shared / f"sessions/claude-code/{name}.jsonl")
    for epoch in session.epochs:
        messages = session.context(epoch.number)
        made = summary(asked(messages, max_chars=budget))
        assert budget // 3 < len(made.text) <= budget or budget > 5000
        assert len(made.origins) == len(made.text.split("\n"))
        assert {id for line in made.origins for id in line} <= {message.id for message in messages}


def test_what_spotter_did_is_there(shared: Path) -> None:
    session = load(shared / "sessions/claude-code/spotter-fa812bfe.jsonl")
    text = summary(asked(session.context(1), max_chars=8000)).text
    assert "## Goal\n- Work on bead spotter-a0y." in text
    assert "- Committed: feat: add transcript tail adapter and live tail workers (spotter-a0y.3)" in text
    assert "`mix test` → 3 times, last: ok: 14 doctests, 386 tests, 0 failures" in text
    assert "`lib/spotter_web/live/session_live.ex`: modified ×7" in text
    assert "fatal: The current branch spotter-a0y has no upstream branch." in text
    assert "“continue until all are done”" in text


def test_the_users_words_stay_longest() -> None:
    chatter = [
        m for n in range(60) for m in (*ran(f"make step{n}", f"step {n} done"), agent(f"Step {n} is done, {'x' * 80}"))
    ]
    messages = [user("Build it."), *chatter, user("Never deploy on Friday."), agent("Understood.")]
    text = summary(asked(messages, max_chars=600)).text
    assert "- Build it." in text
    assert "Never deploy on Friday." in text
    assert "more" in text


def test_sections_are_exactly_those_asked_for(story: tuple[Message, ...]) -> None:
    made = summary(asked(story, form="sections", sections=(*SECTIONS, "Weather"), max_chars=3000))
    headings = [line.removeprefix("## ") for line in made.text.split("\n") if line.startswith("#")]
    assert headings == [*SECTIONS, "Weather"]
    assert made.text.endswith("## Weather\n(nothing recorded)")
    done, files = made.text.index("Milestones"), made.text.index("File System State")
    assert done < made.text.index("- Committed: feat: parse config") < files < made.text.index("src/parser.py`")
    assert "Programs I ran: pytest ×2, git ×1" in made.text


def test_the_fixed_template_leaves_the_current_task_out(story: tuple[Message, ...]) -> None:
    topics = topics_of_titles(SECTIONS)
    assert "open" not in topics
    assert topics["goal"] == 0
    assert topics["stack"] == 1
    assert topics["done"] == 2
    assert topics["instructions"] == topics["decisions"] == 3
    assert topics["files"] == 4


def test_lines_have_no_headings(story: tuple[Message, ...]) -> None:
    made = summary(asked(story, form="lines"))
    assert all(line and not line.startswith(("#", "-", " ")) for line in made.text.split("\n"))
    assert "Goal: Write a parser for the config. Never use eval." in made.text.split("\n")


def test_chinese_labels(story: tuple[Message, ...]) -> None:
    text = summary(asked(story, language="zh-CN")).text
    assert text.startswith("## 目标\n")
    assert "`pytest -q` → 2 次，最近一次：成功: 42 passed in 0.3s" in text
    assert not any(f"## {title}" in text for title in EN.titles.values())
    assert EN.titles.keys() == ZH.titles.keys()


def test_an_earlier_summary_is_carried_on_once(story: tuple[Message, ...]) -> None:
    first = summary(asked(story)).text
    later = [user("Also write a changelog."), *edited("/home/me/project/CHANGELOG.md"), agent("Written.")]
    second = summary(asked(later, previous=first)).text
    assert second.count("## Goal") == 1
    assert "## Goal\n- Write a parser for the config. Never use eval." in second
    assert "- “Also write a changelog.”" in second
    assert "- From now on always run ruff." in second
    assert "`CHANGELOG.md`: modified" in second or "`/home/me/project/CHANGELOG.md`: modified" in second
    assert second.count("My last words") == 1
    third = summary(asked(later, previous=second)).text
    assert third.count("- From now on always run ruff.") == 1


def test_what_was_left_out_before_is_still_counted() -> None:
    made = summary(asked([user("go on")], previous="## Decisions\n- a\n- … and 7 more"))
    assert "## Decisions\n- a\n- … and 7 more" in made.text


def test_a_summary_among_the_messages_is_carried_with_its_origin() -> None:
    old = user("<summary>\nAnalysis:\nscratch\nSummary:\nThe port is 8080.\n</summary>", kind="summary")
    made = summary(asked([old, user("next"), agent("ok")]))
    line = made.text.split("\n").index("The port is 8080.")
    assert made.origins[line] == (old.id,)
    assert "scratch" not in made.text


@pytest.mark.parametrize("messages", [[], [user("", kind="meta")], [Message("m", "user", ())]])
def test_nothing_to_say(messages: list[Message]) -> None:
    answer = extractive(asked(messages))
    assert isinstance(answer, SummaryFailed)
    assert answer.kind == "empty"


def test_memories_alone_can_be_rewritten() -> None:
    made = summary(asked([], form="lines", previous="- likes tabs\n- uses pnpm\n- likes tabs"))
    assert made.text == "likes tabs\nuses pnpm"


def test_an_address_that_is_said_again_stands_once() -> None:
    said = [user("See https://example.org/a."), agent("https://example.org/a and https://example.org/b")]
    named = [line.text for line in digest(said, EN).of("named")]
    assert named == ["- https://example.org/a", "- https://example.org/b"]
