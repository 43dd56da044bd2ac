"""The offline summary: what it says, that it fits, and that every line can be traced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.facts.talk import agent, call, edited, ran, result, user
from tests.told import assert_told
from workbench.compaction.summary_request import Form, Summary, SummaryFailed, SummaryRequest, TextBody
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

MEMORIES = (
    "The user likes tabs.",
    "Uses pnpm",
    "A: moved in 2025",
    "B: is open",
    "the user likes tabs",
    "A: is open",
    "Osterney has no ferry in winter",
    "B: deployed by hand",
    "Never deploy on Friday.",
    "A: deployed by hand",
)


def asked(messages: list[Message] | tuple[Message, ...], **settings: Any) -> SummaryRequest:
    return SummaryRequest("summary", messages, "", TextBody(str), **settings)


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


def requests(story: tuple[Message, ...]) -> dict[str, SummaryRequest]:
    chatter = [
        m for n in range(60) for m in (*ran(f"make step{n}", f"step {n} done"), agent(f"Step {n} is done, {'x' * 80}"))
    ]
    short = [user("Build it."), *chatter, user("Never deploy on Friday."), agent("Understood.")]
    later = [user("Also write a changelog."), *edited("/home/me/project/CHANGELOG.md"), agent("Written.")]
    first = summary(asked(story)).text
    second = summary(asked(later, previous=first)).text
    old = user("<summary>\nAnalysis:\nscratch\nSummary:\nThe port is 8080.\n</summary>", kind="summary")
    many = "\n".join(f"- decision {n} of a whole day" for n in range(20))
    return {
        "what happened": asked(story),
        "sections, one of them unknown": asked(story, form="sections", sections=(*SECTIONS, "Weather"), max_chars=3000),
        "Chinese": asked(story, language="zh-CN"),
        "little room: the user's words stay longest": asked(short, max_chars=600),
        "an earlier summary goes on": asked(later, previous=first),
        "and is not said twice": asked(later, previous=second),
        "what was left out is still counted": asked(
            [user("go on")], previous=f"## Decisions\n{many}\n- … and 7 more", max_chars=600
        ),
        "a summary among the messages": asked([old, user("next"), agent("ok")]),
        "memories": asked([user(f"- {said}") for said in MEMORIES], form="memories", max_lines=6),
        "memories that fit are only told once": asked([user(said) for said in MEMORIES], form="memories"),
    }


def test_what_it_says_and_where_every_line_is_from(story: tuple[Message, ...], request: pytest.FixtureRequest) -> None:
    told: list[str] = []
    for name, wanted in requests(story).items():
        made, places = summary(wanted), {message.id: number for number, message in enumerate(wanted.messages)}
        told.append(f"=== {name}")
        for line, ids in zip(made.text.split("\n"), made.origins, strict=True):
            told.append(f"{' '.join(str(places[id]) for id in ids):8} | {line}".rstrip())
    assert_told(Path(__file__).parent / "told" / "extractive.txt", "\n".join(told) + "\n", request)


def test_the_same_messages_give_the_same_summary(story: tuple[Message, ...]) -> None:
    assert extractive(asked(story, max_chars=900)) == extractive(asked(story, max_chars=900))


@given(
    st.integers(200, 3000),
    st.sampled_from(["prose", "sections"]),
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


def test_the_fixed_template_leaves_the_current_task_out(story: tuple[Message, ...]) -> None:
    topics = topics_of_titles(SECTIONS)
    assert "open" not in topics
    assert topics["goal"] == 0
    assert topics["stack"] == 1
    assert topics["done"] == 2
    assert topics["instructions"] == topics["decisions"] == 3
    assert topics["files"] == 4


def test_every_language_has_the_same_titles() -> None:
    assert EN.titles.keys() == ZH.titles.keys()


@pytest.mark.parametrize("messages", [[], [user("", kind="meta")], [Message("m", "user", ())]])
def test_nothing_to_say(messages: list[Message]) -> None:
    answer = extractive(asked(messages))
    assert isinstance(answer, SummaryFailed)
    assert answer.kind == "empty"


def test_an_address_that_is_said_again_stands_once() -> None:
    said = [user("See https://example.org/a."), agent("https://example.org/a and https://example.org/b")]
    named = [line.text for line in digest(said, EN).of("named")]
    assert named == ["- https://example.org/a", "- https://example.org/b"]
