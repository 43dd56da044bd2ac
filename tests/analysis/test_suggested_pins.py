"""Suggested pins: cost, automatic pins, and the commands that show and set them."""

from __future__ import annotations

import json

from click.testing import CliRunner

from tests.facts.talk import agent, answered, call, user
from tests.paths import SAMPLES
from workbench.analysis.suggested_pins import ANSWER, AUTO_PIN_TOKENS, auto_pins, suggest
from workbench.cli import commands
from workbench.conformance.building import context_of
from workbench.facts.standing import PIN_REASON

OVERFLOW = SAMPLES / "claude-code-overflow.jsonl"
MESSAGES = (
    user("Build the server. Answer in French. Never push to main."),
    agent("Oui."),
    user("From now on, answer in English."),
    agent("Yes."),
    user("<Pin>The port is 8080.</Pin> " + "word " * 4 * AUTO_PIN_TOKENS),
    agent("Yes."),
    user("From now on no emojis. " + "word " * 4 * AUTO_PIN_TOKENS),
)


def test_each_has_its_reason_and_its_cost_and_the_latest_wins() -> None:
    context = context_of(MESSAGES, pins=frozenset({MESSAGES[2].id}))
    french, push, english, port, emojis = suggest(context)
    assert (french.superseded_by, french.accepted_unasked) == (MESSAGES[2].id, False)
    assert (push.reason, push.superseded_by, push.tokens) == ("a prohibition", None, context.size(0, 1).tokens)
    assert (english.pinned, push.pinned) == (True, False)
    assert (port.reason, port.text, port.accepted_unasked) == (PIN_REASON, "The port is 8080.", True)
    assert emojis.tokens > AUTO_PIN_TOKENS
    assert not emojis.accepted_unasked
    assert auto_pins(suggest(context)) == (MESSAGES[0].id, MESSAGES[2].id, MESSAGES[4].id)


def test_an_answer_is_worth_a_pin_where_a_tool_asked() -> None:
    asked = call("Ask", {"question": "Which flour?", "options": [{"label": "Rye"}, {"label": "Oat"}]})
    said = (
        user("Bake it."),
        agent("Shall I preheat?"),
        user("yes, go ahead"),
        agent("", asked),
        answered(asked, "Rye"),
    )
    assert [(one.text, one.reason) for one in suggest(context_of(said))] == [("Rye", ANSWER)]


def run(*args: str, code: int = 0) -> str:
    done = CliRunner().invoke(commands, list(args))
    assert done.exit_code == code, done.output
    return done.stdout


def test_the_commands_list_and_take_them() -> None:
    listed = json.loads(run("rules", str(OVERFLOW), "--json"))
    texts = [pin["text"] for pin in listed["rules"]]
    assert "Never log the refresh token." in texts
    assert not json.loads(run("rules", str(OVERFLOW), "--marked", "--json"))["rules"]  # no <Pin> passage in it
    shown = run("rules", str(OVERFLOW))
    assert "a prohibition" in shown
    assert f"{len(listed['auto_pinned'])} messages" in shown
    flags = ["--strategy", "context-reset", "--summarizer", "estimate", "--json"]
    held = json.loads(run("retention", str(OVERFLOW), "--auto-pin", *flags))
    lost = json.loads(run("retention", str(OVERFLOW), *flags))
    assert held["head_facts_by_kind"]["instruction"]["kept_share"] == 1.0
    assert lost["head_facts_by_kind"]["instruction"]["kept_share"] < 0.5
    assert {fact["message"] for fact in lost["facts"] if fact["kind"] == "instruction"} >= set(listed["auto_pinned"])
    compacted = json.loads(run("compact", str(OVERFLOW), "--auto-pin", *flags))
    assert compacted["fates"]["pinned"] == len(listed["auto_pinned"])


def test_retention_reports_generations_and_recorded_compactions() -> None:
    flags = ["--strategy", "context-reset", "--generations", "3"]
    series = json.loads(run("retention", str(OVERFLOW), *flags, "--json"))
    assert [step["number"] for step in series["generations"]] == [1, 2, 3]
    assert len(series["kept_share_by_kind"]["request"]) == len(series["summary_tokens"]) == 3
    assert "generation" in run("retention", str(OVERFLOW), *flags)
    codex = str(SAMPLES / "codex-two-compactions.jsonl")
    recorded = json.loads(run("retention", codex, "--recorded", "--json"))["recorded_compactions"]
    assert [one["epoch"] for one in recorded] == [1, 2]
    assert 0 < recorded[0]["head_facts"]["kept_share"] < 1
    assert run("retention", codex, "--recorded", "--epoch", "2").count("compaction after epoch") == 1
    assert "Lost or wrong, most important first" in run("retention", str(OVERFLOW), "--strategy", "context-reset")
    run("retention", str(OVERFLOW), "--recorded", "--strategy", "trim", code=2)
