"""What an export's notes say that it changes is allowed by the words of the notes themselves, and nothing else is."""

from __future__ import annotations

import json

import pytest

from interop.compare import Compared, compare
from interop.told import allowed_by
from interop.units import of_request, shown
from workbench.conformance.building import agent, call, result, session_of, user
from workbench.formats.export import export
from workbench.session import Message, Opaque, Text, Thinking, ToolUse

ASKED, SAID = user("u", "Mend the hinge."), agent("a", "It is mended.")
BOTH = agent("c", "", call("x", path="a"), call("y", path="b"))
BECOMES = {
    "loss: reasoning": [ASKED, Message("t", "assistant", (Thinking("hm"), Text("So.")))],
    "loss: turns": [SAID, ASKED],
    "loss: no result": [ASKED, agent("c", "", call("x", path="a")), user("v", "And now?")],
    "loss: no call": [ASKED, SAID, result("r", ("x", "A")), user("v", "And now?")],
    "loss: blocks": [ASKED, Message("o", "assistant", (Text("So."), Opaque("odd", {"type": "odd"})))],
    "order of results": [ASKED, BOTH, result("r", ("y", "B"), ("x", "A")), SAID],
    "system messages": [ASKED, SAID, Message("s", "system", (Text("Be kind."),)), user("v", "And now?")],
    "arguments as an object": [
        ASKED,
        Message("c", "assistant", (ToolUse("x", "run", "make all"),)),
        result("r", ("x", "A")),
        SAID,
    ],
}
"""By the name of what is allowed: a session of another format that needs it in a body of the Messages API."""


@pytest.mark.parametrize("name", BECOMES)
def test_what_the_notes_tell_is_allowed_and_takes_no_more(name: str) -> None:
    session = session_of(BECOMES[name])
    made = export(session, session.messages, "anthropic-messages")
    sent, here = of_request("anthropic", json.loads(made.written.data)), shown(session.messages)
    assert compare(sent, here, tuple(allowed_by(made))) == Compared("", (name,))
    others = tuple(one for one in allowed_by(made) if one.name != name)
    assert compare(sent, here, others).difference.startswith("unit ")


def test_what_needs_nothing_is_allowed_nothing() -> None:
    session = session_of([ASKED, BOTH, result("r", ("x", "A"), ("y", "B")), SAID])
    made = export(session, session.messages, "anthropic-messages")
    sent = of_request("anthropic", json.loads(made.written.data))
    assert compare(sent, shown(session.messages), tuple(allowed_by(made))) == Compared("")
    assert compare(sent[:-1], shown(session.messages), tuple(allowed_by(made))).difference.startswith("unit ")
