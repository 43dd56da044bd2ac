"""A conversation in ReAct form."""

from __future__ import annotations

from hypothesis import given, settings

from workbench.compaction.assembled.react import react
from workbench.conformance.building import agent, call, result, summary, user
from workbench.conformance.drawn import conversations
from workbench.session import Media, Message, Opaque, Text, Thinking
from workbench.tokens.visible import json_text

PICTURE = Media("image/png", 3)


def test_thought_action_result_and_finish() -> None:
    messages = [
        Message("s", "system", (Text("Be brief."),)),
        summary("old", "## 📌 Archived Session Summary"),
        user("u", "list it"),
        Message("a", "assistant", (Thinking("I should look."), Text("Looking."), call("c", "LS", path="src"))),
        result(
            "r", ("c", '{"status": "success", "data": {"entries": []}, "text": "long", "stats": {}, "context": {}}')
        ),
        agent("a2", "One more.", call("d", "Bash", command="ls"), call("e", "Bash", command="pwd")),
        result("r2", ("d", "a.py"), ("e", "/srv"), error=True),
        agent("a3", "Nearly there."),
        agent("a4", "It is empty."),
        user("u2", "a boundary", "boundary"),
        user("u3", "thanks"),
        Message("a5", "assistant", (Text("See"), PICTURE, Opaque("odd", {}))),
        Message("t", "tool", (Text("Told."), PICTURE)),
        agent("a6", "Bye."),
    ]
    assert list(react(messages)) == [
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


@settings(max_examples=30, deadline=None)
@given(conversations())
def test_every_call_and_every_result_is_there(messages: tuple[Message, ...]) -> None:
    text = "\n\n".join(react(messages))
    for message in messages:
        for one in message.calls:
            assert f"Action: {one.name}[{json_text(one.input)}]" in text
    assert text.count("[tool] {") >= sum(len(message.results) for message in messages)
