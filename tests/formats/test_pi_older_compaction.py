"""A6: an older compaction inside the range that a newer one kept.

pi 0.80.6 to 0.86 sends the older summary where it lies; 0.73.1 before and 0.87 and later leave it out. A file does not
say which pi wrote it, so the older summary is shown where a recorded refusal by the API proves that it was sent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import cwb
from tests.formats.pi_build import HEADER, call, entry, lines, response, result, said, text
from workbench.conformance.formats import faults, read
from workbench.formats.files import load
from workbench.formats.loss import LossKind
from workbench.formats.pi import FORMAT
from workbench.session import Message, Session, Text

OLDER = {"summary": "older", "firstKeptEntryId": "a1", "tokensBefore": 9}
NEWER = {"summary": "newer", "firstKeptEntryId": "a1", "tokensBefore": 8}
PATH = [
    said("u1", None, "user", "Which flour?"),
    response("a1", "u1", call("c1"), stop="toolUse"),
    entry("compaction", "k1", "a1", **OLDER),
    result("r1", "k1", "c1", text("rye")),
    response("a2", "r1", text("Rye.")),
    entry("compaction", "k2", "a2", **NEWER),
    said("u2", "k2", "user", "Go on."),
]
REFUSED = response("a3", "u2", stop="error")
REFUSED["message"]["errorMessage"] = "400 unexpected `tool_use_id` found in `tool_result` blocks: c1."
OTHER = response("a3", "u2", stop="error")
OTHER["message"]["errorMessage"] = "529 overloaded"
ANSWERED = response("a4", "a3", text("Yes."))


def shown(session: Session) -> list[str]:
    said = (m.text or "".join(r.text for r in m.results) or m.calls[0].id for m in session.context())
    return [one.partition("<summary>\n")[2].partition("\n")[0] or one for one in said]


SENT = ["newer", "c1", "rye", "Rye.", "Go on."]
NEWEST = ["newest", "Go on."]
SENT_BETWEEN = ["newer", "c1", "older", "rye", "Rye.", "Go on."]
CAUSED = (
    "line 4: pi sent this older summary between the call on line 3 and its result on line 5, which caused the API "
    "error on line 9; pi 0.87 and later leave it out: update pi, or run cwb repair"
)
CAN_CAUSE = (
    "line 4: pi 0.80.6 to 0.86 sends this older summary between the call on line 3 and its result on line 5, which the "
    "API refuses; pi 0.87 and later leave it out: update pi, or run cwb repair"
)


@pytest.mark.parametrize(
    ("after", "context", "warnings"),
    [
        ([], SENT, [CAN_CAUSE]),
        ([REFUSED], SENT_BETWEEN, [CAUSED]),
        ([OTHER], SENT, [CAN_CAUSE]),
        # The model answered all the same: a pi that leaves the older summary out.
        ([OTHER, ANSWERED], [*SENT, "Yes."], []),
        ([REFUSED, ANSWERED], [*SENT, "Yes."], []),
        # A third compaction that kept nothing of the pair.
        ([entry("compaction", "k3", "u2", **{**NEWER, "summary": "newest", "firstKeptEntryId": "u2"})], NEWEST, []),
    ],
)
def test_a6_an_older_summary_is_shown_where_a_refusal_proves_that_it_was_sent(
    after: list[dict[str, Any]], context: list[str], warnings: list[str]
) -> None:
    session = read(FORMAT, lines(HEADER, *PATH, *after))
    assert shown(session) == context
    assert [str(warning) for warning in session.warnings] == warnings


def test_a6_an_older_compaction_that_splits_no_pair_is_left_out() -> None:
    moved = [PATH[0], PATH[1], {**PATH[3], "parentId": "a1"}, {**PATH[2], "parentId": "r1"}]
    session = read(FORMAT, lines(HEADER, *moved, {**PATH[4], "parentId": "k1"}, *PATH[5:], REFUSED))
    assert (shown(session), session.warnings) == (SENT, ())


@pytest.mark.parametrize("way", ["pi", "appended"])
def test_a6_an_export_has_the_result_right_behind_its_call(way: str) -> None:
    session = read(FORMAT, lines(HEADER, *PATH, REFUSED))
    write = FORMAT.codec.write if way == "pi" else FORMAT.codec.forms[0].write
    assert write is not None
    written = write(session, session.context()[:-1] if way == "pi" else session.context())
    assert shown(read(FORMAT, written.data))[:4] == ["newer", "c1", "rye", "older"]
    assert faults(FORMAT, written.data) == []
    assert LossKind.RESULTS_MOVED in [loss.kind for loss in written.losses]


def test_a6_an_appended_compaction_keeps_no_range_with_an_older_one_in_a_pair() -> None:
    session = read(FORMAT, lines(HEADER, *PATH))
    node = Message("n", "user", (Text("Short."),), "summary", time=1779280000)
    written = FORMAT.codec.forms[0].write(session, (node, *session.context()[1:]))
    again = read(FORMAT, written.data)
    assert shown(again) == ["Short.", *SENT[1:]]
    assert again.warnings == ()


def test_a6_the_rules_object_to_a_message_between_a_call_and_its_result() -> None:
    between = [*PATH[:2], said("u9", "a1", "user", "Wait."), {**PATH[3], "parentId": "u9"}]
    assert faults(FORMAT, lines(HEADER, *between)) == [
        "Line 5 has a result that is not right after its call; pi fills in another result first."
    ]


def test_a6_the_context_of_the_reported_session_is_what_pi_sent(shared: Path) -> None:
    """17 messages, as pi 0.84.4 sends them; pi 0.73.1 and 1.6.0 send 16."""
    session = load(shared / "cases" / "22-pi-stale-compaction-mid-pair.jsonl")
    assert len(session.context()) == 17
    assert [message.kind for message in session.context()[:6]] == ["summary", *["normal"] * 3, "summary", "normal"]
    assert [warning.line for warning in session.warnings] == [24]


@pytest.mark.parametrize("command", [("inspect", "--epoch", "last"), ("inspect", "--health")], ids=" ".join)
def test_a6_the_commands_say_the_cause(command: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(lines(HEADER, *PATH, REFUSED))
    said = cwb(*command, path)
    assert said.exit_code == 0
    assert CAUSED in said.stdout
    assert "6 messages" in said.stdout
