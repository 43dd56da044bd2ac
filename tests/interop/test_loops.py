"""The library inside other libraries' loops: Anthropic's SDK is always here, `make loops` installs others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from interop import server
from interop.loops import LAST, LOOPS, PARTS, PROMPT, SCRIPT, faults, read_part
from interop.server import Request
from interop.server.script import Turn
from tests.products import mostly_full
from workbench.compaction.ledger import queue, room
from workbench.compaction.shape import Shape


@pytest.mark.parametrize("budget", mostly_full([1_200, 12_000], [1_200]))
@pytest.mark.parametrize("name", LOOPS)
def test_every_result_is_sent_once_it_is_there(name: str, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    why = f"{LOOPS[name].needs[0]} is not installed here"
    module = pytest.importorskip(f"interop.loops.{name}", reason=why, exc_type=ImportError)
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(key, "dummy")
    assert run(module, budget) == []


def run(module: Any, budget: int) -> list[str]:
    with server.running() as here:
        here.script = list(SCRIPT)
        return list(faults(here.requests, module.loop(here.url, budget)))


def test_a_ledger_that_forgets_what_is_not_read_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from interop.loops import anthropic_sdk

    monkeypatch.setattr(Shape, "unread", ())
    monkeypatch.setattr(room.LedgerSelection, "_least", lambda self: ())
    monkeypatch.setattr(queue, "_unit_steps", lambda *_: ())
    lost = [fault for fault in run(anthropic_sdk, 1_200) if fault.endswith("was read and never sent")]
    assert len(lost) == PARTS


def loop_of_chat(forgets: int = 0) -> Iterator[Request]:
    """The requests of a loop that sends the newest part alone beside the prompt, and all at the end."""
    asked = {"role": "user", "content": PROMPT}
    pairs: list[list[dict[str, Any]]] = [[]]
    for number in range(1, PARTS + 1):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read_part", "arguments": "{}"}}
        answer = {"role": "assistant", "content": None, "tool_calls": [call]}
        pairs.append([answer, {"role": "tool", "tool_call_id": f"c{number}", "content": read_part(number)}])
    for number, pair in enumerate(pairs):
        sent = pair if number != forgets else []
        yield Request("/v1/chat/completions", "chat", {"messages": [asked, *pairs[number - 1], *sent]}, Turn(""))


def changed(requests: list[Request], at: int, messages: Any) -> list[Request]:
    return [replace(one, body={"messages": messages}) if n == at else one for n, one in enumerate(requests)]


def test_the_judge_finds_nothing_in_a_good_loop_and_names_what_is_wrong_in_others() -> None:
    good = list(loop_of_chat())
    assert list(faults(good, LAST)) == []
    assert list(faults(good, "Answer 1.")) == ["it ended with 'Answer 1.'"]
    assert list(faults(good[:-1], LAST)) == ["14 requests in place of 15"]
    assert list(faults(list(loop_of_chat(forgets=5)), LAST)) == ["part 5 was read and never sent"]
    asked, call, result = good[1].body["messages"]
    other = {"role": "user", "content": "Go on."}
    assert list(faults(changed(good, 1, [other, call, result]), LAST)) == ["request 2 has lost what the user said"]
    assert list(faults(changed(good, 1, [asked, call, result, call]), LAST)) == ["request 2: 1 calls have no result"]
    (torn,) = faults(changed(good, 1, [asked, call, other, result]), LAST)
    assert torn.endswith("stands between a call and its result")
    (orphan,) = faults(changed(good, 1, [asked, result]), LAST)
    assert orphan.startswith("request 2: a result answers no call before it")


def test_a_loop_that_never_compacts_proves_nothing() -> None:
    grown: list[Any] = [{"role": "user", "content": PROMPT}]
    requests = []
    for one in loop_of_chat():
        grown = [*grown, *one.body["messages"][-2:]] if requests else grown
        requests.append(replace(one, body={"messages": grown}))
    assert list(faults(requests, LAST)) == ["nothing was compacted"]
