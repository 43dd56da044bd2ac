"""The rules of document 004: `context-reset`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.courses import counted_from, course_of_messages, session_of
from tests.commands import cwb, document
from tests.documents.rules import rule
from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.analysis.course import Course, course_of
from workbench.analysis.replay import replay
from workbench.base.errors import BadInput
from workbench.compaction.checks import check
from workbench.compaction.context import Gauge
from workbench.compaction.preset import default_preset
from workbench.compaction.prompts import load_prompt
from workbench.compaction.strategies import all_strategies
from workbench.compaction.strategies.context_reset import MARKER, STRATEGY, ContextResetPolicy, triggers
from workbench.conformance.building import agent, call, chat, context_of, loop, result, user
from workbench.conformance.strategies import run
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.session import ApiError, Message, SessionFacts, Text
from workbench.tokens.window import Window

OVERFLOW = SAMPLES / "claude-code-overflow.jsonl"
PRESET = default_preset(STRATEGY.id)
POLICY: Any = PRESET.policy


def fires(gauge: Gauge, **changes: Any) -> dict[str, bool]:
    return {trigger.name: trigger.fires for trigger in triggers(gauge, ContextResetPolicy.model_validate(changes))}


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        pytest.param("Keep the goal: what the user wants", "保留核心目标", id="004-001"),
        pytest.param("Record the key steps: what was done, what was decided and why", "记录关键步骤", id="004-002"),
        pytest.param("Leave out code blocks, long outputs and repeated calls", "忽略冗余细节", id="004-003"),
        pytest.param("so that the next message reads on without a seam", "使后续对话无缝衔接", id="004-004"),
    ],
)
def test_what_the_prompt_asks_for(english: str, chinese: str) -> None:
    assert english in load_prompt("context-reset.en.md").text
    assert chinese in load_prompt("context-reset.zh.md").text


def sized(total: int) -> list[Message]:
    """A request and one result whose transcript has exactly `total` characters."""
    start, end = user("u", "go"), agent("z", "E" * 100)
    frame = len("[user]: go\n\n[tool result]: \n\n[assistant]: ") + 100
    return [start, result("r", ("gone", "m" * (total - frame))), end]


@rule("004-005")
@pytest.mark.parametrize(("chars", "cut"), [(199_999, False), (200_000, False), (200_001, True)])
def test_input_of_more_than_200000_characters_is_cut(chars: int, cut: bool) -> None:
    _, (request,) = run(STRATEGY, context_of(sized(chars)), POLICY)
    assert (MARKER["en"] in request.text) is cut


@rule("004-006")
@pytest.mark.parametrize("length", [200_001, 210_000, 1_000_000])
def test_e7_the_shares_are_of_the_limit_however_long_the_text(length: int) -> None:
    _, (request,) = run(STRATEGY, context_of(sized(length)), POLICY)
    head, tail = request.text.split("---\n")[1].removesuffix("\n").split(MARKER["en"])
    assert (len(head), len(tail)) == (40_000, 60_000)


@rule("004-006")
def test_a_fifth_and_three_tenths_of_the_limit_are_left_of_its_two_ends() -> None:
    outcome, (request,) = run(STRATEGY, context_of(sized(200_001)), POLICY)
    shown = request.text.split("---\n")[1].removesuffix("\n")
    head, tail = shown.split(MARKER["en"])
    assert (len(head), len(tail)) == (40_000, 60_000)
    assert head.startswith("[user]: go")
    assert tail.endswith("E" * 100)
    assert [outcome.fate_at(i).saw for i in range(3)] == ["all", "part", "all"]
    assert request.seen is not None
    seen, of = request.seen(1)
    assert 99_000 < seen < 100_000 < of


@rule("004-007", "004-014", "004-015", "004-016")
def test_all_events_become_the_leading_system_messages_and_one_of_the_users() -> None:
    rules = [Message(f"s{n}", "system", (Text(f"rule {n}"),)) for n in range(2)]
    long = context_of([*rules, *loop("1", 3), *chat(2)], manual=False, window=1)
    outcome, (request,) = run(STRATEGY, long, POLICY, "It goes on.")
    assert outcome.messages[:2] == tuple(rules)
    (made,) = outcome.messages[2:]
    assert (made.role, made.kind) == ("user", "summary")
    assert made.text == "[System] Context cleared. Summary of previous conversation: \n It goes on."
    assert request.text.startswith(load_prompt("context-reset.en.md").text + "\n\n---\n[user]: request 1\n\n")
    assert outcome.trace[0].startswith("trigger 1 tokens (90 % of the window): now 443, fires")


@rule("004-008", "004-009")
@pytest.mark.parametrize(("chars", "expected"), [(719_999, False), (720_000, True)])
def test_it_fires_at_ninety_percent_of_the_window_estimated_at_four_characters_a_token(
    chars: int, expected: bool
) -> None:
    gauge = Gauge(chars=chars, tokens=1, limit=Window(200_000, "given"))
    assert fires(gauge)["90 % of the window"] is expected
    assert not fires(gauge, estimate_from="counted")["90 % of the window"]
    assert fires(gauge._replace(tokens=180_000), estimate_from="counted")["90 % of the window"]
    assert not fires(gauge._replace(limit=None))["90 % of the window"]


@rule("004-010")
@pytest.mark.parametrize(("events", "expected"), [(699, False), (700, True), (701, True)])
def test_it_fires_at_700_events(events: int, expected: bool) -> None:
    assert fires(Gauge(events=events))["events"] is expected


@rule("004-010")
def test_texts_calls_and_results_are_events() -> None:
    context = context_of([user("u", "go"), agent("a", "look", call("1"), call("2")), result("r", ("1", ""), ("2", ""))])
    assert context.gauge().events == 6


@rule("004-011")
def test_a_recorded_overflow_is_an_emergency() -> None:
    emergency = context_of(loop("1", 3), manual=False, overflow_error_seen=True)
    outcome, _ = run(STRATEGY, emergency, POLICY)
    assert outcome.status == "compacted"
    assert any("emergency" in line for line in outcome.trace)
    calm = POLICY.model_copy(update={"trigger_on_overflow": False})
    assert run(STRATEGY, emergency, calm)[0].reason == "no trigger fires"
    assert run(STRATEGY, context_of(chat(3), manual=False), POLICY)[0].reason == "no trigger fires"


@rule("004-012")
@pytest.mark.parametrize(("answer", "rests"), [("S", True), ("", False)], ids=["compacted", "failed"])
def test_the_emergency_is_over_once_the_context_is_another(answer: str, rests: bool) -> None:
    emergency = context_of(loop("1", 9), manual=False, overflow_error_seen=True)
    outcome, _ = run(STRATEGY, emergency, POLICY, answer)
    assert emergency.from_outcome(outcome).overflow_error_seen is not rests
    under = next(one for one in check(emergency, outcome, STRATEGY, POLICY) if one.name == "under the threshold")
    assert under.passed is rests


def refused(messages: list[Message], *times: float) -> Course:
    """A session in which message i was said at second i, and which was refused at these seconds."""
    said = [replace(message, time=float(second)) for second, message in enumerate(messages)]
    errors = tuple(ApiError(f"e{time}", "Prompt is too long", time) for time in times)
    course = course_of_messages(said)
    return replace(course, session=replace(session_of(said), facts=SessionFacts(api_errors=errors)))


@rule("004-013")
@pytest.mark.parametrize(
    ("at", "calls", "first"),
    [
        ((), [1, 3, 5, 7], None),
        ((7.5,), [1, 3, 5, 7, 8], (5, "a3")),
        ((3.5,), [1, 3, 4, 5, 7], (3, "a1")),
        ((2.5,), [1, 3, 5, 7], (2, "a1")),
        ((2.5, 2.7, 7.5), [1, 3, 5, 7, 8], (2, "a1")),
    ],
    ids=["never", "at the end", "between two rounds", "before an answer", "several times"],
)
def test_a_replay_meets_the_emergency_at_the_call_that_was_refused(
    at: tuple[float, ...], calls: list[int], first: tuple[int, str] | None
) -> None:
    course = refused([replace(message, blocks=(Text("x" * 2_000),)) for message in chat(4)], *at)
    assert list(course.calls) == calls
    assert [(one.call, one.message) for one in replay(course, PRESET, None).compacted] == ([first] if first else [])


@rule("004-013")
def test_replay_and_bench_agree_when_it_fires() -> None:
    played = replay(course_of(*counted_from(OVERFLOW)), PRESET, Window(200_000, "given"))
    told = cwb("compact", OVERFLOW, "--preset", "context-reset", "--if-triggered").stdout
    (one,) = played.compacted
    assert [trigger.name for trigger in one.triggers if trigger.fires] == ["overflow error"]
    assert one.call == len(played.sent)
    assert f"status           compacted: {one.before:,} → ".replace(",", " ") in told


@rule("004-017")
def test_the_session_itself_is_never_written_over(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(OVERFLOW.read_bytes())
    session = load(file)
    made = export(session, session.messages[:1])
    with pytest.raises(BadInput, match="is the session itself, which is never overwritten; choose another name"):
        save(made, file, overwrite=True)
    assert file.read_bytes() == OVERFLOW.read_bytes()
    assert save(made, tmp_path / "reset.jsonl").where.read_bytes() == made.written.data


@rule("004-018")
@pytest.mark.parametrize(
    "strategy", mostly_full([one.id for one in all_strategies()], ["context-reset", "layered", "clear-tool-results"])
)
def test_what_a_compaction_lost_is_told_alike_by_every_command(strategy: str) -> None:
    """Judged against the head, whatever a guard, a limit or a template kept from the summarizer."""
    compacted = document("compact", OVERFLOW, "--strategy", strategy, code=None)
    held = document("retention", OVERFLOW, "--strategy", strategy)
    lost = [fact for fact in held["facts"] if fact["kept"] == "none"]
    assert sorted(
        compacted["lost_facts"] or [], key=lambda fact: (fact["number"], fact["kind"], fact["text"])
    ) == sorted(lost, key=lambda fact: (fact["number"], fact["kind"], fact["text"]))
    if strategy == "context-reset":
        told = cwb("compact", OVERFLOW, "--strategy", strategy).stdout
        instructions, errors = (sum(fact["kind"] == kind for fact in lost) for kind in ("instruction", "error"))
        assert f"lost             {instructions} standing instructions, " in told
        assert f", {errors} error messages, " in told
