"""An export reports a size that differs from the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands import cwb
from tests.paths import SAMPLES
from workbench.compaction.context import Context
from workbench.compaction.exporting import export_compacted
from workbench.compaction.opening import context_at
from workbench.compaction.preset import load_preset
from workbench.compaction.strategies.user_messages import STRATEGY
from workbench.conformance.building import agent, session_of, user
from workbench.formats import registry
from workbench.formats.export import Export, save
from workbench.formats.files import load
from workbench.formats.loss import Loss, LossKind, count_losses
from workbench.session import Epoch, Message, Session, Text, Thinking, Usage
from workbench.tokens import Counter


def opened(session: Session, *, counted: bool = True) -> Context:
    counter = Counter()
    if counted:
        counter.count_all(session.messages, lambda done, total: None, lambda: False)
    return context_at(session, None, counter)


def thinking(words: int) -> Session:
    """gpt-5: a message is its o200k tokens and 4 more; " so" is one token, as is "so". 104 are said."""
    thought = Message("a", "assistant", (Thinking(" ".join(["so"] * words)), Text("x"))) if words else agent("a", "x")
    return session_of([user("u", " ".join(["so"] * 95)), thought], model="gpt-5")


def told(made: Export) -> list[Loss]:
    return [loss for loss in made.written.losses if loss.kind is LossKind.OTHER_SIZE]


@pytest.mark.parametrize(("words", "promised", "said"), [(0, 104, False), (2, 106, False), (3, 107, True)])
def test_what_is_left_out_is_told_in_tokens_from_two_percent_on(words: int, promised: int, said: bool) -> None:
    session = thinking(words)
    left = opened(session)
    assert left.total.tokens == promised
    losses = told(export_compacted(session, left, session.messages, "openai-chat"))
    assert losses == ([Loss(LossKind.OTHER_SIZE, 1, ("≈104", f"≈{promised}"))] if said else [])


def test_what_is_told_is_what_is_shown(tmp_path: Path) -> None:
    session = thinking(60)
    made = export_compacted(session, opened(session), session.messages, "openai-chat")
    found = load(save(made, tmp_path).where)
    assert f"≈{opened(found).total.tokens} tokens" in str(told(made)[0])


def test_nothing_is_told_of_what_is_still_being_counted() -> None:
    session = thinking(60)
    assert told(export_compacted(session, opened(session, counted=False), session.messages, "openai-chat")) == []


RULES = [
    Message("s", "system", (Text("You keep the mill."),)),
    Message("s2", "system", (Text("Never touch weir.cfg."),)),
    user("u", "Mend it."),
    agent("a", "Done."),
]


@pytest.mark.parametrize("target", [one.id for one in registry.targets()])
def test_a22_a_pinned_system_message_is_in_every_export(target: str, tmp_path: Path) -> None:
    """If an agent sends its own system prompt, the pinned one becomes a user's text, and only the other is omitted."""
    session = session_of(RULES)
    made = export_compacted(session, opened(session).with_(pins=frozenset({"s2"})), session.messages, target)
    found = load(save(made, tmp_path).where)
    told = "\n".join([found.system, *(message.text for message in found.context())])
    unpinned = export_compacted(session, opened(session), session.messages, target).written.losses
    left_out = count_losses(unpinned, LossKind.SYSTEM_MESSAGES)
    assert (told.count("Never touch weir.cfg."), told.count("You keep the mill.")) == (1, 0 if left_out else 1)
    assert count_losses(made.written.losses, LossKind.SYSTEM_MESSAGES) == (1 if left_out else 0)
    assert left_out in (0, 2)


def test_a22_the_check_of_pins_and_the_export_say_the_same(tmp_path: Path) -> None:
    sample, out = SAMPLES / "letta-florist.af", tmp_path / "out.jsonl"
    run = cwb("compact", sample, "--strategy", "ledger", "--pin", "1", "--to", "codex", "-o", out, "--force", "--json")
    checks = {check["name"]: check["passed"] for check in json.loads(run.stdout)["checks"]}
    first = load(sample).context()[0]
    assert (first.is_own_system, checks["pinned messages unchanged"]) == (True, True)
    assert first.text in load(out).context()[0].text


def test_memories_go_with_it_where_they_are_others() -> None:
    session = replace(session_of([user("u", "Mend it.")]), memories="one\ntwo")
    left = opened(session)
    same, other = (
        export_compacted(session, one, session.messages, "augment") for one in (left, left.with_(memories="three"))
    )
    assert [one.source.memories for one in (same, other)] == ["one\ntwo", "three"]


@pytest.mark.parametrize("format_id", ["codex", "codex:appended"])
def test_billed_reasoning_counts_once_in_an_export(format_id: str, tmp_path: Path) -> None:
    """The planned tokens include the reasoning of a kept answer; its usage, which Codex' trigger would add again, is
    not exported."""
    session = load(SAMPLES / "codex-two-compactions.jsonl")
    thought = Usage(input=900, output=500, reasoning=400)
    asked, again = user("u", "Mend it."), user("v", "And now?")
    answered = replace(agent("a", "Done."), usage=thought)
    left = opened(replace(session, messages=(asked, answered, again), epochs=(Epoch(1, range(3), window=50_000),)))
    assert left.messages[1].usage == thought
    made = export_compacted(session, left, left.messages, format_id)
    found = load(save(made, tmp_path).where)
    context, policy = opened(found), load_preset("codex").policy
    assert context.total.tokens == left.total.tokens == 913
    [fires] = STRATEGY.read_triggers(context, policy)
    assert "trigger 47 368 tokens (94.7 % of the window): now 913, does not fire" in str(fires)


def test_an_absurd_bill_is_as_absurd_in_the_export(tmp_path: Path) -> None:
    """A copy shows what the file showed: no figure stands on a bill of 9 tokens for 1 200 characters."""
    steps = [
        {"step_id": 1, "source": "user", "message": "so " * 400},
        {"step_id": 2, "source": "agent", "message": "ok", "metrics": {"prompt_tokens": 9, "completion_tokens": 1}},
    ]
    agent = {"name": "ferry", "version": "1", "model_name": "gpt-5"}
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": steps}))
    session = load(path)
    left = opened(session)
    made = export_compacted(session, left, session.context())
    assert made.written.data == path.read_bytes()
    assert left.total.tokens > 400
    assert told(made) == []
