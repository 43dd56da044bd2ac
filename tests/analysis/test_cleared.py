"""A session whose agent cleared old results itself: findings neither overlook that nor credit it twice."""

from __future__ import annotations

from collections import Counter as Tally
from typing import Any

from tests.formats.claude_code_build import assistant, boundary, call, line, read, result, summary, text, user
from workbench.analysis.course import course_of
from workbench.analysis.recorded_compactions import following, recorded_outcome
from workbench.analysis.why.diagnosis import Diagnosis, diagnose
from workbench.bench import open_bench
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import load_preset
from workbench.session import Compaction, Epoch, Message, Records, Session, Text
from workbench.tokens import Counter

LONG = "word " * 40_000
FILES = 6


def billed(tokens: int) -> dict[str, Any]:
    return {"usage": {"input_tokens": tokens, "output_tokens": 5}, "stop_reason": "end_turn"}


def at(number: int) -> str:
    """Times in order, one for each line of the file."""
    return f"2026-02-08T10:{number:02d}:00.000Z"


def session() -> Any:
    lines = [user("u1", None, "Read them all.")]
    for n in range(FILES):
        lines.append(
            assistant(
                f"a{n}",
                lines[-1]["uuid"],
                f"m{n}",
                call(f"t{n}", file_path=f"/{n}.txt"),
                body=billed(20_000 + 40_000 * n),
            )
        )
        lines.append(result(f"r{n}", f"a{n}", f"t{n}", f"{n} {LONG}"))
    about = {
        "trigger": "auto",
        "preTokens": 220_000,
        "tokensSaved": 160_000,
        "compactedToolIds": [f"t{n}" for n in range(4)],
    }
    lines.append(line("system", "c1", lines[-1]["uuid"], subtype="microcompact_boundary", microcompactMetadata=about))
    lines.append(assistant("b1", "c1", "n1", text("Two are left."), body=billed(100_000)))
    lines.append(user("u2", "b1", "And now?"))
    lines.append(assistant("b2", "u2", "n2", text("Done."), body=billed(100_100)))
    return read(*({**one, "timestamp": at(number)} for number, one in enumerate(lines)))


def diagnosed(epoch: int) -> Diagnosis:
    known, counter = session(), Counter()
    context = open_bench(known, counter, epoch=epoch).context
    return diagnose(context, course_of(known, counter, first=epoch), epoch, load_preset("claude-code"))


def test_the_agent_is_said_to_have_cleared() -> None:
    found = diagnosed(1)
    assert found.limit is not None
    assert (found.limit.tokens, found.limit.why) == (
        220_000,
        "the agent cleared old contents after a prompt of this size (epoch 1)",
    )


def test_a_fall_at_a_recorded_clearing_is_no_silent_one() -> None:
    kinds = Tally(finding.kind for epoch in (1, 2) for finding in diagnosed(epoch).findings)
    assert kinds["drop"] == 0


def test_cleared_results_count_nothing_and_earlier_usage_is_of_another_context() -> None:
    found = diagnosed(2)
    by_tool = {share.name: share for share in found.tools}
    assert 70_000 < by_tool["Read"].tokens < 90_000
    overhead = [layer.tokens for layer in found.layers if layer.name == "system + tools (not recorded)"]
    assert sum(overhead) < 25_000
    assert found.total.tokens < 101_000


def test_findings_do_not_count_results_already_cleared() -> None:
    """Of six results two are left, and clearing spares the newest three."""
    cleared = [[one.kind for one in diagnosed(epoch).findings if one.kind == "clear"] for epoch in (1, 2)]
    assert cleared == [["clear"], []]


def test_cleared_messages_are_shortened_in_the_outcome() -> None:
    known = session()
    outcome = recorded_outcome(known, 1)
    assert outcome.messages == known.context(2)[: len(known.context(1))]
    assert [span.fate for span in outcome.fates].count(Fate.COMPRESSED) == 4
    assert [message.id for message in following(known, 1)] == ["b1", "u2", "b2"]


def test_messages_added_next_to_a_summary_belong_to_the_outcome() -> None:
    noted = [{"content": "a.txt was read before."}]
    lines = [
        user("u1", None, "Read a.txt."),
        assistant("a1", "u1", "m1", text("Read.")),
        boundary("b1", "a1"),
        line("attachment", "x0", "b1", attachment={"type": "date"}, rendered=[{"content": "It is Monday."}]),
        summary("s1", "x0"),
        line("attachment", "x1", "s1", attachment={"type": "compact_file_reference"}, rendered=noted),
        user("u2", "x1", "Go on."),
        line("attachment", "x2", "u2", attachment={"type": "reminder"}, rendered=[{"content": "Be brief."}]),
        assistant("a2", "x2", "m2", text("On.")),
    ]
    outcome = recorded_outcome(read(*lines), 1)
    assert [message.id for message in outcome.messages] == ["s1", "x1"]


def test_a_system_message_that_the_agent_writes_again_does_not_end_what_the_compaction_added() -> None:
    """Codex 0.169 writes its own messages before the user's newest one and the summary."""
    messages = [
        Message("u1", "user", (Text("Go."),)),
        Message("y1", "system", (Text("You help."),)),
        Message("e1", "user", (Text("It is Monday."),), "meta"),
        Message("s1", "user", (Text("Went."),), "summary"),
        Message("u2", "user", (Text("Go on."),)),
    ]
    numbered = (Epoch(1, [0], Compaction()), Epoch(2, [1, 2, 3, 4]))
    known = Session("codex", None, tuple(messages), Records(b""), epochs=numbered)
    assert [message.id for message in recorded_outcome(known, 1).messages] == ["s1"]
